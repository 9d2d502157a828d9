/* test_session_registry.c: sessions on a real loop with a real keeper in a forked process: made, typed into, waited for, killed,
 * limited, and taken over by a successor. */
#include "tests/lib/test.h"

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "keep/keeper/keeper.h"
#include "keep/link.h"
#include "parts/events/events.h"
#include "parts/keyboard/secret.h"
#include "parts/reap/reap.h"
#include "parts/view/view.h"
#include "server/parts.h"
#include "session/internal.h"
#include "session/registry.h"
#include "sys/loop.h"
#include "sys/pattern.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 60000

static struct loop *loop;
static struct link *keeper_link;
static struct loop_io *link_io;
static struct registry *registry;
static struct config *cfg;
static pid_t keeper;
static char dir[64];
static struct { unsigned created, ended, removed, all_ended, spawned, waited, killed, handed, lost; struct err err; struct wait_result wait;
                struct reap_result kill; } seen;

/* The link's handlers. Between two registries nobody listens, as when a worker has died: what is said then is said again to the next. */
static void on_slot(void *arg, uint64_t session, pid_t pid, int fds[KEEP_FD_COUNT])
{
    (void)arg;
    registry_adopt(registry, session, pid, fds);
}
static void on_listener(void *arg, int fd) { (void)arg; close(fd); }
static void on_handed(void *arg, int generation)
{
    (void)arg;
    (void)generation;
    seen.handed++;
    registry_handed_over(registry);
}
static void on_spawned(void *arg, uint64_t session, pid_t pid, int pidfd)
{
    (void)arg;
    if (registry)
        registry_spawned(registry, session, pid, pidfd);
    else if (pidfd >= 0)
        close(pidfd);
}
static void on_failed(void *arg, uint64_t session, int step, int error)
{
    (void)arg;
    if (registry)
        registry_spawn_failed(registry, session, step, error);
}
static void on_exited(void *arg, uint64_t session, pid_t pid, int how, int status)
{
    (void)arg;
    if (registry)
        registry_exited(registry, session, pid, how, status);
}
static void on_upgrade_failed(void *arg, int error) { (void)arg; (void)error; }
static void on_room(void *arg)
{
    (void)arg;
    if (registry)
        registry_give_more(registry);
}
static void on_lost(void *arg)
{
    (void)arg;
    loop_io_free(link_io);
    link_io = NULL;
    seen.lost++;
}
static const struct link_handlers handlers = {.slot = on_slot, .listener = on_listener, .handed = on_handed, .spawned = on_spawned,
    .failed = on_failed, .exited = on_exited, .upgrade_failed = on_upgrade_failed, .room = on_room, .lost = on_lost};

/* What the registry tells. */
static void on_began(struct session *session) { (void)session; seen.created++; }
static void on_ended(struct session *session) { (void)session; seen.ended++; }
static void on_forget(struct session *session, bool told) { (void)session; seen.removed += told; }
static const struct part counter = {.began = on_began, .ended = on_ended, .forget = on_forget};
static void on_all_ended(void *arg) { (void)arg; seen.all_ended++; }
static void on_born(void *arg, uint64_t number, const struct err *err) { (void)arg; (void)number; seen.spawned++; seen.err = *err; }
static void on_wait(void *arg, const struct wait_result *result)
{
    (void)arg;
    race_match_free(seen.wait.match);
    seen.waited++;
    seen.wait = *result;
}

static struct sought one_of(const struct pattern *pattern)
{
    static struct race_pattern patterns[64];
    static unsigned used;
    struct race_pattern *row = &patterns[used++ % 64];
    *row = (struct race_pattern){.pattern = pattern};
    return (struct sought){.patterns = row, .count = 1};
}

static void on_kill(void *arg, const struct reap_result *result) { (void)arg; seen.killed++; seen.kill = *result; }

static void on_link(void *arg, unsigned events)
{
    (void)arg;
    (void)events;
    link_on_readable(keeper_link);
}

