/* test_keep_keeper.c: a real keeper with real programs; the test is its worker. The keeper executes this file as "--relay SOCKET",
 * which passes the link's descriptor to the test and then waits to be killed: its death is the worker's. */
#include "tests/lib/test.h"

#include "base/clock.h"
#include "base/fdio.h"
#include "keep/adopt.h"
#include "keep/keeper/keeper.h"
#include "keep/link.h"
#include "keep/own_args.h"
#include "keep/plan.h"
#include "keep/trial.h"
#include "keep/keeper/slots.h"
#include "tests/lib/unit_child.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 20000
#define WENT_BACK 33
#define EVENTS_MAX 8192

const bool unit_starts_itself = true;

enum what { SLOT, LISTENER, HANDED, SPAWNED, FAILED, EXITED, UPGRADE_FAILED, LOST };
struct event {
    enum what what;
    uint64_t session;
    pid_t pid;
    int a, b, fds[KEEP_FD_COUNT];
};

static struct rig {
    char self[4096], dir[64], socket[108];
    int relay; /* listening: relays come here */
    int relayed; /* the connection of the one that lives */
    pid_t keeper, worker;
    struct link *link;
    struct event events[EVENTS_MAX];
    int count, taken;
} rig;

/* --- the worker's part ------------------------------------------------------------------------------------------------- */

static void note(struct event event)
{
    assert_true(rig.count < EVENTS_MAX);
    rig.events[rig.count++] = event;
}
static void on_slot(void *arg, uint64_t session, pid_t pid, int fds[KEEP_FD_COUNT])
{
    (void)arg;
    struct event event = {.what = SLOT, .session = session, .pid = pid};
    memcpy(event.fds, fds, sizeof event.fds);
    note(event);
}
static void on_listener(void *arg, int fd) { (void)arg; note((struct event){.what = LISTENER, .a = fd}); }
static void on_handed(void *arg, int generation) { (void)arg; note((struct event){.what = HANDED, .a = generation}); }
static void on_spawned(void *arg, uint64_t session, pid_t pid, int pidfd)
{
    (void)arg;
    note((struct event){.what = SPAWNED, .session = session, .pid = pid, .a = pidfd >= 0});
    fd_close(&pidfd);
}
static void on_failed(void *arg, uint64_t session, int step, int error)
{
    (void)arg;
    note((struct event){.what = FAILED, .session = session, .a = step, .b = error});
}
static void on_exited(void *arg, uint64_t session, pid_t pid, int code, int status)
{
    (void)arg;
    note((struct event){.what = EXITED, .session = session, .pid = pid, .a = code, .b = status});
}
static void on_upgrade_failed(void *arg, int error) { (void)arg; note((struct event){.what = UPGRADE_FAILED, .a = error}); }
static void on_room(void *arg) { (void)arg; }
static void on_lost(void *arg) { (void)arg; note((struct event){.what = LOST}); }
static const struct link_handlers handlers = {.slot = on_slot, .listener = on_listener, .handed = on_handed, .spawned = on_spawned,
    .failed = on_failed, .exited = on_exited, .upgrade_failed = on_upgrade_failed, .room = on_room, .lost = on_lost};

static bool readable(int fd, int64_t until_ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int64_t left = until_ms - clock_mono_ms();
    return poll(&ready, 1, left > 0 ? (int)left : 0) > 0;
}

/* The next event of that kind; others before it are passed over. */
static struct event wait_for(enum what what)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    for (;;) {
        for (; rig.taken < rig.count; rig.taken++)
            if (rig.events[rig.taken].what == what)
                return rig.events[rig.taken++];
        rig.count = rig.taken = 0;
        link_flush(rig.link);
        if (!readable(link_fd(rig.link), until))
            fail_msg("no event %d", what);
        link_on_readable(rig.link);
    }
}

/* Takes over from the relay that the keeper has started. */
static void meet_worker(void)
{
    struct { pid_t pid; } hello;
    int fd = -1;
    size_t n = 1;
    assert_true(readable(rig.relay, clock_mono_ms() + PATIENCE_MS));
    fd_close(&rig.relayed);
    rig.relayed = accept4(rig.relay, NULL, NULL, SOCK_CLOEXEC);
    assert_int_equal(fd_recv(rig.relayed, &hello, sizeof hello, &fd, &n, 0), sizeof hello);
    rig.worker = hello.pid;
    link_free(rig.link);
    rig.count = rig.taken = 0;
    rig.link = link_new(fd, &handlers, NULL);
    link_hello(rig.link);
}

static void kill_worker(void)
{
    kill(rig.worker, SIGKILL);
    meet_worker();
}

/* Starts "sh -c script" with stdout and stderr in a pipe; its read end. */
static int spawn_plan(uint64_t session, const struct plan *plan)
{
    struct err err = {0};
    int fd = -1, out[2], null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(plan_write(plan, &fd, &err), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    link_spawn(rig.link, session, fd, (int[3]){null, out[1], fcntl(out[1], F_DUPFD_CLOEXEC, 0)}, NULL);
    return out[0];
}

static int spawn(uint64_t session, const char *script)
{
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL}, *env[] = {(char *)"PATH=/bin:/usr/bin", NULL};
    return spawn_plan(session, &(struct plan){.argv = argv, .env = env, .cwd = "/", .umask = 022});
}

