/* libue_check SCENARIO ARG…: what a program does with libue, checked as it goes. Prints what test_libue.py looks at; any other
 * failure ends it with 1 and the line. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ue.h>
#include <unistd.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: %s (%s: %s)\n", __FILE__, __LINE__, #what, error.name, error.text); \
            exit(1); \
        } \
    } while (0)

static _Thread_local struct ue_error error;
static const int64_t long_ms = 120000; /* only something that hangs takes as long */

static struct ue_client *open_client(struct ue_options options)
{
    struct ue_client *ue = NULL;
    CHECK(ue_open(&options, &ue, &error) == 0);
    return ue;
}

static bool is(const char *text, const char *expected)
{
    return text && strcmp(text, expected) == 0;
}

static bool all_close_on_exec(void)
{
    for (int fd = 3; fd < 256; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (flags >= 0 && !(flags & FD_CLOEXEC))
            return false;
    }
    return true;
}

static int check_typing(struct ue_client *ue)
{
    struct ue_answer *answer;
    struct ue_exec_command_args cat = {
        .cmd = "stty raw -echo; printf go; exec cat", .tty = true, .name = "cat", .until = "go", .yield_time_ms = long_ms};
    CHECK(ue_exec_command(ue, &cat, &answer, &error) == 0 && is(answer->reason, "until") && answer->running && answer->exit_code == -1);
    CHECK(is(answer->output, "go") && answer->from == 0 && answer->to == 2);
    ue_answer_free(answer);
    struct ue_write_stdin_args bytes = {
        .session_id = "cat", .chars = "a\0\xff\xc3z", .chars_size = 5, .until = "z", .yield_time_ms = UE_FOREVER};
    CHECK(ue_write_stdin(ue, &bytes, &answer, &error) == 0 && answer->output_size == 5 && memcmp(answer->output, "a\0\xff\xc3z", 5) == 0);
    ue_answer_free(answer);
    const char *any[] = {"nothing", "(x+)(y)?", NULL};
    struct ue_write_stdin_args two = {.session_id = "cat", .chars = "wxxz", .until_any = any, .fail_on = "q", .yield_time_ms = UE_FOREVER};
    CHECK(ue_write_stdin(ue, &two, &answer, &error) == 0 && is(answer->reason, "until") && answer->match && answer->match->index == 1);
    CHECK(is(answer->match->text, "xx") && answer->match->text_size == 2 && is(answer->match->pattern, any[1]) && !answer->match->name);
    CHECK(answer->match->group_count >= 1 && answer->match->to == answer->match->from + 2);
    ue_answer_free(answer);
    two.until = "x";
    CHECK(ue_write_stdin(ue, &two, &answer, &error) == UE_ERR_ARGUMENTS && strstr(error.text, "`until` is given twice"));
    struct ue_read_output_args again = {.session_id = "cat", .has_since = true, .to = 3, .peek = true, .yield_time_ms = UE_AT_ONCE};
    CHECK(ue_read_output(ue, &again, &answer, &error) == 0 && answer->output_size == 3 && memcmp(answer->output, "goa", 3) == 0);
    int number = (int)answer->number;
    ue_answer_free(answer);
    return number;
}