/* The end of the link to a new keeper. */
static int start_keeper(void)
{
    int ends[2];
    char word[] = "false", *argv[] = {word, NULL};
    struct keeper_options options = {.worker_argv = argv, .keeper_argv = argv, .worker_path = "/bin/false", .ready_fd = -1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    fflush(NULL);
    keeper = fork();
    assert_true(keeper >= 0);
    if (keeper == 0) {
        close(ends[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves none behind */
        _exit(keeper_adopt(&options, ends[1]));
    }
    close(ends[1]);
    return ends[0];
}

static void start_registry(void)
{
    struct err err;
    char socket_path[80];
    static const struct part *parts[16] = {&counter};
    for (int i = 0; server_parts[i]; i++)
        parts[i + 1] = server_parts[i];
    const struct registry_above above = {.parts = parts, .all_ended = on_all_ended};
    snprintf(socket_path, sizeof socket_path, "%s/sock", dir);
    assert_int_equal(registry_new(&registry, loop, keeper_link, cfg, dir, socket_path, &above, &err), 0);
}

static bool done(const unsigned *count, unsigned want)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (*count < want && clock_mono_ms() < until) {
        loop_turn(loop, 50);
        link_flush(keeper_link);
    }
    return *count >= want;
}

static int begin(void **state)
{
    (void)state;
    struct err err;
    memset(&seen, 0, sizeof seen);
    strcpy(dir, "/tmp/test_session_registry.XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    log_open("/dev/null", LOG_ERROR, &err);
    signal(SIGPIPE, SIG_IGN);
    keeper_link = link_new(start_keeper(), &handlers, NULL);
    loop = loop_new(&err);
    cfg = config_default();
    start_registry();
    link_io = loop_io_new(loop, link_fd(keeper_link), LOOP_READ, on_link, NULL);
    link_hello(keeper_link);
    return loop && link_io && done(&seen.handed, 1) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    char command[96];
    int status = -1;
    race_match_free(seen.wait.match);
    seen.wait.match = NULL;
    registry_stop_all(registry);
    assert_true(done(&seen.all_ended, 1));
    registry_free(registry);
    registry = NULL; /* the keeper may still have something to say */
    link_stop(keeper_link);
    link_flush(keeper_link);
    loop_io_free(link_io);
    link_free(keeper_link); /* the keeper takes its worker for one that still runs: it is this process */
    kill(keeper, SIGKILL);
    waitpid(keeper, &status, 0);
    loop_turn(loop, 0);
    loop_free(loop);
    config_free(cfg);
    log_close();
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

/* Making. */

static char *const *test_env(void)
{
    static char path[] = "PATH=/usr/bin:/bin", term[] = "TERM=dumb", ps[] = "PS1=$ ";
    static char *env[] = {path, term, ps, NULL};
    return env;
}

static int create(const char *name, const char *cmd, bool tty, struct session **out, struct err *err)
{
    char sh[] = "/bin/sh", c[] = "-c", text[4096];
    snprintf(text, sizeof text, "%s", cmd);
    char *argv[] = {sh, c, text, NULL};
    struct session_spec spec = {.name = name, .cmd = cmd, .argv = argv, .env = test_env(), .cwd = "/", .tty = tty, .rows = 24, .cols = 80,
                                .umask = 022};
    return registry_create(registry, &spec, on_born, NULL, out, err);
}

static struct session *must_create(const char *name, const char *cmd, bool tty)
{
    struct session *session = NULL;
    struct err err = {0};
    if (create(name, cmd, tty, &session, &err) != 0)
        fail_msg("create: %s", err.text);
    return session;
}

static void wait_for(struct session *session, struct wait_spec spec)
{
    struct err err;
    seen.waited = 0;
    spec.deadline_ns = spec.deadline_ns ? spec.deadline_ns : clock_mono_ns() + PATIENCE_MS * 1000000LL;
    spec.quiet_ms = spec.quiet_ms ? spec.quiet_ms : -1;
    assert_non_null(session_wait(session, &spec, on_wait, NULL, &err));
    assert_int_equal(seen.waited, 0);
}

static void wait_exit(struct session *session)
{
    wait_for(session, (struct wait_spec){0});
    assert_true(done(&seen.waited, 1));
    if (seen.wait.reason == WAIT_STOPPING)
        fail_msg("not started: %s", seen.err.text);
    assert_int_equal(seen.wait.reason, WAIT_EXIT);
}

static void assert_output(struct session *session, const char *want)
{
    uint64_t from = 0;
    size_t size = 0;
    const char *data = journal_view(session_journal(session), &from, &size);
    assert_int_equal(from, 0);
    assert_int_equal(size, strlen(want));
    if (size)
        assert_memory_equal(data, want, size);
}

static bool output_has(struct session *session, const char *want)
{
    uint64_t from = 0;
    size_t size = 0;
    const char *data = journal_view(session_journal(session), &from, &size);
    return data && memmem(data, size, want, strlen(want));
}

/* The tests. */

TEST(test_exit_codes)
{
    int code, signo;
    static const bool ttys[] = {false, true};
    for (size_t i = 0; i < 2; i++) {
        struct session *session = must_create(NULL, "echo out; exit 7", ttys[i]);
        assert_int_equal(session_state(session), SESSION_STARTING);
        assert_false(session_has_exit(session, &code, &signo));
        wait_exit(session);
        assert_output(session, ttys[i] ? "out\r\n" : "out\n");
        assert_true(session_has_exit(session, &code, &signo));
        assert_int_equal(code, 7);
        assert_int_equal(signo, 0);
        assert_int_equal(session_state(session), SESSION_EXITED);
    }
    assert_int_equal(seen.spawned, 2);
    assert_int_equal(seen.created, 2);
    assert_int_equal(seen.ended, 2);
    struct registry_stats stats;
    registry_stats(registry, &stats);
    assert_int_equal(stats.live, 0);
    assert_int_equal(stats.ended, 2);
    assert_int_equal(stats.waits, 0);
}

TEST(test_death_by_signal)
{
    int code, signo;
    struct session *session = must_create(NULL, "kill -USR1 $$", false);
    wait_exit(session);
    assert_true(session_has_exit(session, &code, &signo));
    assert_int_equal(code, 128 + SIGUSR1);
    assert_int_equal(signo, SIGUSR1);
    assert_int_equal(session_state(session), SESSION_SIGNALED);
}

TEST(test_stderr_is_known)
{
    struct session *session = must_create(NULL, "echo to-err >&2", false);
    wait_exit(session);
    assert_output(session, "to-err\n");
}

TEST(test_all_output_before_the_exit)
{
    static const bool ttys[] = {false, true};
    for (size_t i = 0; i < 2; i++) {
        struct session *session = must_create(NULL, "seq 1 50000; echo the-end", ttys[i]);
        wait_exit(session);
        uint64_t head = journal_head(session_journal(session));
        assert_int_equal(head, ttys[i] ? 288894 + 50000 + 9 : 288894 + 8);
    }
}

TEST(test_background_child_holds_it_open)
{
    struct session *session = must_create("bg", "sleep 300 & echo started", false);
    int64_t begun = clock_mono_ms();
    wait_exit(session);
    assert_true(clock_mono_ms() - begun < 100000);
    assert_output(session, "started\n");
    assert_int_equal(session_children_left(session), 1);
    reap_kill(session, 0, KILLER_REQUEST, on_kill, NULL); /* what it left */
    assert_true(done(&seen.killed, 1));
    assert_int_equal(seen.kill.survivors, 0);
    assert_int_equal(session_state(session), SESSION_EXITED);
    assert_int_equal(session_children_left(session), 0);
}

TEST(test_spawn_failures)
{
    struct session *session;
    struct err err;
    char missing[] = "/nonexistent/program", *argv[] = {missing, NULL};
    struct session_spec spec = {.cmd = missing, .argv = argv, .env = test_env(), .cwd = "/", .umask = 022};
    assert_int_equal(registry_create(registry, &spec, on_born, NULL, &session, &err), 0);
    wait_for(session, (struct wait_spec){0});
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.spawned, 1);
    assert_int_equal(seen.err.code, ERR_SPAWN);
    assert_string_equal(seen.err.text, "'/nonexistent/program': No such file or directory; "
                                       "give a program's path, or a name that is found in PATH");
    assert_int_equal(seen.wait.reason, WAIT_STOPPING);
    char missing_dir[80], want[128];
    snprintf(missing_dir, sizeof missing_dir, "%s/missing", dir);
    snprintf(want, sizeof want, "'%s': No such file or directory", missing_dir);
    spec.cwd = missing_dir;
    argv[0] = (char[]){"/bin/true"};
    assert_int_equal(registry_create(registry, &spec, on_born, NULL, &session, &err), 0);
    assert_true(done(&seen.spawned, 2));
    assert_int_equal(seen.err.code, ERR_SPAWN);
    assert_non_null(strstr(seen.err.text, want));
    struct registry_stats stats;
    registry_stats(registry, &stats);
    assert_int_equal(stats.live + stats.ended, 0); /* as if they had never been */
    assert_int_equal(seen.created + seen.ended + seen.removed, 0);
}

TEST(test_names)
{
    struct err err;
    struct session *other, *first = must_create("cat", "cat", true);
    assert_int_equal(create("cat", "cat", true, &other, &err), ERR_NAME_TAKEN);
    assert_int_equal(create("1", "cat", true, &other, &err), ERR_BAD_NAME);
    assert_int_equal(create("a b", "cat", true, &other, &err), ERR_BAD_NAME);
    assert_int_equal(session_rename(first, "dog", &err), 0);
    other = must_create("cat", "cat", true);
    assert_int_equal(session_rename(other, "dog", &err), ERR_NAME_TAKEN);
    assert_true(session_number(other) > session_number(first));
    assert_int_equal(registry_remove(registry, first, &err), ERR_NOT_ENDED);
    uint64_t number = session_number(first);
    reap_kill(first, 0, KILLER_REQUEST, on_kill, NULL);
    assert_true(done(&seen.killed, 1));
    assert_int_equal(registry_remove(registry, first, &err), 0);
    assert_true(done(&seen.removed, 1));
    assert_null(registry_by_number(registry, number));
}

TEST(test_typing_and_until)
{
    struct err err;
    struct pattern *until = pattern_new("got <x+>", 8, &err);
    struct session *session = must_create(NULL, "while read line; do echo \"got <$line>\"; done", true);
    wait_for(session, (struct wait_spec){.sought = one_of(until)});
    assert_int_equal(session_type(session, "xxx\n", 4, 7, false, &err), 0);
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_UNTIL);
    assert_true(journal_request_done(session_journal(session), 7, NULL));
    assert_true(output_has(session, "got <xxx>"));
    uint64_t from = seen.wait.match->whole.to;
    wait_for(session, (struct wait_spec){.sought = one_of(until), .from = from, .deadline_ns = clock_mono_ns() + 50000000});
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_DEADLINE); /* the old match doesn't count */
    wait_for(session, (struct wait_spec){.sought = one_of(until), .from = from});
    assert_int_equal(session_type(session, "\004", 1, 0, false, &err), 0);
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_EXIT);
    assert_int_equal(session_type(session, "x", 1, 0, false, &err), ERR_ENDED);
    pattern_free(until);
}