/* The script begins when open_gate is called. */
static int spawn_gated(uint64_t session, const char *script)
{
    char *text, path[sizeof rig.dir + 8];
    snprintf(path, sizeof path, "%s/gate", rig.dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(asprintf(&text, "read x <%s/gate; %s", rig.dir, script) > 0);
    int out = spawn(session, text);
    free(text);
    return out;
}

static void open_gate(void)
{
    char path[sizeof rig.dir + 8];
    snprintf(path, sizeof path, "%s/gate", rig.dir);
    int fd = open(path, O_WRONLY | O_CLOEXEC); /* waits for the reader */
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
}

static const char *output(int fd)
{
    static char text[65536];
    ssize_t n = fd_read_all(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    close(fd);
    return text;
}

static bool same_file(int a, int b)
{
    struct stat one, two;
    return fstat(a, &one) == 0 && fstat(b, &two) == 0 && one.st_ino == two.st_ino && one.st_dev == two.st_dev;
}

static int count_fds(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *list = opendir(path);
    if (!list) {
        assert_int_equal(errno, EACCES); /* the keeper can't be looked into, as it should be for an ordinary user */
        assert_int_not_equal(geteuid(), 0);
        return -1;
    }
    while (readdir(list))
        count++;
    closedir(list);
    return count;
}

/* The keeper opens some for a moment only; when it has closed them it tells nobody. */
static int count_fds_at_most(pid_t pid, int most)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    int count = count_fds(pid);
    while (count > most && clock_mono_ms() < until) {
        poll(NULL, 0, 1);
        count = count_fds(pid);
    }
    return count;
}

/* --- start and end ----------------------------------------------------------------------------------------------------- */

/* "muxd" and "muxd-keeper" as they lie on disk for an upgrade. */
static void lay_out(const char *keeper)
{
    char path[2][200];
    snprintf(path[0], sizeof path[0], "%s/muxd", rig.dir);
    snprintf(path[1], sizeof path[1], "%s/muxd-keeper", rig.dir);
    for (int i = 0; i < 2; i++) {
        unlink(path[i]);
        if (keeper)
            assert_int_equal(symlink(i == 0 ? rig.self : keeper, path[i]), 0);
    }
}

static void start_keeper(const char *role, const char *upgrade_to)
{
    lay_out(upgrade_to);
    rig.keeper = fork();
    if (rig.keeper == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGHUP, SIG_IGN); /* as nohup: programs must not inherit it */
        execl(rig.self, rig.self, role, rig.socket, NULL);
        _exit(127);
    }
}

static int setup_bare(void **state)
{
    (void)state;
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    memset(&rig, 0, sizeof rig);
    rig.relayed = -1;
    ssize_t n = readlink("/proc/self/exe", rig.self, sizeof rig.self - 1);
    assert_true(n > 0);
    strcpy(rig.dir, "/tmp/test_keep_XXXXXX");
    assert_non_null(mkdtemp(rig.dir));
    snprintf(rig.socket, sizeof rig.socket, "%s/relay", rig.dir);
    strcpy(addr.sun_path, rig.socket);
    rig.relay = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(rig.relay, (struct sockaddr *)&addr, sizeof addr), 0);
    assert_int_equal(listen(rig.relay, 16), 0);
    lay_out(rig.self);
    return 0;
}