/* Each typed call once, against a daemon of its own. */
static void tour(void)
{
    signal(SIGCHLD, SIG_IGN); /* nobody can wait for a child then; a daemon is started all the same */
    struct ue_client *ue = open_client((struct ue_options){.client = "tour"});
    struct ue_answer *answer;
    char number[16];
    const char *argv[] = {"/bin/sh", "-c", "printf '%s' \"$GIVEN$HERE\"; kill -SEGV $$", NULL}, *env[] = {"GIVEN=a=b ", "GIVEN=c ", NULL};
    setenv("HERE", "here", 1);
    struct ue_exec_command_args ends = {.argv = argv, .env = env, .exit = true};
    CHECK(ue_exec_command(ue, &ends, &answer, &error) == 0 && is(answer->output, "c here"));
    CHECK(answer->exit_code == 139 && is(answer->signal, "SEGV") && is(answer->state, "signaled") && !answer->running);
    CHECK(answer->children_left == 0 && answer->wall_time_seconds > 0 && !answer->evidence && answer->rows == -1);
    CHECK(strstr(ue_answer_json(answer, NULL), "\"exit_code\":139"));
    ue_answer_free(answer);
    snprintf(number, sizeof number, "%d", check_typing(ue));
    struct ue_exec_command_args bash = {.argv = (const char *[]){"bash", "--norc", NULL}, .tty = true, .name = "bash", .yield_time_ms = long_ms};
    CHECK(ue_exec_command(ue, &bash, &answer, &error) == 0 && is(answer->reason, "ready"));
    ue_answer_free(answer);
    struct ue_run_command_args command = {.session_id = "bash", .command = "printf 'a\\nb\\n'; (exit 7)", .yield_time_ms = long_ms};
    CHECK(ue_run_command(ue, &command, &answer, &error) == 0 && is(answer->output, "a\nb\n") && answer->status == 7 && is(answer->by, "marks"));
    CHECK(is(answer->command, command.command) && answer->start && answer->end && !answer->incomplete && answer->id >= 0);
    ue_answer_free(answer);
    command.exact = true;
    CHECK(ue_run_command(ue, &command, &answer, &error) == 0 && is(answer->output, "a\r\nb\r\n"));
    ue_answer_free(answer);
    struct ue_kill_session_args gone = {.session_id = "bash"};
    CHECK(ue_kill_session(ue, &gone, &answer, &error) == 0);
    ue_answer_free(answer);
    struct ue_list_sessions_args all = {.all = true};
    CHECK(ue_list_sessions(ue, &all, &answer, &error) == 0 && answer->session_count == 3);
    CHECK(is(answer->sessions[1]->name, "cat") && answer->sessions[1]->tty && answer->sessions[1]->pid > 1 && answer->sessions[0]->exit_code == 139);
    ue_answer_free(answer);
    struct ue_read_screen_args screen = {.session_id = number};
    CHECK(ue_read_screen(ue, &screen, &answer, &error) == 0 && answer->rows == 24 && answer->cols == 80 && answer->cursor_row == 1);
    CHECK(strncmp(answer->screen, "goa", 3) == 0 && answer->screen_size == strlen(answer->screen));
    ue_answer_free(answer);
    struct ue_run_steps_args steps = {.session_id = "cat", .steps = "[{\"write\": \"xyzzy\"}, {\"wait\": \"yzz\"}, {\"read\": {}}]"};
    CHECK(ue_run_steps(ue, &steps, &answer, &error) == 0 && answer->completed == 3 && answer->step_count == 3);
    CHECK(is(answer->steps[1]->reason, "until") && strstr(answer->steps[2]->output, "xyzzy"));
    ue_answer_free(answer);
    struct ue_kill_session_args end = {.session_id = "cat"};
    CHECK(ue_kill_session(ue, &end, &answer, &error) == 0 && answer->session_count == 1 && is(answer->sessions[0]->name, "cat"));
    CHECK(answer->sessions[0]->ended_by && answer->sessions[0]->survivors == 0);
    ue_answer_free(answer);
    CHECK(ue_call(ue, "status", NULL, &answer, &error) == 0);
    CHECK(is(ue_version(), ue_muxd_version(ue)) && strstr(ue_answer_json(answer, NULL), "\"pid\":"));
    ue_answer_free(answer);
    CHECK(ue_fd(ue) > 2 && all_close_on_exec());
    ue_close(ue);
    ue_close(NULL);
}

static void refused(int code, int expected, const char *name, const char *text)
{
    CHECK(code == expected && error.code == expected && is(error.name, name) && strstr(error.text, text));
    memset(&error, 0, sizeof error);
}