TEST(test_ready)
{
    struct err err;
    struct session *session = must_create(NULL, "sleep 0.1; while read line; do sleep 0.1; echo \"got <$line>\"; done", true);
    wait_for(session, (struct wait_spec){.ready = true});
    assert_int_equal(session_type(session, "one\n", 4, 0, false, &err), 0); /* held until the first read */
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_READY);
    assert_true(output_has(session, "got <one>"));
    assert_string_equal(session_waiting_for(session), "line");
    assert_string_equal(evidence_word(seen.wait.evidence), "line_read");
}

TEST(test_quiet_and_settle)
{
    struct session *session = must_create(NULL, "for i in 1 2 3 4 5; do echo $i; sleep 0.03; done; sleep 300", false);
    wait_for(session, (struct wait_spec){.quiet_ms = 1000});
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_QUIET);
    assert_output(session, "1\n2\n3\n4\n5\n");
    wait_for(session, (struct wait_spec){.settle = true, .from = 0});
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_QUIET);
    wait_for(session, (struct wait_spec){.settle = true, .from = 10, .deadline_ns = clock_mono_ns() + 30000000});
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_DEADLINE);
}

TEST(test_cancelled_wait_is_silent)
{
    struct err err;
    struct session *session = must_create(NULL, "exit 0", false);
    struct wait_spec spec = {.quiet_ms = -1, .deadline_ns = INT64_MAX};
    struct wait *wait = session_wait(session, &spec, on_wait, NULL, &err);
    wait_cancel(wait);
    assert_true(done(&seen.ended, 1));
    assert_int_equal(seen.waited, 0);
}

