/* gdb_backtrace PROGRAM: runs a program under gdb until it crashes, and prints where it did.
 * cc gdb_backtrace.c $(pkg-config --cflags --libs libue) */
#include <stdio.h>
#include <string.h>
#include <ue.h>

static struct ue_client *ue;
static struct ue_answer *answer;
static struct ue_error error;

static const char *gdb(const char *command) /* what it says, until its prompt is there again */
{
    struct ue_write_stdin_args args = {
        .session_id = "gdb", .chars = command, .submit = true, .ready = UE_YES, .text = true, .yield_time_ms = 60000};
    ue_answer_free(answer);
    answer = NULL;
    return ue_write_stdin(ue, &args, &answer, &error) == 0 ? answer->output : NULL;
}

int main(int argc, char **argv)
{
    const char *command[] = {"gdb", "-q", "-nx", "-ex", "set pagination off", "-ex", "set confirm off", argv[argc - 1], NULL};
    struct ue_exec_command_args args = {.argv = command, .tty = true, .name = "gdb", .ready = UE_YES, .yield_time_ms = 60000};
    int status = 1;
    if (ue_open(NULL, &ue, &error) < 0 || ue_exec_command(ue, &args, &answer, &error) < 0)
        fprintf(stderr, "%s\n", error.text);
    else if (!gdb("run") || !strstr(answer->output, "received signal"))
        fprintf(stderr, "it did not crash: %s\n", answer ? answer->output : error.text);
    else if (gdb("backtrace")) {
        fwrite(answer->output, 1, answer->output_size, stdout);
        status = 0;
    }
    ue_answer_free(answer);
    ue_close(ue); /* the session stays: ue attach gdb */
    return status;
}