static int setup(void **state)
{
    setup_bare(state);
    start_keeper("--keeper", rig.self);
    meet_worker();
    assert_int_equal(wait_for(HANDED).a, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    link_stop(rig.link);
    link_free(rig.link);
    rig.link = NULL;
    fd_close(&rig.relayed); /* the relay exits 0 when the test lets go */
    int status = -1;
    int pidfd = pidfd_open(rig.keeper, 0);
    if (!readable(pidfd, clock_mono_ms() + PATIENCE_MS))
        kill(rig.keeper, SIGKILL);
    close(pidfd);
    waitpid(rig.keeper, &status, 0);
    close(rig.relay);
    unlink(rig.socket);
    lay_out(NULL);
    rmdir(rig.dir);
    if (status != 0)
        print_error("the keeper ended with wait status 0x%x\n", (unsigned)status);
    return status == 0 ? 0 : -1;
}

/* --- tests ------------------------------------------------------------------------------------------------------------- */

TEST(test_exit_codes)
{
    int out = spawn(1000, "echo hello; exit 42");
    struct event spawned = wait_for(SPAWNED);
    assert_true(spawned.session == 1000 && spawned.pid > 1 && spawned.a == 1);
    assert_string_equal(output(out), "hello\n");
    struct event exited = wait_for(EXITED);
    assert_true(exited.session == 1000 && exited.pid == spawned.pid && exited.a == CLD_EXITED && exited.b == 42);
    assert_int_equal(kill(exited.pid, 0), 0); /* still there: not acknowledged */
    link_ack(rig.link, 1000, exited.pid, 0);
    link_flush(rig.link);
    close(spawn(1001, "ulimit -c 0; kill -TERM $$"));
    exited = wait_for(EXITED);
    assert_true(exited.session == 1001 && exited.a == CLD_KILLED && exited.b == SIGTERM);
    assert_int_equal(kill(spawned.pid, 0), -1); /* reaped before the next was started */
}

TEST(test_failures)
{
    static const struct {
        const char *program, *cwd;
        int step, error;
    } cases[] = {{"/proc/nonexistent", "/", PLAN_EXEC, ENOENT}, {"/etc/passwd", "/", PLAN_EXEC, EACCES}, {"true", "/proc/nonexistent", PLAN_CHDIR, ENOENT}};
    char *env[] = {NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *argv[] = {(char *)cases[i].program, NULL};
        close(spawn_plan(2000 + i, &(struct plan){.argv = argv, .env = env, .cwd = cases[i].cwd}));
        struct event failed = wait_for(FAILED);
        assert_true(failed.session == 2000 + i && failed.a == cases[i].step && failed.b == cases[i].error);
    }
    kill_worker(); /* told again, until it is acknowledged */
    for (int i = 0; i < 3; i++) {
        struct event failed = wait_for(FAILED);
        assert_int_equal(failed.a, cases[failed.session - 2000].step);
        link_ack(rig.link, failed.session, 0, 0);
        link_flush(rig.link);
    }
    wait_for(HANDED);
    link_served(rig.link);
    close(spawn(2000, "exit 3")); /* and can be tried again */
    assert_int_equal(wait_for(EXITED).b, 3);
    kill_worker();
    struct event slot = wait_for(SLOT);
    assert_true(slot.session == 2000 && slot.pid > 0);
    wait_for(HANDED);
    for (int i = 0; i < rig.count; i++)
        assert_int_not_equal(rig.events[i].what, FAILED);
}

TEST(test_busy)
{
    close(spawn(1000, "read x"));
    close(spawn(1001, "sleep 100"));
    wait_for(SPAWNED);
    wait_for(SPAWNED);
    close(spawn(1001, "true"));
    struct event failed = wait_for(FAILED);
    assert_true(failed.session == 1001 && failed.a == PLAN_FORK && failed.b == EBUSY);
}

/* The worker dies, programs end meanwhile: every end is told, and again until it is acknowledged. */
TEST(test_exits_are_repeated)
{
    enum { COUNT = 20 };
    bool seen[COUNT] = {false};
    int gate[2];
    assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
    char *env[] = {(char *)"PATH=/bin:/usr/bin", NULL};
    for (int i = 0; i < COUNT; i++) {
        char script[64];
        snprintf(script, sizeof script, "read x; exit %d", i);
        char *argv[] = {(char *)"sh", (char *)"-c", script, NULL};
        struct err err;
        int fd = -1, null = open("/dev/null", O_RDWR | O_CLOEXEC);
        assert_int_equal(plan_write(&(struct plan){.argv = argv, .env = env}, &fd, &err), 0);
        link_spawn(rig.link, 1000 + (uint64_t)i, fd, (int[3]){fcntl(gate[0], F_DUPFD_CLOEXEC, 0), null, fcntl(null, F_DUPFD_CLOEXEC, 0)}, NULL);
    }
    for (int i = 0; i < COUNT; i++)
        wait_for(SPAWNED);
    link_served(rig.link);
    kill(rig.worker, SIGKILL);
    close(gate[0]);
    close(gate[1]); /* they read the end of file and leave */
    meet_worker();
    kill_worker(); /* one that says nothing but hello */
    wait_for(HANDED);
    int status = -1;
    for (int i = 0; i < COUNT; i++) {
        struct event exited = wait_for(EXITED);
        assert_int_equal(exited.b, exited.session - 1000);
        assert_false(seen[exited.b]);
        seen[exited.b] = true;
        if (i % 2 == 0)
            link_ack(rig.link, exited.session, exited.pid, 0);
        else
            status = exited.b;
        link_flush(rig.link);
    }
    assert_int_not_equal(status, -1);
    kill_worker();
    for (int i = 0; i < COUNT / 2; i++)
        wait_for(EXITED);
    assert_int_equal(link_predecessor(rig.link), SIGKILL);
}

static bool is_held(uint64_t session, int tag)
{
    return tag == 0 || (session + (unsigned)tag) % 2 == 0; /* never more than one message takes */
}

TEST(test_hand_over)
{
    int fds[KEEP_FD_COUNT], listener = memfd_create("listener", MFD_CLOEXEC);
    link_listen(rig.link, listener, false);
    for (uint64_t session = 0; session < 60; session++) {
        for (int i = 0; i < KEEP_FD_COUNT; i++)
            fds[i] = is_held(session, i) ? memfd_create("held", MFD_CLOEXEC) : -1;
        for (int i = 0; i < KEEP_FD_COUNT; i++)
            if (fds[i] >= 0)
                dprintf(fds[i], "%d %d", (int)session, i);
        link_hold(rig.link, session, fds);
        for (int i = 0; i < KEEP_FD_COUNT; i++)
            fd_close(&fds[i]);
    }
    link_release(rig.link, 7, 1 << KEEP_FD_ERR | 1 << KEEP_FD_MASTER);
    link_drop(rig.link, 8);
    link_flush(rig.link);
    close(spawn(9, "sleep 100"));
    struct event spawned = wait_for(SPAWNED);
    kill_worker();
    struct event got = wait_for(LISTENER);
    assert_true(same_file(got.a, listener));
    close(got.a);
    close(listener);
    for (int i = 0; i < 59; i++) {
        got = wait_for(SLOT);
        assert_int_not_equal(got.session, 8);
        assert_int_equal(got.pid, got.session == 9 ? spawned.pid : 0);
        for (int use = 0; use < KEEP_FD_COUNT; use++) { /* each under the tag that it was given with */
            bool held = is_held(got.session, use) && !(got.session == 7 && (use == KEEP_FD_ERR || use == KEEP_FD_MASTER));
            assert_int_equal(got.fds[use] >= 0, held);
            if (!held)
                continue;
            char text[32] = "", wanted[32];
            assert_true(pread(got.fds[use], text, sizeof text - 1, 0) > 0);
            snprintf(wanted, sizeof wanted, "%d %d", (int)got.session, use);
            assert_string_equal(text, wanted);
            close(got.fds[use]);
        }
    }
    assert_int_equal(wait_for(HANDED).a, 2);
}

/* The table is full: a clear refusal, and a hand-over that is longer than the socket's buffer. */
/* As many as [limits] max_sessions may say fit; one more is refused, and a place that is given back is taken again. */
TEST(test_slots)
{
    static struct slots slots;
    assert_true(SLOTS_MAX > 65536);
    for (uint64_t session = 0; session < SLOTS_MAX; session++)
        assert_non_null(slots_take(&slots, session * 7));
    assert_null(slots_take(&slots, 1));
    assert_ptr_equal(slots_take(&slots, 7), slots_find(&slots, 7));
    slots_release(&slots, slots_find(&slots, 7));
    assert_null(slots_find(&slots, 7));
    assert_non_null(slots_take(&slots, 1));
    assert_int_equal(slots.count, SLOTS_MAX);
}

TEST(test_full_table)
{
    struct rlimit nofile;
    getrlimit(RLIMIT_NOFILE, &nofile);
    if (nofile.rlim_max < SLOTS_MAX + 100)
        skip(); /* test_slots needs no descriptors */
    int file = memfd_create("held", MFD_CLOEXEC), fds[KEEP_FD_COUNT] = {file, [1 ... KEEP_FD_COUNT - 1] = -1};
    for (uint64_t session = 0; session < SLOTS_MAX; session++) {
        link_hold(rig.link, session * 7, fds);
        while (link_wants_write(rig.link)) {
            struct pollfd room = {.fd = link_fd(rig.link), .events = POLLOUT};
            assert_int_equal(poll(&room, 1, PATIENCE_MS), 1);
            link_flush(rig.link);
        }
    }
    close(spawn(1, "true"));
    struct event failed = wait_for(FAILED);
    assert_true(failed.session == 1 && failed.a == PLAN_FORK && failed.b == ENFILE);
    link_drop(rig.link, 7);
    link_flush(rig.link);
    close(spawn(1, "exit 8"));
    assert_int_equal(wait_for(EXITED).b, 8);
    kill_worker();
    for (int i = 0; i < SLOTS_MAX; i++) {
        struct event slot = wait_for(SLOT);
        assert_int_equal(slot.fds[0] >= 0, slot.session != 1);
        fd_close(&slot.fds[0]);
    }
    wait_for(HANDED);
    assert_int_equal(wait_for(EXITED).session, 1);
    close(file);
}

TEST(test_back_off)
{
    int listener = open("/dev/null", O_RDONLY | O_CLOEXEC);
    link_listen(rig.link, listener, false); /* without one the keeper gives up after some */
    link_flush(rig.link);
    close(listener);
    int64_t before = clock_mono_ms();
    for (int i = 0; i < 5; i++)
        kill_worker(); /* 10 + 20 + 40 + 80 + 160 ms */
    assert_in_range(clock_mono_ms() - before, 310, PATIENCE_MS);
    wait_for(HANDED);
    link_served(rig.link);
    close(spawn(1000, "true"));
    wait_for(SPAWNED); /* so it has been heard */
    bool quick = false;
    for (int i = 0; i < 10 && !quick; i++) { /* the next pauses would be 320, 640 and then 1,000 ms; a busy machine can take a while, too */
        before = clock_mono_ms();
        kill_worker();
        quick = clock_mono_ms() - before < (i < 2 ? 250 : 950);
        wait_for(HANDED);
        link_served(rig.link);
        close(spawn(1001 + (uint64_t)i, "true"));
        wait_for(SPAWNED);
    }
    assert_true(quick);
}

/* A worker that leaves while the keeper's news to it are unread: what it said last counts all the same. The keeper is stopped meanwhile,
 * so that it finds both at once. */
TEST(test_last_words)
{
    close(spawn(1000, "sleep 100"));
    kill(wait_for(SPAWNED).pid, SIGKILL);
    assert_true(readable(link_fd(rig.link), clock_mono_ms() + PATIENCE_MS)); /* the exit, which nobody reads */
    int worker = pidfd_open(rig.worker, 0), keeper = pidfd_open(rig.keeper, 0), status = -1;
    kill(rig.keeper, SIGSTOP);
    assert_int_equal(waitpid(rig.keeper, &status, WUNTRACED), rig.keeper);
    link_stop(rig.link);
    link_free(rig.link);
    rig.link = NULL;
    fd_close(&rig.relayed);
    assert_true(readable(worker, clock_mono_ms() + PATIENCE_MS));
    kill(rig.keeper, SIGCONT);
    assert_true(readable(keeper, clock_mono_ms() + PATIENCE_MS));
    assert_int_equal(waitpid(rig.keeper, &status, 0), rig.keeper);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_false(readable(rig.relay, 0)); /* no other worker */
    close(worker);
    close(keeper);
}

enum { FIRST_TRIES = 5, LATER_TRIES = 10 }; /* as in supervise.c */

/* Nobody could have reached any of them: the keeper leaves, and says so by its status. */
TEST(test_gives_up_without_sessions)
{
    for (int i = 1; i < FIRST_TRIES; i++)
        kill_worker();
    int status = -1, pidfd = pidfd_open(rig.keeper, 0);
    assert_false(readable(pidfd, 0));
    kill(rig.worker, SIGKILL);
    assert_true(readable(pidfd, clock_mono_ms() + PATIENCE_MS));
    assert_int_equal(waitpid(rig.keeper, &status, 0), rig.keeper);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_false(readable(rig.relay, 0)); /* and started no other */
    close(pidfd);
}

/* As before, but a program runs: it has a keeper for as long as it likes. */
TEST(test_never_gives_up_sessions)
{
    close(spawn(1000, "sleep 100"));
    pid_t pid = wait_for(SPAWNED).pid;
    for (int i = 0; i < FIRST_TRIES + 2; i++) {
        kill_worker();
        struct event slot = wait_for(SLOT);
        assert_true(slot.session == 1000 && slot.pid == pid);
        assert_int_equal(wait_for(HANDED).a, i + 2);
    }
    assert_int_equal(kill(pid, 0), 0);
}

/* Clients may wait at the socket of a daemon that has listened: it gets more tries, and as many again after one that listened. */
TEST(test_gives_up_its_socket_later)
{
    int listener = open("/dev/null", O_RDONLY | O_CLOEXEC);
    link_listen(rig.link, listener, false);
    close(spawn(1000, "true"));
    link_ack(rig.link, 1000, wait_for(EXITED).pid, 0);
    link_drop(rig.link, 1000);
    for (int i = 0; i < LATER_TRIES - 1; i++) {
        link_flush(rig.link);
        kill_worker();
        struct event got = wait_for(LISTENER);
        assert_true(same_file(got.a, listener));
        close(got.a);
        wait_for(HANDED);
        if (i == 1)
            link_listen(rig.link, listener, false);
    }
    close(listener);
    for (int i = 0; i < 3; i++)
        kill_worker();
    int status = -1, pidfd = pidfd_open(rig.keeper, 0);
    assert_false(readable(pidfd, 0));
    kill(rig.worker, SIGKILL);
    assert_true(readable(pidfd, clock_mono_ms() + PATIENCE_MS));
    assert_int_equal(waitpid(rig.keeper, &status, 0), rig.keeper);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    close(pidfd);
}

TEST(test_clean_children)
{
    int file = memfd_create("held", MFD_CLOEXEC), fds[KEEP_FD_COUNT] = {file, file, [2 ... KEEP_FD_COUNT - 1] = -1};
    link_hold(rig.link, 900, fds);
    close(file);
    assert_string_equal(output(spawn(1000, "ls /proc/$$/fd; :")), "0\n1\n2\n");
    assert_string_equal(output(spawn(1001, "sed -n 's/^Sig\\([BIC]..\\):.//p' /proc/self/status | uniq")), "0000000000000000\n");
    assert_string_equal(output(spawn(1002, "umask")), "0022\n");
    struct rlimit nofile, core;
    char wanted[128], oom[16] = "", given[16];
    getrlimit(RLIMIT_NOFILE, &nofile);
    getrlimit(RLIMIT_CORE, &core);
    int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    assert_true(read(fd, oom, sizeof oom - 1) > 0);
    close(fd);
    snprintf(given, sizeof given, core.rlim_cur == RLIM_INFINITY ? "unlimited" : "%llu", (unsigned long long)core.rlim_cur / 512);
    snprintf(wanted, sizeof wanted, "%llu %s %s", (unsigned long long)nofile.rlim_cur, given, oom);
    assert_string_equal(output(spawn(1003, "echo $(ulimit -Sn) $(ulimit -Sc) $(cat /proc/self/oom_score_adj)")), wanted);
}

/* More than there are sockets for children to get their descriptors from: none gets another's, and none keeps one. */
TEST(test_many_at_once)
{
    enum { MANY = 40 };
    int out[MANY];
    char script[64], wanted[64];
    for (int i = 0; i < MANY; i++) {
        snprintf(script, sizeof script, "echo %d; ls /proc/$$/fd; :", i);
        out[i] = spawn(1000 + (uint64_t)i, script);
    }
    link_flush(rig.link);
    for (int i = 0; i < MANY; i++) {
        snprintf(wanted, sizeof wanted, "%d\n0\n1\n2\n", i);
        assert_string_equal(output(out[i]), wanted);
    }
    for (int i = 0; i < MANY; i++) {
        struct event exited = wait_for(EXITED);
        assert_true(exited.a == CLD_EXITED && exited.b == 0);
        link_ack(rig.link, exited.session, exited.pid, 0);
    }
}

/* An orphan whose parent was a session's leader falls to the keeper, which reaps it. */
TEST(test_orphan)
{
    char *end;
    int out = spawn(1000, "sh -c 'echo $$; exec sleep 0.2' & exec sleep 0.05");
    struct event exited = wait_for(EXITED);
    link_ack(rig.link, 1000, exited.pid, 0);
    link_flush(rig.link);
    long pid = strtol(output(out), &end, 10);
    for (int i = 0; i < 2000 && kill((pid_t)pid, 0) == 0; i++)
        poll(NULL, 0, 10);
    assert_int_equal(kill((pid_t)pid, 0), -1);
}

TEST(test_drop_while_running)
{
    int before = count_fds(rig.keeper), file = memfd_create("held", MFD_CLOEXEC);
    int fds[KEEP_FD_COUNT] = {file, [1 ... KEEP_FD_COUNT - 1] = -1};
    link_hold(rig.link, 1000, fds);
    close(file);
    int out = spawn_gated(1000, "exit 0");
    pid_t pid = wait_for(SPAWNED).pid;
    int watch = pidfd_open(pid, 0);
    link_drop(rig.link, 1000);
    close(spawn(1001, "exit 1")); /* started behind the drop, which the keeper has read then */
    wait_for(SPAWNED);
    open_gate();
    output(out);
    assert_true(readable(watch, clock_mono_ms() + PATIENCE_MS)); /* its output ends a moment before it does */
    close(watch);
    struct event exited = wait_for(EXITED); /* only of the one that is held */
    assert_int_equal(exited.session, 1001);
    link_ack(rig.link, 1001, exited.pid, 0);
    link_flush(rig.link);
    link_drop(rig.link, 1001);
    close(spawn(1002, "/proc/nonexistent; exit 0"));
    exited = wait_for(EXITED);
    link_ack(rig.link, 1002, exited.pid, 0);
    link_flush(rig.link);
    link_drop(rig.link, 1002);
    close(spawn(1003, "exit 0"));
    exited = wait_for(EXITED);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(count_fds_at_most(rig.keeper, before + 1), before < 0 ? -1 : before + 1); /* the pidfd of the one not acknowledged */
}

TEST(test_upgrade)
{
    int file = memfd_create("held", MFD_CLOEXEC), fds[KEEP_FD_COUNT] = {file, [1 ... KEEP_FD_COUNT - 1] = -1};
    link_listen(rig.link, file, true);
    link_hold(rig.link, 1000, fds);
    int out = spawn_gated(1000, "echo still here; exit 9");
    pid_t pid = wait_for(SPAWNED).pid;
    close(spawn(1001, "exit 5"));
    wait_for(EXITED); /* not acknowledged: a zombie that has to come along */
    int before = count_fds(rig.keeper);
    pid_t ended = 0;
    for (int round = 0; round < 2; round++) {
        link_served(rig.link);
        link_upgrade(rig.link);
        link_flush(rig.link);
        meet_worker();
        struct event got = wait_for(LISTENER);
        assert_true(same_file(got.a, file) && link_listener_given(rig.link));
        close(got.a);
        got = wait_for(SLOT);
        assert_true(got.session == 1000 && got.pid == pid && same_file(got.fds[0], file));
        close(got.fds[0]);
        assert_int_equal(wait_for(HANDED).a, round + 2);
        got = wait_for(EXITED);
        assert_true(got.session == 1001 && got.b == 5);
        ended = got.pid;
        link_served(rig.link);
    }
    link_ack(rig.link, 1001, ended, 0);
    link_flush(rig.link);
    open_gate();
    assert_string_equal(output(out), "still here\n");
    struct event got = wait_for(EXITED);
    assert_true(got.pid == pid && got.a == CLD_EXITED && got.b == 9);
    /* one pidfd less; the worker's program, which it holds since, more */
    int after = count_fds_at_most(rig.keeper, before);
    assert_true(after <= before && after >= before - 2);
    close(file);
}

static void upgrade_to(const char *path, int error, bool restarted)
{
    start_keeper("--keeper", path);
    meet_worker();
    wait_for(HANDED);
    close(spawn(1000, "sleep 100"));
    pid_t pid = wait_for(SPAWNED).pid;
    link_served(rig.link);
    link_upgrade(rig.link);
    link_flush(rig.link);
    if (restarted) {
        meet_worker();
        assert_int_equal(wait_for(SLOT).pid, pid);
    }
    assert_int_equal(wait_for(UPGRADE_FAILED).a, error);
    assert_int_equal(kill(pid, 0), 0);
    kill(pid, SIGKILL);
    assert_int_equal(wait_for(EXITED).b, SIGKILL);
}

TEST(test_upgrade_to_nothing) { upgrade_to("/proc/nonexistent/muxd", ENOENT, false); }
TEST(test_upgrade_to_no_keeper) { upgrade_to("/bin/false", ENODATA, false); }
TEST(test_upgrade_to_what_ends_well) { upgrade_to("/bin/true", ENODATA, false); }
TEST(test_upgrade_to_no_program) { upgrade_to("/etc/passwd", EACCES, false); }

/* Answers as it should, and is something else when it is to be the keeper: the minder is the keeper again. */
TEST(test_upgrade_to_one_that_lies)
{
    char path[128];
    snprintf(path, sizeof path, "%s/new", rig.dir);
    FILE *file = fopen(path, "we");
    fprintf(file, "#!/bin/sh\ncase $1 in --trial) exec %s \"$@\";; esac\nexit 0\n", rig.self);
    fclose(file);
    chmod(path, 0700);
    upgrade_to(path, ECHILD, true);
    unlink(path);
}

/* The new binary takes the state over, but its worker dies at once: the old one goes on. */
TEST(test_upgrade_to_bad_worker)
{
    char path[128];
    snprintf(path, sizeof path, "%s/new", rig.dir);
    FILE *file = fopen(path, "we");
    fprintf(file, "#!/bin/sh\ncase $1 in --trial) exec %s \"$@\";; esac\nexec %s \"$1\" \"$2\" --bad-worker %s\n", rig.self, rig.self, rig.socket);
    fclose(file);
    chmod(path, 0700);
    upgrade_to(path, ECHILD, true);
    unlink(path);
}

/* A binary that can't read the state goes back to the one before, with the state as it is and the reason. */
TEST(test_upgrade_unreadable)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(memfd_create("garbage", 0), 20);
        dup2(open(rig.self, O_PATH), 21);
        execl(rig.self, rig.self, "--resume", "20:21:0:0", "--unreadable", "x", NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), WENT_BACK);
    rig.link = NULL;
    close(rig.relay);
    unlink(rig.socket);
    lay_out(NULL);
    rmdir(rig.dir);
}