/* What is refused, by the library or by the daemon; the client goes on. */
static void refusals(void)
{
    struct ue_client *ue = open_client((struct ue_options){.as_tools = true});
    struct ue_answer *answer;
    struct ue_write_stdin_args args = {.session_id = "nobody", .chars = "x"};
    struct ue_run_steps_args steps = {.session_id = "x", .steps = "[{]"};
    const char *env[] = {"NOEQUALS", NULL};
    struct ue_exec_command_args exec = {.cmd = "true", .env = env}, rows = {.cmd = "true", .tty = true, .rows = -3};
    struct {
        struct ue_list_sessions_args known;
        char more[64];
    } newer = {.more = "x"};
    refused(ue_write_stdin(ue, &args, &answer, &error), UE_ERR_NO_SUCH_SESSION, "no_such_session", "nobody");
    refused(ue_call(ue, "list_session", NULL, &answer, &error), UE_ERR_NO_SUCH_METHOD, "no_such_method", "list_session");
    refused(ue_call(ue, "attach", "{\"session_id\": 1}", &answer, &error), UE_ERR_NOT_AVAILABLE, "not_available", "frames");
    refused(ue_call(ue, "status", "[]", &answer, &error), UE_ERR_ARGUMENTS, "arguments", "no JSON object, but array");
    refused(ue_call(ue, "status", "{\"a\":", &answer, &error), UE_ERR_ARGUMENTS, "arguments", "the arguments");
    refused(ue_call(ue, "status", "{\"nonsense\": 1}", &answer, &error), UE_ERR_ARGUMENTS, "arguments", "nonsense");
    refused(ue_run_steps(ue, &steps, &answer, &error), UE_ERR_ARGUMENTS, "arguments", "`steps`");
    refused(ue_exec_command(ue, &exec, &answer, &error), UE_ERR_ARGUMENTS, "arguments", "NOEQUALS");
    refused(ue_exec_command(ue, &rows, &answer, &error), UE_ERR_ARGUMENTS, "arguments", "`rows`");
    refused(ue_list_sessions_sized(ue, &newer.known, sizeof newer, &answer, &error), UE_ERR_ARGUMENTS, "arguments", "older than the program");
    refused(ue_cancel(ue, 4711, &error), UE_ERR_ARGUMENTS, "arguments", "4711");
    char deep[200] = "{\"a\":", close[65];
    memset(deep + 5, '[', 63), memset(close, ']', 63), close[63] = '}', close[64] = 0;
    strcat(deep, close);
    refused(ue_call(ue, "status", deep, &answer, &error), UE_ERR_ARGUMENTS, "arguments", "nested deeper");
    size_t size = 9 << 20;
    char *huge = malloc(size + 32), *quoted = ue_quote("a\"\n\xff", 4);
    snprintf(huge, 32, "{\"chars\":\"");
    memset(huge + 10, 'x', size);
    strcpy(huge + 10 + size, "\"}");
    refused(ue_call(ue, "write_stdin", huge, &answer, &error), UE_ERR_TOO_LARGE, "too_large", "max_request");
    CHECK(is(quoted, "\"a\\\"\\n\xef\xbf\xbd\""));
    free(huge);
    free(quoted);
    memset(newer.more, 0, sizeof newer.more);
    CHECK(ue_list_sessions_sized(ue, &newer.known, sizeof newer, &answer, &error) == 0);
    ue_answer_free(answer);
    CHECK(ue_list_sessions_sized(ue, NULL, 0, &answer, &error) == 0);
    ue_answer_free(answer);
    ue_close(ue);
}

/* --- several calls at once, through ue_fd */
struct outcome {
    int count;
    bool failed;
    char output[256];
    struct ue_client *ue;
};

static void on_answer(void *arg, struct ue_answer *answer, const struct ue_error *why)
{
    struct outcome *outcome = arg;
    outcome->count++;
    outcome->failed = !answer;
    snprintf(outcome->output, sizeof outcome->output, "%s", answer ? answer->output ? answer->output : "" : why->name);
    ue_answer_free(answer);
}

static int ended, gaps;
static int64_t last_seq;

static void on_event(void *arg, const struct ue_event *event, const struct ue_error *why)
{
    if (why && is(why->name, "cancelled")) /* the client was closed */
        return;
    CHECK(event && !why);
    CHECK(event->seq > last_seq && strstr(event->json, event->type));
    last_seq = event->seq;
    gaps += is(event->type, "gap");
    ended += is(event->type, "end");
    if (is(event->type, "end") && is(event->name, "last"))
        *(bool *)arg = true;
}

/* As a program does that has a loop of its own: nothing is called but when the descriptor can be read. */
static void loop_until(struct ue_client *ue, const bool *over, const struct outcome *outcomes, int wanted)
{
    struct pollfd fd = {.fd = ue_fd(ue), .events = POLLIN};
    for (;;) {
        int count = 0;
        for (int i = 0; i < wanted; i++)
            count += outcomes[i].count;
        if (count >= wanted && (!over || *over))
            return;
        CHECK(poll(&fd, 1, (int)long_ms) == 1);
        ue_process(ue, 0);
        CHECK(fd.fd == ue_fd(ue));
    }
}

/* DIR: calls that are in flight while test_libue.py kills the worker. Files get a line for each time that a command runs; the fifos let
 * them end. */