/* The loop tells of so many descriptors a turn: output that it has not told of yet ends a silence all the same. */
TEST(test_silence_is_asked_of_the_kernel)
{
    struct err err;
    int unread = 0;
    struct pattern *asked = pattern_new("ask", 3, &err);
    struct session *session = must_create(NULL, "stty -echo; printf ask; read x; printf late; sleep 30", true);
    wait_for(session, (struct wait_spec){.sought = one_of(asked)});
    assert_true(done(&seen.waited, 1));
    seen.waited = 0;
    struct wait_spec spec = {.quiet_ms = 20, .deadline_ns = INT64_MAX};
    assert_non_null(session_wait(session, &spec, on_wait, NULL, &err));
    assert_int_equal(loop_io_set(session->out.io, 0), 0);
    assert_int_equal(write(session->out.fd, "\n", 1), 1);
    for (int64_t end = clock_mono_ns() + INT64_C(60000000000); unread < 4 && clock_mono_ns() < end;) {
        assert_int_equal(ioctl(session->out.fd, FIONREAD, &unread), 0);
        usleep(1000);
    }
    usleep(30000); /* the silence is over, as far as the loop knows */
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_QUIET);
    assert_true(output_has(session, "late"));
}

TEST(test_searched_only_while_somebody_searches)
{
    struct err err;
    struct session *session = must_create(NULL, "sleep 30", false);
    struct pattern *pattern = pattern_new("never", 5, &err);
    struct wait_spec spec = {.sought = one_of(pattern), .quiet_ms = -1, .deadline_ns = INT64_MAX};
    struct wait *wait = session_wait(session, &spec, on_wait, NULL, &err);
    while (!session->searched)
        loop_turn(loop, 1000);
    wait_cancel(wait);
    loop_turn(loop, 1000);
    assert_false(session->searched); /* it reads in large pieces again */
    pattern_free(pattern);
}

TEST(test_refused_secret_is_not_told)
{
    struct err err;
    struct author author = {.who = INPUT_BY_PERSON, .uid = getuid(), .pid = getpid()};
    struct session *session = must_create(NULL, "sleep 30", true);
    events_listen(registry, EVENT_BIT(EVENT_INTERACTION));
    session->input.held = true;
    session->input.hold_ms = 60000;
    assert_int_equal(session_type(session, "x", 1, 0, false, &err), 0); /* waits until the program reads */
    uint64_t next = events_next(registry);
    assert_int_equal(secret_type(session, &author, "pw", 2, true, &err), ERR_INPUT_FULL);
    assert_int_equal(events_next(registry), next);
    events_unlisten(registry, EVENT_BIT(EVENT_INTERACTION));
}

TEST(test_input_refused)
{
    struct err err;
    static char big[2 << 20];
    memset(big, 'x', sizeof big);
    struct session *session = must_create(NULL, "sleep 30", true);
    assert_int_equal(session_type(session, big, 5000, 0, false, &err), ERR_LINE_TOO_LONG);
    assert_int_equal(session_type(session, big, 4000, 0, false, &err), 0);
    assert_int_equal(session_type(session, big, 96, 0, false, &err), ERR_LINE_TOO_LONG); /* the same unfinished line */
    assert_int_equal(session_type(session, "\n", 1, 0, false, &err), 0);
    memset(big, '\n', sizeof big);
    assert_int_equal(session_type(session, big, sizeof big, 0, false, &err), ERR_INPUT_FULL);
    assert_non_null(strstr(err.text, "1048576"));
    struct session *pipes = must_create(NULL, "sleep 30", false);
    assert_int_equal(session_type(pipes, "x", 1, 0, false, &err), ERR_STDIN_CLOSED);
    int rows, cols;
    assert_int_equal(session_get_size(pipes, &rows, &cols), -1);
    assert_int_equal(session_resize(session, 30, 100, &err), 0);
    assert_int_equal(session_get_size(session, &rows, &cols), 0);
    assert_int_equal(rows * 1000 + cols, 30100);
}

TEST(test_stdin_of_pipes)
{
    struct err err;
    struct session *session;
    char cat[] = "/bin/cat", *argv[] = {cat, NULL};
    struct session_spec spec = {.cmd = "cat", .argv = argv, .env = test_env(), .cwd = "/", .stdin_open = true, .umask = 022};
    assert_int_equal(registry_create(registry, &spec, on_born, NULL, &session, &err), 0);
    assert_string_equal(session_name(session), "cat");
    static char big[300000];
    memset(big, 'y', sizeof big);
    assert_int_equal(session_type(session, big, sizeof big, 0, false, &err), 0);
    assert_int_equal(session_close_stdin(session, &err), 0);
    assert_int_equal(session_type(session, "x", 1, 0, false, &err), ERR_STDIN_CLOSED);
    wait_exit(session);
    assert_int_equal(journal_head(session_journal(session)), sizeof big);
}

TEST(test_interrupt_of_pipes)
{
    struct err err;
    int code, signo;
    struct session *session = must_create(NULL, "exec sleep 30", false);
    assert_int_equal(session_interrupt(session, &err), 0); /* before there is a process */
    wait_exit(session);
    assert_true(session_has_exit(session, &code, &signo));
    assert_int_equal(signo, SIGINT);
}