TEST(test_stop_signal)
{
    close(spawn(1000, "trap '' HUP; sleep 100"));
    wait_for(SPAWNED);
    kill(rig.keeper, SIGTERM);
    char word[8] = "";
    assert_true(readable(rig.relayed, clock_mono_ms() + PATIENCE_MS)); /* the relay heard SIGTERM */
    assert_int_equal(recv(rig.relayed, word, sizeof word, 0), 4);
    assert_string_equal(word, "term");
    /* teardown: KEEP_STOP, and a program that ignores the hang-up is ended too */
}

/* The keeper dies: a new one takes over from the living worker, and then starts workers of its own. */
TEST(test_respawn)
{
    int file = memfd_create("held", MFD_CLOEXEC), fds[KEEP_FD_COUNT] = {file, [1 ... KEEP_FD_COUNT - 1] = -1};
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* else its children go to init, and the new keeper with them */
    close(spawn_gated(1000, "exit 6"));
    pid_t pid = wait_for(SPAWNED).pid;
    kill(rig.keeper, SIGKILL);
    waitpid(rig.keeper, NULL, 0);
    wait_for(LOST);
    kill(rig.worker, SIGKILL); /* the relay; the test itself is the worker now, as far as the new keeper can see */
    waitpid(rig.worker, NULL, 0);
    struct err err = {0};
    char *args[] = {rig.self, (char *)"--keeper", rig.socket, NULL};
    assert_int_equal(keeper_respawn(rig.link, args, &err), 0);
    int pidfd = pidfd_open(pid, 0);
    link_listen(rig.link, file, false);
    link_hold(rig.link, 1000, fds);
    link_adopt(rig.link, 1000, pid, pidfd);
    close(spawn(1001, "exit 4"));
    struct event got = wait_for(EXITED);
    assert_true(got.session == 1001 && got.b == 4);
    link_ack(rig.link, 1001, got.pid, 0);
    link_flush(rig.link);
    open_gate();
    got = wait_for(EXITED);
    assert_true(got.session == 1000 && got.pid == pid);
    assert_true((got.a == CLD_EXITED && got.b == 6) || got.a == 0); /* exact or lost, by the kernel's age */
    link_ack(rig.link, 1000, pid, 0);
    link_flush(rig.link);
    rig.keeper = 0;
    close(pidfd);
    close(file);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static int teardown_ended(void **state)
{
    (void)state;
    if (rig.link)
        link_stop(rig.link);
    link_free(rig.link);
    rig.link = NULL;
    fd_close(&rig.relayed);
    close(rig.relay);
    unlink(rig.socket);
    lay_out(NULL);
    rmdir(rig.dir);
    return 0;
}

TEST(test_failed_start)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execl(rig.self, rig.self, "--no-start", "x", NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 75);
    rig.link = NULL;
    close(rig.relay);
    unlink(rig.socket);
    lay_out(NULL);
    rmdir(rig.dir);
}