static void killed(const char *dir)
{
    struct ue_client *ue = open_client((struct ue_options){.answer_ms = long_ms});
    struct ue_answer *answer;
    struct outcome outcomes[4] = {{0}};
    bool last = false;
    char json[600];
    struct ue_exec_command_args sh = {.cmd = "exec sh", .tty = true, .name = "sh"}, sh3 = {.cmd = "exec sh", .tty = true, .name = "sh3"};
    struct ue_subscribe_args nothing = {0};
    CHECK(chdir(dir) == 0);
    CHECK(ue_exec_command(ue, &sh, &answer, &error) == 0 && is(answer->reason, "ready"));
    ue_answer_free(answer);
    CHECK(ue_exec_command(ue, &sh3, &answer, &error) == 0 && is(answer->reason, "ready"));
    ue_answer_free(answer);
    CHECK(ue_subscribe(ue, &nothing, on_event, &last, &error) > 0);
    CHECK(ue_send(ue, "exec_command", "{\"cmd\": \"echo x >> begun; cat one; echo done\", \"exit\": true}", on_answer, &outcomes[0], &error) > 0);
    snprintf(json, sizeof json, "{\"session_id\": \"sh\", \"chars\": \"echo x >> typed; cat two; echo o''ver\\n\", \"until\": \"over\", \"yield_time_ms\": %d}",
             (int)long_ms);
    CHECK(ue_send(ue, "write_stdin", json, on_answer, &outcomes[1], &error) > 0);
    snprintf(json, sizeof json, "{\"session_id\": \"sh3\", \"steps\": [{\"write\": \"echo x >> stepped; cat three; echo d''one\\n\"}, {\"wait\": {\"until\": \"done\", "
             "\"yield_time_ms\": %d}}]}", (int)long_ms);
    CHECK(ue_send(ue, "run_steps", json, on_answer, &outcomes[2], &error) > 0);
    loop_until(ue, NULL, outcomes, 3);
    CHECK(outcomes[2].failed && outcomes[2].count == 1 && is(outcomes[2].output, "no_daemon"));
    CHECK(!outcomes[0].failed && outcomes[0].count == 1 && strstr(outcomes[0].output, "done"));
    CHECK(!outcomes[1].failed && outcomes[1].count == 1 && strstr(outcomes[1].output, "over"));
    CHECK(ue_send(ue, "exec_command", "{\"cmd\": \"true\", \"name\": \"last\"}", on_answer, &outcomes[3], &error) > 0);
    loop_until(ue, &last, outcomes, 4);
    CHECK(ended == 2 && gaps == 0);
    ue_close(ue);
}

static void on_call_in_callback(void *arg, struct ue_answer *answer, const struct ue_error *why)
{
    struct outcome *outcome = arg;
    struct ue_answer *inner;
    CHECK(ue_call(outcome->ue, "list_sessions", NULL, &inner, &error) == 0);
    ue_answer_free(inner);
    on_answer(arg, answer, why);
}

static void on_first_event(void *arg, const struct ue_event *event, const struct ue_error *why)
{
    struct outcome *outcome = arg;
    if (why && is(why->name, "cancelled") && outcome->count == 0) /* the client was closed */
        return;
    CHECK(event && !why);
    CHECK(++outcome->count == 1 && is(event->type, "created"));
    CHECK(ue_cancel(outcome->ue, atoll(outcome->output), &error) == 0); /* and is called no more */
}

static void on_end(void *arg, const struct ue_event *event, const struct ue_error *why)
{
    CHECK(!event && is(why->name, "cancelled"));
    ++*(int *)arg;
}