/* There was no descriptor for the program when it began. */
TEST(test_signals_without_a_pidfd)
{
    struct err err;
    int code, signo;
    for (int killed = 0; killed < 2; killed++) {
        struct session *session = must_create(NULL, "exec sleep 30", false);
        seen.killed = 0;
        while (session_pid(session) <= 0)
            loop_turn(loop, 1000);
        close(session->pidfd);
        session->pidfd = -1;
        if (killed)
            reap_kill(session, 0, KILLER_REQUEST, on_kill, NULL);
        else
            assert_int_equal(session_interrupt(session, &err), 0);
        wait_exit(session);
        assert_true(session_has_exit(session, &code, &signo));
        assert_int_equal(signo, killed ? SIGHUP : SIGINT);
        assert_true(!killed || done(&seen.killed, 1));
    }
}

TEST(test_kill_ladder)
{
    int code, signo;
    static const struct { const char *cmd; int signo; } cases[] = {
        {"exec sleep 30", SIGHUP},
        {"trap '' HUP; echo ok; while :; do sleep 30; done", SIGTERM},
        {"trap '' HUP TERM; echo ok; while :; do sleep 30; done", SIGKILL},
    };
    cfg->muxd.kill_grace_ms = 150;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct session *session = must_create(NULL, cases[i].cmd, i > 0);
        if (i > 0) {
            struct err err;
            struct pattern *ok = pattern_new("ok", 2, &err);
            wait_for(session, (struct wait_spec){.sought = one_of(ok)});
            assert_true(done(&seen.waited, 1));
            pattern_free(ok);
        }
        seen.killed = 0;
        reap_kill(session, 0, KILLER_REQUEST, on_kill, NULL); /* the first one comes before the pid is known */
        assert_true(done(&seen.killed, 1));
        assert_int_equal(session_state(session), SESSION_KILLED);
        assert_true(session_has_exit(session, &code, &signo));
        assert_int_equal(signo, cases[i].signo);
        assert_int_equal(seen.kill.ended_by, cases[i].signo);
        assert_int_equal(seen.kill.survivors, 0);
    }
}

TEST(test_kill_takes_everybody)
{
    struct err err;
    struct pattern *ok = pattern_new("ok", 2, &err);
    cfg->muxd.kill_grace_ms = 150;
    struct session *session = must_create("tree",
        "setsid sleep 31 & nohup sleep 32 >/dev/null 2>&1 & (trap '' HUP TERM; sleep 33; sleep 33) & "
        "(setsid sh -c 'sleep 34 & sleep 35' &) ; "
        "sleep 0.2; echo ok; sleep 36", true);
    wait_for(session, (struct wait_spec){.sought = one_of(ok)});
    assert_true(done(&seen.waited, 1));
    reap_kill(session, 0, KILLER_REQUEST, on_kill, NULL);
    assert_true(done(&seen.killed, 1));
    assert_int_equal(seen.kill.survivors, 0);
    assert_int_equal(session_children_left(session), 0);
    pattern_free(ok);
}

TEST(test_one_signal)
{
    struct err err;
    struct pattern *ok = pattern_new("ok", 2, &err), *hit = pattern_new("hit", 3, &err);
    struct session *session = must_create(NULL, "trap 'echo hit' USR1; echo ok; while :; do sleep 0.02; done", false);
    wait_for(session, (struct wait_spec){.sought = one_of(ok)});
    assert_true(done(&seen.waited, 1));
    reap_kill(session, SIGUSR1, KILLER_REQUEST, on_kill, NULL);
    assert_true(done(&seen.killed, 1));
    wait_for(session, (struct wait_spec){.sought = one_of(hit)});
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_UNTIL);
    assert_int_equal(session_state(session), SESSION_RUNNING);
    reap_kill(session, SIGKILL, KILLER_REQUEST, NULL, NULL);
    wait_exit(session);
    assert_int_equal(session_state(session), SESSION_KILLED);
    pattern_free(ok);
    pattern_free(hit);
}

TEST(test_session_limits)
{
    struct err err;
    struct session *session;
    char sh[] = "/bin/sh", c[] = "-c", text[] = "exec sleep 30", *argv[] = {sh, c, text, NULL};
    for (int limit = SESSION_LIFETIME; limit <= SESSION_IDLE; limit++) {
        struct session_spec spec = {.cmd = text, .argv = argv, .env = test_env(), .cwd = "/", .umask = 022};
        spec.limits[limit] = 100;
        assert_int_equal(registry_create(registry, &spec, NULL, NULL, &session, &err), 0);
        wait_exit(session);
        assert_int_equal(session_state(session), SESSION_KILLED);
        assert_int_equal(session_journal(session)->header->killed_by, KILLER_LIMIT + limit);
    }
    assert_string_equal(session_killer_word(KILLER_LIMIT + SESSION_IDLE), "idle");
}

TEST(test_follower_comes_back)
{
    struct session *session = must_create("a", "cat", true);
    uint64_t waits = session_follower(getpid(), true), polls = session_follower(getpid(), false);
    session_follow(session, true, polls);
    followed_adopt(session); /* as after a restart */
    assert_true(session_awaits(session, polls) && !session_awaits(session, waits));
    session_follow(session, true, polls);
    session_follower_at(session, polls, 0, false);
    assert_true(session_is_awaiting(session)); /* it is back, but has not read yet */
    session_follower_at(session, waits, 0, true);
    assert_true(session_is_awaiting(session)); /* another one has read */
    session_follower_at(session, polls, 0, true);
    assert_false(session_is_awaiting(session));
    session_follow(session, false, polls);
    session_follow(session, true, waits); /* from here on for as long as it is there */
    assert_true(followed_waits(session));
    session_follow(session, false, waits);
    assert_false(followed_waits(session));
}