/* A service manager's socket goes to the worker; what else was left open by whoever started the keeper is closed. */
TEST(test_inherited)
{
    int passed = memfd_create("passed", MFD_CLOEXEC), leak[2];
    assert_int_equal(pipe2(leak, O_CLOEXEC), 0);
    rig.keeper = fork();
    if (rig.keeper == 0) {
        char pid[16];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(pid, sizeof pid, "%d", (int)getpid());
        setenv("LISTEN_PID", pid, 1);
        setenv("LISTEN_FDS", "1", 1);
        int source = fcntl(passed, F_DUPFD, 50);
        dup2(source, 3);
        dup2(leak[1], 60);
        execl(rig.self, rig.self, "--keeper", rig.socket, NULL);
        _exit(127);
    }
    close(leak[1]);
    meet_worker();
    struct event got = wait_for(LISTENER);
    assert_true(same_file(got.a, passed));
    assert_int_equal(wait_for(HANDED).a, 1);
    assert_true(link_listener_given(rig.link));
    assert_true(readable(leak[0], clock_mono_ms() + PATIENCE_MS));
    char byte;
    assert_int_equal(read(leak[0], &byte, 1), 0);
    link_listen(rig.link, got.a, true); /* as it is, */
    link_flush(rig.link);
    close(got.a);
    kill_worker();
    close(wait_for(LISTENER).a);
    assert_true(link_listener_given(rig.link));
    link_listen(rig.link, passed, false); /* and one of the daemon's own */
    link_flush(rig.link);
    kill_worker();
    close(wait_for(LISTENER).a);
    assert_false(link_listener_given(rig.link));
    close(leak[0]);
    close(passed);
}

