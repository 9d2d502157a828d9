/* main.c: owns the command line of muxd-keeper, which only our own programs write: "ROLE VALUE MUXD
 * [ARGUMENT…]". MUXD is the worker's program, which gets the arguments. */
#include "base/fdio.h"
#include "keep/keep.h"
#include "keep/keeper/keeper.h"
#include "keep/own_args.h"
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define STATUS_USAGE 64
enum { ARG_NAME, ARG_ROLE, ARG_VALUE, ARG_WORKER };

static int keeper_main_complain(int status, const char *text)
{
    dprintf(STDERR_FILENO, "muxd: keeper: %s\n", text);
    return status;
}

/* "WORD:READY:EXE": the protocol that muxd speaks, the descriptor that gets a byte when the daemon
 * listens, and muxd itself. */
static int keeper_main_start(struct keeper_options *options, const char *value)
{
    size_t length = strlen(keep_protocol_word);
    int number[2];
    if (strncmp(value, keep_protocol_word, length) != 0 || value[length] != ':')
        return keeper_main_complain(
            1, "muxd and muxd-keeper are not of one version; install both again");
    if (!own_numbers(value + length + 1, number, 2))
        return STATUS_USAGE;
    options->ready_fd = number[0];
    options->worker_exe = number[1];
    return keeper_run(options);
}

/* "LINK:EXE": the socket to a living worker, and its program. */
static int adopt(struct keeper_options *options, const char *value)
{
    int number[2];
    if (!own_numbers(value, number, 2))
        return STATUS_USAGE;
    options->worker_exe = number[1];
    return keeper_adopt(options, number[0]);
}

/* "STATE": a keeper of an older release asks whether the two programs on disk can take over from
 * it. The exit status says yes or no; the worker's program adds its own answer. */
static int keeper_main_check(const struct keeper_options *options, const char *value)
{
    int state;
    char option[] = "--speaks", word[32],
         *args[] = {(char *)options->worker_path, option, word, NULL};
    if (!own_numbers(value, &state, 1) || keeper_check(state) != 0)
        return 1;
    fd_set_cloexec(state, true);
    snprintf(word, sizeof word, "%s", keep_protocol_word);
    execv(options->worker_path, args);
    return 1;
}

int main(int argc, char **argv)
{
    static char *worker_argv[OWN_ARGS_MAX], *keeper_argv[OWN_ARGS_MAX], option[] = "--worker";
    /* when it was executed by descriptor, its name would be a number */
    prctl(PR_SET_NAME, "muxd-keeper");
    if (argc <= ARG_WORKER || argc >= OWN_ARGS_MAX)
        return keeper_main_complain(STATUS_USAGE, "it is muxd that starts this program: run muxd");
    worker_argv[0] = argv[ARG_WORKER];
    worker_argv[1] = option;
    keeper_argv[0] = argv[ARG_NAME];
    keeper_argv[1] = argv[ARG_WORKER];
    for (int i = ARG_WORKER + 1; i < argc; i++)
        worker_argv[i - ARG_WORKER + 1] = keeper_argv[i - ARG_WORKER + 1] = argv[i];
    struct keeper_options options = {.worker_argv = worker_argv,
                                     .keeper_argv = keeper_argv,
                                     .worker_path = argv[ARG_WORKER],
                                     .ready_fd = -1,
                                     .sentinel = true};
    const char *role = argv[ARG_ROLE], *value = argv[ARG_VALUE];
    if (strcmp(role, "--start") == 0)
        return keeper_main_start(&options, value);
    if (strcmp(role, "--resume") == 0)
        return keeper_resume(&options, value);
    if (strcmp(role, "--adopt") == 0)
        return adopt(&options, value);
    if (strcmp(role, "--trial") == 0)
        return keeper_trial(&options, value);
    if (strcmp(role, "--check") == 0)
        return keeper_main_check(&options, value);
    return keeper_main_complain(STATUS_USAGE, "it is muxd that starts this program: run muxd");
}