/* More calls than a connection takes, cancels, calls from callbacks, and an end with all of it under way. */
static void crowd(void)
{
    struct ue_client *ue = open_client((struct ue_options){0});
    struct outcome outcomes[101] = {{0}}, first = {.ue = ue}, waiting[3] = {{0}};
    struct ue_subscribe_args types = {.types = (const char *[]){"created", "end", NULL}};
    struct ue_answer *answer;
    int ends = 0;
    snprintf(first.output, sizeof first.output, "%lld", (long long)ue_subscribe(ue, &types, on_first_event, &first, &error));
    CHECK(ue_subscribe(ue, &types, on_end, &ends, &error) > 0);
    for (int i = 0; i < 101; i++) {
        outcomes[i].ue = ue;
        CHECK(ue_send(ue, "status", NULL, i % 10 ? on_answer : on_call_in_callback, &outcomes[i], &error) > 0);
    }
    for (int count = 0; count < 101;) {
        CHECK(ue_process(ue, (int)long_ms) > 0);
        count = 0;
        for (int i = 0; i < 101; i++)
            count += outcomes[i].count;
    }
    ue_close(ue);
    CHECK(ends == 1);
    ue = first.ue = open_client((struct ue_options){0});
    first.count = 0;
    snprintf(first.output, sizeof first.output, "%lld", (long long)ue_subscribe(ue, &types, on_first_event, &first, &error));
    struct ue_exec_command_args cat = {.cmd = "exec cat", .tty = true, .name = "cat"};
    CHECK(ue_exec_command(ue, &cat, &answer, &error) == 0);
    ue_answer_free(answer);
    while (first.count == 0)
        ue_process(ue, -1);
    int64_t number[3];
    for (int i = 0; i < 3; i++)
        CHECK((number[i] = ue_send(ue, "read_output", "{\"session_id\": \"cat\", \"exit\": true}", on_answer, &waiting[i], &error)) > 0);
    CHECK(ue_cancel(ue, number[1], &error) == 0);
    while (waiting[1].count == 0)
        ue_process(ue, -1);
    CHECK(is(waiting[1].output, "cancelled") && waiting[0].count == 0);
    struct ue_kill_session_args end = {.session_id = "cat"};
    CHECK(ue_kill_session(ue, &end, &answer, &error) == 0);
    ue_answer_free(answer);
    while (waiting[0].count == 0 || waiting[2].count == 0)
        ue_process(ue, -1);
    CHECK(first.count == 1 && !waiting[2].failed && ue_process(ue, -1) == 0);
    ue_close(ue);
}

static void *drive(void *arg)
{
    struct ue_client *ue = open_client((struct ue_options){0});
    struct ue_answer *answer;
    struct ue_exec_command_args start = {.cmd = "exec cat", .tty = true, .name = arg};
    struct ue_write_stdin_args line = {.session_id = arg, .chars = arg, .submit = true, .yield_time_ms = long_ms};
    CHECK(ue_exec_command(ue, &start, &answer, &error) == 0);
    ue_answer_free(answer);
    for (int i = 0; i < 100; i++) {
        CHECK(ue_write_stdin(ue, &line, &answer, &error) == 0 && is(answer->reason, "ready") && strstr(answer->output, arg));
        ue_answer_free(answer);
    }
    ue_close(ue);
    return NULL;
}

/* A client in each of two threads; and nothing of the process has changed. */
static void threads(void)
{
    pthread_t other;
    struct sigaction before[65], after;
    mode_t mask = umask(027);
    for (int signo = 1; signo < 65; signo++)
        sigaction(signo, NULL, &before[signo]);
    CHECK(pthread_create(&other, NULL, drive, "one") == 0);
    drive("two");
    CHECK(pthread_join(other, NULL) == 0);
    for (int signo = 1; signo < 65; signo++)
        CHECK(sigaction(signo, NULL, &after) != 0 || after.sa_handler == before[signo].sa_handler);
    CHECK(umask(mask) == 027);
}

/* Opens, makes a call, and says what became of both. */
static void ask(const char *method, const char *arguments)
{
    struct ue_client *ue;
    struct ue_answer *answer;
    struct ue_options options = {.no_start = getenv("NO_START") != NULL, .max_answer = 1 << 20};
    options.answer_ms = getenv("ANSWER_MS") ? atoi(getenv("ANSWER_MS")) : long_ms;
    if (ue_open(&options, &ue, &error) < 0) {
        printf("open %s %s\n", error.name, error.text);
        return;
    }
    if (ue_call(ue, method, arguments, &answer, &error) < 0) {
        printf("call %s %s\n", error.name, error.text);
    } else {
        printf("answer %s\n", ue_answer_json(answer, NULL));
        ue_answer_free(answer);
    }
    ue_close(ue);
}

int main(int argc, char **argv)
{
    const char *scenario = argc > 1 ? argv[1] : "";
    if (is(scenario, "tour"))
        tour();
    else if (is(scenario, "refusals"))
        refusals();
    else if (is(scenario, "crowd"))
        crowd();
    else if (is(scenario, "threads"))
        threads();
    else if (is(scenario, "killed") && argc == 3)
        killed(argv[2]);
    else if (is(scenario, "ask") && argc >= 3)
        ask(argv[2], argc > 3 ? argv[3] : NULL);
    else
        return 2;
    return 0;
}