/* Keeper and worker are killed at once: nothing stays behind. */
enum { SENTINEL_ROUNDS = 200 };

TEST(test_sentinel)
{
    start_keeper("--keeper-with-sentinel", rig.self);
    meet_worker();
    wait_for(HANDED);
    for (int i = 0; i < SENTINEL_ROUNDS; i++) { /* more than its socket takes at once: it is woken now and then */
        close(spawn(2000 + (uint64_t)i, "exit 0"));
        struct event exited = wait_for(EXITED);
        link_ack(rig.link, exited.session, exited.pid, 0);
        link_drop(rig.link, exited.session);
    }
    int out = spawn(1000, "trap '' HUP; echo on; sleep 100");
    pid_t pid = wait_for(SPAWNED).pid;
    char on[3];
    assert_int_equal(fd_read_all(out, on, 3), 3);
    int pidfd = pidfd_open(pid, 0);
    kill(rig.keeper, SIGKILL);
    kill(rig.worker, SIGKILL);
    waitpid(rig.keeper, NULL, 0);
    assert_false(readable(pidfd, clock_mono_ms() + 300)); /* the test still has the worker's end */
    link_free(rig.link);
    rig.link = NULL;
    assert_true(readable(pidfd, clock_mono_ms() + PATIENCE_MS));
    close(pidfd);
    output(out);
    fd_close(&rig.relayed);
    close(rig.relay);
    unlink(rig.socket);
    lay_out(NULL);
    rmdir(rig.dir);
}