TEST(test_caps)
{
    struct err err;
    struct session *session;
    cfg->limits.max_sessions = 2;
    cfg->limits.waits = 1;
    must_create("a", "cat", true);
    struct session *b = must_create("b", "exit 0", false);
    uint64_t number = session_number(b);
    wait_exit(b);
    assert_int_equal(create("c", "cat", true, &session, &err), ERR_LIMIT); /* b waits for who asks how it ended */
    assert_non_null(strstr(err.text, "the end of 1 more"));
    session_end_read(b);
    session_follow(b, true, 0);
    session_follow(b, true, 0);
    session_follow(b, false, 0);
    assert_int_equal(create("c", "cat", true, &session, &err), ERR_LIMIT);
    session_follow(b, false, 0);
    must_create("c", "cat", true); /* takes the place of the ended one */
    assert_true(done(&seen.removed, 1));
    assert_null(registry_by_number(registry, number));
    assert_int_equal(create("d", "cat", true, &session, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "max_sessions"));
    struct session *a = registry_find(registry, "a", &err);
    struct wait_spec spec = {.quiet_ms = -1, .deadline_ns = INT64_MAX};
    struct wait *wait = session_wait(a, &spec, on_wait, NULL, &err);
    assert_non_null(wait);
    assert_null(session_wait(a, &spec, on_wait, NULL, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    wait_cancel(wait);
    cfg->limits.max_sessions = 100;
    cfg->limits.journal_total_bytes = 1;
    assert_int_equal(create("e", "cat", true, &session, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "journal_total"));
    cfg->limits.journal_total_bytes = 1LL << 30;
    cfg->limits.environment_bytes = 3;
    assert_int_equal(create("e", "cat", true, &session, &err), ERR_TOO_LARGE);
}

TEST(test_tombstones_go)
{
    cfg->limits.keep_ended_ms = 50;
    struct session *unread = must_create("unread", "exit 0", false), *was_read = must_create("read", "exit 0", false);
    wait_exit(unread);
    wait_exit(was_read);
    session_end_read(was_read);
    assert_true(done(&seen.removed, 1));
    struct err err;
    assert_null(registry_find(registry, "read", &err));
    assert_non_null(registry_find(registry, "unread", &err)); /* its time has not begun */
}

/* Nobody may set it: a time of day that jumps forward forgets nothing early, one that jumps back keeps nothing longer. */
TEST(test_tombstones_go_by_a_clock_that_does_not_jump)
{
    struct err err;
    cfg->limits.keep_ended_ms = 3600000;
    struct session *session = must_create("s", "exit 0", false);
    wait_exit(session);
    session_end_read(session);
    struct journal_header *header = session_journal(session)->header;
    header->end_read_real_ms -= 7200000;
    ended_reload(registry);
    for (int i = 0; i < 20; i++)
        loop_turn(loop, 5);
    assert_non_null(registry_find(registry, "s", &err));
    header->end_read_real_ms += 7200000 * 2;
    header->end_read_boot_ms -= 7200000;
    ended_reload(registry);
    assert_true(done(&seen.removed, 1));
    assert_null(registry_find(registry, "s", &err));
}

/* An end that nobody has read waits its hour for that, whatever the time of day does. */
TEST(test_end_is_owed_by_a_clock_that_does_not_jump)
{
    struct err err;
    struct session *session = must_create("s", "exit 3", false), *other;
    cfg->limits.max_sessions = 1;
    wait_exit(session);
    session_journal(session)->header->ended_real_ms -= 7200000;
    assert_int_equal(create("t", "cat", true, &other, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "the end of 1 more"));
    assert_non_null(registry_find(registry, "s", &err));
}

/* A program between its fork and its exec is nobody's orphan, least of all one that is left by another session and dies with it. */
TEST(test_new_program_is_no_orphan)
{
    struct session *ended = must_create("ended", "exit 0", false);
    wait_exit(ended);
    for (int round = 0; round < 20; round++) {
        struct session *fresh = must_create(NULL, "exec sleep 300", false);
        loop_turn(loop, 0); /* the keeper is asked; its answer is not heard before the next turn */
        for (int look = 0; look < 20; look++)
            assert_int_equal(session_children_left(ended), 0);
        while (session_pid(fresh) <= 0)
            assert_true(loop_turn(loop, PATIENCE_MS));
        assert_int_equal(session_children_left(ended), 0);
        seen.killed = 0;
        reap_kill(fresh, 0, KILLER_REQUEST, on_kill, NULL);
        assert_true(done(&seen.killed, 1));
        assert_int_equal(registry_remove(registry, fresh, &(struct err){0}), 0);
    }
}

TEST(test_idle_loop_sleeps)
{
    must_create(NULL, "cat", true);
    must_create(NULL, "exec <&- >&- 2>&-; exec sleep 30", true); /* closes its terminal and lives: no spinning on the hang-up */
    assert_true(done(&seen.created, 2));
    while (loop_turn(loop, 100))
        ;
    assert_false(loop_turn(loop, 200));
}

TEST(test_process_in_session)
{
    struct err err;
    struct pattern *ok = pattern_new("pid [0-9]+\\s", 12, &err);
    struct session *session = must_create(NULL, "setsid sh -c 'echo pid $$ ; sleep 30' & wait", false);
    wait_for(session, (struct wait_spec){.sought = one_of(ok)});
    assert_true(done(&seen.waited, 1));
    assert_true(done(&seen.spawned, 1)); /* what a program prints may be here before the word of its start */
    uint64_t from = 0;
    size_t size;
    const char *data = journal_view(session_journal(session), &from, &size);
    pid_t pid = (pid_t)atoi(data + 4);
    assert_ptr_equal(registry_of_process(registry, pid), session);
    assert_ptr_equal(registry_of_process(registry, session_pid(session)), session);
    assert_null(registry_of_process(registry, getpid()));
    pattern_free(ok);
}

TEST(test_declared)
{
    struct err err;
    struct session *session;
    static const char text[] = "[session echo]\ncmd = while read line; do echo \"<$line>\"; done\nlogin = no\nshell = /bin/sh\n"
                               "on_start = hello\\n\n"
                               "[session crash]\ncmd = exit 3\nshell = /bin/sh\nlogin = no\nrestart = on-failure\nstart = manual\n"
                               "[session boot]\nargv = sleep 30\nstart = boot\n";
    struct config *declared = config_parse("test", text, sizeof text - 1, &err);
    if (!declared)
        fail_msg("%s", err.text);
    registry_reload(registry, declared);
    config_free(cfg);
    cfg = declared;
    assert_true(done(&seen.created, 1));
    assert_non_null(registry_find(registry, "boot", &err)); /* new ones begin at once */
    bool on_demand;
    assert_true(registry_is_declared(registry, "echo", &on_demand) && on_demand);
    assert_true(registry_is_declared(registry, "crash", &on_demand) && !on_demand);
    assert_false(registry_is_declared(registry, "nobody", &on_demand));
    assert_int_equal(registry_start_declared(registry, "nobody", NULL, NULL, NULL, &session, &err), ERR_NO_SUCH_SESSION);
    struct pattern *until = pattern_new("<hello>", 7, &err);
    assert_int_equal(registry_start_declared(registry, "echo", test_env(), NULL, NULL, &session, &err), 0);
    wait_for(session, (struct wait_spec){.sought = one_of(until)});
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_UNTIL);
    pattern_free(until);
    assert_int_equal(registry_start_declared(registry, "crash", test_env(), NULL, NULL, &session, &err), 0);
    uint64_t number = session_number(session);
    assert_true(done(&seen.ended, 2)); /* it comes back after a second */
    session = registry_find(registry, "crash", &err);
    assert_non_null(session);
    assert_true(session_number(session) > number);
}

/* The worker's part dies and a successor takes over from the same keeper; here in one process. */
TEST(test_successor)
{
    struct err err;
    int code, signo;
    char go[sizeof dir + 8], command[sizeof go + 64];
    struct pattern *begun = pattern_new("begun", 5, &err);
    struct session *lives = must_create("lives", "while read line; do echo \"got <$line>\"; done", true);
    snprintf(go, sizeof go, "%s/go", dir);
    snprintf(command, sizeof command, "echo begun; read word < '%s'; echo late; exit 9", go);
    assert_int_equal(mkfifo(go, 0600), 0);
    struct session *ends = must_create("ends", command, false);
    struct session *ended = must_create("ended", "echo old; exit 4", false);
    uint64_t numbers[] = {session_number(lives), session_number(ends), session_number(ended)};
    wait_exit(ended);
    wait_for(ends, (struct wait_spec){.sought = one_of(begun)});
    assert_true(done(&seen.waited, 1));
    assert_true(done(&seen.spawned, 3)); /* what a program prints may be here before the word of its start */
    while (session_pid(lives) <= 0)
        assert_true(loop_turn(loop, PATIENCE_MS));
    pid_t pid = session_pid(lives);
    struct pollfd end = {.fd = pidfd_open(session_pid(ends), 0), .events = POLLIN};
    struct pollfd told = {.fd = link_fd(keeper_link), .events = POLLIN};
    registry_free(registry);
    registry = NULL;
    int to_it = open(go, O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(to_it, "go\n", 3), 3);
    close(to_it);
    assert_int_equal(poll(&end, 1, PATIENCE_MS), 1); /* nobody is there when it ends */
    close(end.fd);
    assert_int_equal(poll(&told, 1, PATIENCE_MS), 1);
    loop_turn(loop, 0); /* what was told to the one that died is gone with it */
    start_registry();
    link_hello(keeper_link);
    assert_true(done(&seen.handed, 2));
    ended = registry_by_number(registry, numbers[2]);
    assert_ptr_equal(registry_find(registry, "ended", &err), ended);
    assert_output(ended, "old\n");
    assert_true(session_has_exit(ended, &code, &signo));
    assert_int_equal(code, 4);
    ends = registry_by_number(registry, numbers[1]);
    assert_non_null(ends);
    wait_exit(ends);
    assert_output(ends, "begun\nlate\n");
    assert_true(session_has_exit(ends, &code, &signo));
    assert_int_equal(code, 9);
    lives = registry_by_number(registry, numbers[0]);
    assert_int_equal(session_state(lives), SESSION_RUNNING);
    assert_int_equal(session_pid(lives), pid);
    wait_for(lives, (struct wait_spec){.ready = true});
    assert_int_equal(session_type(lives, "again\n", 6, 0, false, &err), 0);
    assert_true(done(&seen.waited, 1));
    assert_int_equal(seen.wait.reason, WAIT_READY);
    assert_true(output_has(lives, "got <again>"));
    struct session *fresh = must_create(NULL, "exit 0", false);
    assert_true(session_number(fresh) > numbers[2]);
    pattern_free(begun);
}

TEST(test_keeper_lost)
{
    struct err err;
    int code, signo;
    struct session *session = must_create("a", "read x; exit 5", true);
    assert_true(done(&seen.created, 1));
    kill(keeper, SIGKILL);
    waitpid(keeper, NULL, 0);
    assert_true(done(&seen.lost, 1));
    link_replace(keeper_link, start_keeper());
    link_io = loop_io_new(loop, link_fd(keeper_link), LOOP_READ, on_link, NULL);
    registry_keeper_lost(registry, keeper_link);
    registry_give(registry);
    struct session *other = must_create("b", "exit 3", false);
    wait_exit(other);
    assert_true(session_has_exit(other, &code, &signo));
    assert_int_equal(code, 3);
    assert_int_equal(session_type(session, "\n", 1, 0, false, &err), 0);
    wait_exit(session);
    assert_true(session_has_exit(session, &code, &signo));
    assert_true(session_state(session) == SESSION_LOST ? code == -1 : code == 5); /* never a made-up 0 */
}

TEST(test_interrupt_is_not_held)
{
    struct err err;
    cfg->defaults.hold_ms = 60000;
    struct session *session = must_create(NULL, "exec sleep 300", true);
    assert_true(done(&seen.created, 1));
    int64_t begun = clock_mono_ms();
    assert_int_equal(session_type(session, "\003", 1, 0, false, &err), 0);
    wait_exit(session);
    assert_true(clock_mono_ms() - begun < 50000);
    assert_int_equal(session_state(session), SESSION_SIGNALED);
}

#define TTY_PIECE 4095 /* what the kernel has of a terminal's output at most */
#define FLOOD_BYTES (1u << 20)

static uint64_t most_in_a_turn(struct session *session)
{
    uint64_t head = journal_head(session_journal(session)), end = head + FLOOD_BYTES, most = 0;
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (head < end && clock_mono_ms() < until) {
        loop_turn(loop, 50);
        uint64_t now = journal_head(session_journal(session));
        most = now - head > most ? now - head : most;
        head = now;
    }
    assert_true(head >= end);
    return most;
}

/* A turn is short while somebody looks at another session, whatever floods, and only then. */
TEST(test_flood_beside_a_person)
{
    struct err err;
    struct session *flood = must_create("flood", "exec yes", true), *other = must_create("other", "exec true", true);
    wait_exit(other);
    assert_true(most_in_a_turn(flood) > TTY_PIECE);
    session_attach(other, 1);
    assert_in_range(most_in_a_turn(flood), 1, TTY_PIECE);
    session_attach(other, -1);
    session_attach(flood, 1);
    assert_true(most_in_a_turn(flood) > TTY_PIECE);
    session_attach(flood, -1);
    session_attach(other, 1);
    assert_int_equal(registry_remove(registry, other, &err), 0); /* those who looked at it find it no more when they leave */
    assert_true(most_in_a_turn(flood) > TTY_PIECE);
}

static void on_watch(void *arg, unsigned events)
{
    *(unsigned *)arg += (events & WATCH_CHANGED) != 0;
}

/* A viewer that takes nothing rests: what is printed meanwhile doesn't even go into the model of the screen. */
TEST(test_nothing_is_fed_while_all_rest)
{
    struct err err;
    unsigned told = 0;
    struct session *session = must_create("flood", "echo first; read go; yes | head -c 2000000; read go", true);
    struct watch *watch = session_watch(session, on_watch, &told, &err);
    assert_non_null(watch);
    wait_for(session, (struct wait_spec){.ready = true});
    assert_true(done(&seen.waited, 1) && done(&told, 1));
    watch_rest(watch);
    uint64_t offset = watch_offset(watch);
    unsigned before = told;
    assert_int_equal(session_type(session, "\n", 1, 0, false, &err), 0);
    most_in_a_turn(session);
    assert_int_equal(watch_offset(watch), offset);
    assert_int_equal(told, before);
    watch_wake(watch, false);
    assert_true(done(&told, before + 1));
    assert_true(watch_offset(watch) > offset + FLOOD_BYTES);
    watch_cancel(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, begin, end)
        CASE(exit_codes), CASE(death_by_signal), CASE(stderr_is_known), CASE(all_output_before_the_exit),
        CASE(background_child_holds_it_open), CASE(spawn_failures), CASE(names), CASE(typing_and_until), CASE(ready),
        CASE(quiet_and_settle), CASE(cancelled_wait_is_silent), CASE(input_refused),
        CASE(silence_is_asked_of_the_kernel), CASE(searched_only_while_somebody_searches), CASE(refused_secret_is_not_told), CASE(stdin_of_pipes), CASE(interrupt_of_pipes),
        CASE(signals_without_a_pidfd), CASE(kill_ladder), CASE(kill_takes_everybody), CASE(one_signal), CASE(session_limits), CASE(caps), CASE(tombstones_go),
        CASE(follower_comes_back),
        CASE(tombstones_go_by_a_clock_that_does_not_jump), CASE(end_is_owed_by_a_clock_that_does_not_jump),
        CASE(new_program_is_no_orphan), CASE(idle_loop_sleeps), CASE(process_in_session), CASE(declared), CASE(successor), CASE(keeper_lost),
        CASE(interrupt_is_not_held), CASE(flood_beside_a_person), CASE(nothing_is_fed_while_all_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