TEST(test_numbers)
{
    int number[4];
    assert_true(own_numbers("12:-1:0:71", number, 4));
    assert_true(number[0] == 12 && number[1] == -1 && number[2] == 0 && number[3] == 71);
    assert_true(own_numbers("7", number, 1));
    for (const char *const *bad = (const char *const[]){"", "x", "1:2:3", "1:2:3:4:5", "1:2:3:4x", "1::3:4", NULL}; *bad; bad++)
        assert_false(own_numbers(*bad, number, 4));
}

/* --- the roles of this executable -------------------------------------------------------------------------------------- */

static volatile sig_atomic_t terminated;
static void on_term(int signo) { terminated = signo; }

static int relay(const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct { pid_t pid; } hello = {getpid()};
    struct sigaction action = {.sa_handler = on_term};
    int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), link = KEEP_LINK_FD;
    strncpy(addr.sun_path, path, sizeof addr.sun_path - 1);
    sigset_t term, none;
    sigemptyset(&none);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL); /* it is heard in ppoll only */
    sigaction(SIGTERM, &action, NULL);
    if (connect(sock, (struct sockaddr *)&addr, sizeof addr) != 0 || fd_send(sock, &hello, sizeof hello, &link, 1, 0) < 0)
        return 1;
    struct pollfd over = {.fd = sock, .events = POLLIN};
    while (ppoll(&over, 1, NULL, &none) < 0 && errno == EINTR)
        if (terminated) {
            terminated = 0;
            send(sock, "term", 4, 0);
        }
    return 0;
}

static int keep(char **argv)
{
    const char *role = argv[1], *state = NULL, *link = NULL;
    if (strcmp(role, "--resume") == 0) {
        state = argv[2];
        argv += 2;
    } else if (strcmp(role, "--adopt") == 0) {
        link = argv[2];
        argv += 2;
    }
    role = argv[1];
    static char *worker[] = {NULL, (char *)"--relay", NULL, NULL}, *keeper[] = {NULL, (char *)"--keeper", NULL, NULL};
    static char *dying[] = {(char *)"sh", (char *)"-c", (char *)"kill -SEGV $$", NULL}, *leaving[] = {(char *)"sh", (char *)"-c", (char *)"exit 75", NULL};
    static char self[4096], place[4200];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    worker[0] = keeper[0] = self;
    worker[2] = keeper[2] = argv[2];
    const char *slash = argv[2] ? strrchr(argv[2], '/') : NULL; /* links lie beside the socket */
    if (slash)
        snprintf(place, sizeof place, "%.*s/muxd", (int)(slash - argv[2]), argv[2]);
    else
        snprintf(place, sizeof place, "%s", self);
    struct keeper_options options = {.worker_argv = worker, .keeper_argv = keeper, .worker_path = place, .ready_fd = -1,
                                     .sentinel = strcmp(role, "--keeper-with-sentinel") == 0};
    if (strcmp(role, "--bad-worker") == 0 || strcmp(role, "--no-start") == 0) {
        options.worker_path = "/bin/sh";
        options.worker_argv = role[2] == 'b' ? dying : leaving;
    }
    if (strcmp(role, "--unreadable") == 0) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "20:-1:%d:%d", EPROTO, KEEP_UPGRADE_STATE);
        if (strcmp(state, wanted) == 0)
            return WENT_BACK;
        keeper[1] = argv[1];
    }
    if (strcmp(role, "--trial") == 0)
        return keeper_trial(&options, argv[2]);
    if (state)
        return keeper_resume(&options, state);
    int number[2];
    if (!link)
        return keeper_run(&options);
    if (!own_numbers(link, number, 2))
        return 1;
    options.worker_exe = number[1];
    return keeper_adopt(&options, number[0]);
}

static int no_journals(int fd)
{
    (void)fd;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "--relay") == 0)
        return relay(argv[2]);
    if (argc >= 3 && strcmp(argv[1], "--check") == 0)
        return keeper_check((int)strtol(argv[2], NULL, 10));
    if (argc >= 3 && strcmp(argv[1], "--answer") == 0)
        return trial_answer_as_worker(argv[2], no_journals, true);
    if (argc >= 3 && strcmp(argv[1], "-c") == 0) /* the worker of --bad-worker, executed by descriptor */
        return raise(SIGSEGV);
    if (argc >= 3)
        return keep(argv);
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define BARE(fn) cmocka_unit_test_setup_teardown(fn, setup_bare, teardown)
#define ENDED(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown_ended) /* the test sees to the keeper's end */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots), cmocka_unit_test(test_numbers), CASE(test_exit_codes), CASE(test_failures), CASE(test_busy), CASE(test_exits_are_repeated), CASE(test_hand_over), CASE(test_full_table),
        CASE(test_back_off), ENDED(test_last_words), ENDED(test_gives_up_without_sessions), CASE(test_never_gives_up_sessions),
        ENDED(test_gives_up_its_socket_later), CASE(test_clean_children), CASE(test_many_at_once), CASE(test_orphan), CASE(test_drop_while_running),
        CASE(test_upgrade),
        BARE(test_upgrade_to_nothing), BARE(test_upgrade_to_no_keeper), BARE(test_upgrade_to_what_ends_well), BARE(test_upgrade_to_no_program),
        BARE(test_upgrade_to_one_that_lies), BARE(test_upgrade_to_bad_worker), cmocka_unit_test_setup(test_upgrade_unreadable, setup_bare),
        CASE(test_stop_signal), BARE(test_inherited), cmocka_unit_test_setup(test_failed_start, setup_bare), cmocka_unit_test_setup(test_sentinel, setup_bare),
        ENDED(test_respawn), /* the last: its keeper kills this process in the end */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
