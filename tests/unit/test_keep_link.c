/* test_keep_link.c: the worker's end of the link against a keeper that the test plays. */
#include "tests/lib/test.h"

#include "base/fdio.h"
#include "keep/link.h"
#include "keep/plan.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct seen {
    uint64_t session;
    pid_t pid;
    int fds[KEEP_FD_COUNT], fd, a, b, calls, lost, cut, missed, room;
} seen;

static void on_slot(void *arg, uint64_t session, pid_t pid, int fds[KEEP_FD_COUNT])
{
    (void)arg;
    seen.calls++;
    seen.session = session;
    seen.pid = pid;
    memcpy(seen.fds, fds, sizeof seen.fds);
}
static void on_listener(void *arg, int fd) { (void)arg; seen.calls++; seen.fd = fd; }
static void on_handed(void *arg, int generation) { (void)arg; seen.calls++; seen.a = generation; }
static void on_spawned(void *arg, uint64_t session, pid_t pid, int pidfd)
{
    (void)arg;
    seen.calls++;
    seen.session = session;
    seen.pid = pid;
    seen.fd = pidfd;
}
static void on_failed(void *arg, uint64_t session, int step, int error)
{
    (void)arg;
    seen.calls++;
    seen.session = session;
    seen.a = step;
    seen.b = error;
}
static void on_exited(void *arg, uint64_t session, pid_t pid, int code, int status)
{
    on_failed(arg, session, code, status);
    seen.pid = pid;
}
static void on_upgrade_failed(void *arg, int error) { (void)arg; seen.calls++; seen.a = error; }
static void on_lost(void *arg) { (void)arg; seen.lost++; }
static void on_cut(void *arg) { (void)arg; seen.cut++; }
static void on_missed(void *arg) { (void)arg; seen.missed++; }
static void on_room(void *arg) { (void)arg; seen.room++; }
static const struct link_handlers handlers = {.slot = on_slot, .listener = on_listener, .handed = on_handed, .spawned = on_spawned,
    .failed = on_failed, .exited = on_exited, .upgrade_failed = on_upgrade_failed, .lost = on_lost, .cut = on_cut, .missed = on_missed,
    .room = on_room};

static int keeper;
static struct link *link_of_test;

static int setup(void **state)
{
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    keeper = pair[0];
    link_of_test = link_new(pair[1], &handlers, NULL);
    seen = (struct seen){.fd = -1};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    link_free(link_of_test);
    fd_close(&keeper);
    return 0;
}

static bool same_file(int a, int b)
{
    struct stat one, two;
    return fstat(a, &one) == 0 && fstat(b, &two) == 0 && one.st_ino == two.st_ino && one.st_dev == two.st_dev;
}

static void say(struct keep_msg msg, const int *fds, size_t nfds)
{
    msg.size_and_protocol = sizeof msg << 16 | KEEP_PROTOCOL;
    assert_int_equal(fd_send(keeper, &msg, sizeof msg, fds, nfds, 0), sizeof msg);
    link_on_readable(link_of_test);
}

static struct keep_msg hear(int fds[FD_PASS_MAX], size_t *nfds)
{
    struct keep_msg msg = {0};
    *nfds = FD_PASS_MAX;
    assert_int_equal(fd_recv(keeper, &msg, sizeof msg, fds, nfds, MSG_DONTWAIT), sizeof msg);
    assert_int_equal(msg.size_and_protocol, sizeof msg << 16 | KEEP_PROTOCOL);
    return msg;
}

static struct keep_msg hear_plain(void)
{
    int got[FD_PASS_MAX];
    size_t n;
    struct keep_msg msg = hear(got, &n);
    for (size_t i = 0; i < n; i++)
        close(got[i]);
    return msg;
}

TEST(test_hold)
{
    int file[KEEP_FD_COUNT], got[FD_PASS_MAX], wanted = 0;
    size_t n;
    for (int tag = 0; tag < KEEP_FD_COUNT; tag++) {
        file[tag] = tag == KEEP_FD_MASTER || tag > FD_PASS_MAX ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
        wanted |= file[tag] >= 0 ? 1 << tag : 0;
    }
    link_hold(link_of_test, 1000, file);
    struct keep_msg msg = hear(got, &n);
    assert_int_equal(msg.type, KEEP_HOLD);
    assert_int_equal(msg.session, 1000);
    assert_int_equal(msg.arg[0], wanted);
    assert_int_equal(n, FD_PASS_MAX);
    for (size_t i = 0; i < n; i++)
        close(got[i]);
    for (int i = 0; i < KEEP_FD_COUNT; i++)
        fd_close(&file[i]);
}

TEST(test_slot)
{
    int file[2] = {open("/dev/null", O_RDONLY | O_CLOEXEC), open("/dev/zero", O_RDONLY | O_CLOEXEC)};
    say((struct keep_msg){.type = KEEP_SLOT, .session = 5, .pid = 77, .arg = {1 << KEEP_FD_JOURNAL | 1 << KEEP_FD_OUT}}, file, 2);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.pid, 77);
    assert_true(same_file(seen.fds[KEEP_FD_JOURNAL], file[0]));
    assert_true(same_file(seen.fds[KEEP_FD_OUT], file[1]));
    assert_true(fcntl(seen.fds[KEEP_FD_OUT], F_GETFD) & FD_CLOEXEC);
    assert_int_equal(seen.fds[KEEP_FD_MASTER], -1);
    close(seen.fds[KEEP_FD_JOURNAL]);
    close(seen.fds[KEEP_FD_OUT]);
    close(file[0]);
    close(file[1]);
}

TEST(test_words)
{
    say((struct keep_msg){.type = KEEP_HANDED, .arg = {0, 3, 11}}, NULL, 0);
    assert_int_equal(seen.a, 3);
    assert_int_equal(link_predecessor(link_of_test), 11);
    say((struct keep_msg){.type = KEEP_EXITED, .session = 9, .pid = 8, .arg = {1, 42}}, NULL, 0);
    assert_true(seen.session == 9 && seen.pid == 8 && seen.a == 1 && seen.b == 42);
    say((struct keep_msg){.type = KEEP_FAILED, .session = 10, .arg = {PLAN_EXEC, ENOENT}}, NULL, 0);
    assert_true(seen.session == 10 && seen.a == PLAN_EXEC && seen.b == ENOENT);
    say((struct keep_msg){.type = KEEP_SPAWNED, .session = 11, .pid = 12}, NULL, 0);
    assert_true(seen.session == 11 && seen.pid == 12 && seen.fd == -1);
    say((struct keep_msg){.type = KEEP_UPGRADE_FAILED, .arg = {ENOEXEC, KEEP_UPGRADE_TRIAL}}, NULL, 0);
    assert_int_equal(seen.a, ENOEXEC);
    assert_string_equal(link_upgrade_text(link_of_test), "run the new programs");
    assert_int_equal(seen.calls, 5);
    say((struct keep_msg){.type = 999}, NULL, 0); /* left alone */
    assert_int_equal(seen.calls, 5);
}

/* With a plan and stdio of its own, which become the link's. */
static void spawn(int session, const int held[KEEP_FD_COUNT])
{
    int fds[4];
    for (int i = 0; i < 4; i++)
        assert_true((fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0);
    link_spawn(link_of_test, (uint64_t)session, fds[0], fds + 1, held);
}

/* A keeper that doesn't read: everything waits, in order. */
TEST(test_queue)
{
    enum { COUNT = 2000 };
    for (int i = 0; i < COUNT; i++) {
        if (i % 100 == 0)
            spawn(i, NULL);
        else
            link_adopt(link_of_test, (uint64_t)i, 1, -1);
    }
    assert_true(link_wants_write(link_of_test));
    for (int i = 0; i < COUNT; i++) {
        int got[FD_PASS_MAX];
        size_t n;
        struct keep_msg msg = hear(got, &n);
        assert_int_equal(msg.session, i);
        assert_int_equal(msg.seq, i + 1);
        assert_int_equal(n, i % 100 == 0 ? 4 : 0);
        for (size_t j = 0; j < n; j++)
            close(got[j]);
        link_flush(link_of_test);
    }
    assert_false(link_wants_write(link_of_test));
}

static int lowest_free(void)
{
    int fd = dup(STDIN_FILENO);
    close(fd);
    return fd;
}

/* All descriptors but some are used up. A low RLIMIT_NOFILE would do the same, but it would also be the limit of what all
 * processes of this user have under way together, other tests' among them (unix(7), ETOOMANYREFS). */
#define DESCRIPTORS 4096 /* at most, so that they are used up soon */
static int filler[DESCRIPTORS], nfiller;

static void use_up_but(int left)
{
    int fd;
    while ((fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0) {
        assert_true(nfiller < DESCRIPTORS);
        filler[nfiller++] = fd;
    }
    assert_int_equal(errno, EMFILE);
    for (int i = 0; i < left; i++) /* the lowest ones */
        fd_close(&filler[i]);
}

static void give_back(void)
{
    while (nfiller > 0)
        fd_close(&filler[--nfiller]);
}

/* A start that waits takes one descriptor more for each that is held, and none when it is over. */
TEST(test_queued_start)
{
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC), free = lowest_free();
    const int held[KEEP_FD_COUNT] = {file, -1, file, [3 ... KEEP_FD_COUNT - 1] = -1};
    spawn(54, held); /* sent at once */
    assert_int_equal(lowest_free(), free);
    while (!link_wants_write(link_of_test))
        link_adopt(link_of_test, 1, 1, -1);
    use_up_but(4 + 2);
    spawn(55, held);
    assert_int_equal(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), -1); /* all taken, and no more needed */
    give_back();
    for (link_flush(link_of_test); link_wants_write(link_of_test); link_flush(link_of_test))
        hear_plain();
    assert_int_equal(seen.calls, 0);
    assert_int_equal(lowest_free(), free);
    close(file);
}

/* No descriptor left for the queue: the spawn fails with that reason, it isn't lost. */
TEST(test_no_descriptors)
{
    while (!link_wants_write(link_of_test))
        link_adopt(link_of_test, 1, 1, -1);
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC), free = lowest_free();
    const int held[KEEP_FD_COUNT] = {file, [1 ... KEEP_FD_COUNT - 1] = -1};
    use_up_but(4);
    spawn(55, held);
    give_back();
    link_flush(link_of_test);
    assert_true(seen.session == 55 && seen.a == PLAN_HAND_OVER && seen.b == EMFILE);
    assert_int_equal(lowest_free(), free);
    close(file);
}

/* A hand-over that finds no room: nothing of it is used, nothing stays open. Without a pidfd the worker can do. */
TEST(test_cut)
{
    int file[2] = {open("/dev/null", O_RDONLY | O_CLOEXEC), open("/dev/zero", O_RDONLY | O_CLOEXEC)}, free = lowest_free();
    use_up_but(1);
    say((struct keep_msg){.type = KEEP_SLOT, .session = 1000, .arg = {1 << KEEP_FD_JOURNAL | 1 << KEEP_FD_OUT}}, file, 2);
    assert_true(seen.cut == 1 && seen.calls == 0 && lowest_free() == free);
    give_back();
    use_up_but(0);
    say((struct keep_msg){.type = KEEP_SPAWNED, .session = 1000, .pid = 12}, file, 1);
    assert_true(seen.cut == 1 && seen.calls == 1 && seen.pid == 12 && seen.fd == -1);
    give_back();
    close(file[0]);
    close(file[1]);
}

/* Everything is given without a descriptor more here, as fast as the keeper takes it, after what was said before. */
TEST(test_give)
{
    enum { COUNT = 2000 };
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC), fds[KEEP_FD_COUNT] = {file, file, [2 ... KEEP_FD_COUNT - 1] = -1};
    int given = 0, heard = 0, got[FD_PASS_MAX];
    size_t n;
    use_up_but(0);
    for (bool shift = true; heard < COUNT; shift = !shift) {
        int before = given;
        if (shift) /* so that either message of the two is once the first without room */
            link_ack(link_of_test, 1000 + (uint64_t)heard, 11, 0);
        while (given < COUNT && link_give(link_of_test, 1000 + (uint64_t)given, fds, 77, file))
            given++;
        assert_true(given > before && (given == COUNT || link_wants_write(link_of_test)));
        give_back(); /* the keeper's */
        for (struct keep_msg msg; heard < given; heard += msg.type == KEEP_ADOPT) {
            msg = hear(got, &n);
            assert_true(msg.type == KEEP_ADOPT ? msg.pid == 77 && n == 1 : msg.type == KEEP_HOLD ? n == 2 : msg.type == KEEP_ACK);
            assert_int_equal(msg.session, 1000 + heard);
            for (size_t i = 0; i < n; i++)
                close(got[i]);
        }
        use_up_but(0);
        int rooms = seen.room;
        link_flush(link_of_test);
        assert_true(seen.room == rooms + 1);
    }
    give_back();
    assert_int_equal(seen.missed, 0);
    close(file);
}

/* The user's processes have too many descriptors under way. Calls meanwhile with the link; false: root has no such limit. */
static bool while_short(void (*meanwhile)(int file))
{
    int pair[2], file = open("/dev/null", O_RDONLY | O_CLOEXEC), many[FD_PASS_MAX] = {file, file, file, file, file, file, file, file};
    struct rlimit old, low;
    if (geteuid() == 0) {
        close(file);
        return false;
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    getrlimit(RLIMIT_NOFILE, &old);
    low = (struct rlimit){.rlim_cur = (rlim_t)lowest_free() + 8, .rlim_max = old.rlim_max};
    for (rlim_t sent = 0; sent <= low.rlim_cur; sent += FD_PASS_MAX)
        assert_int_equal(fd_send(pair[0], "x", 1, many, FD_PASS_MAX, 0), 1);
    setrlimit(RLIMIT_NOFILE, &low);
    meanwhile(file);
    setrlimit(RLIMIT_NOFILE, &old);
    close(file);
    close(pair[0]);
    close(pair[1]);
    return true;
}

static void adopt_while_short(int file)
{
    link_adopt(link_of_test, 1000, 11, file);
    assert_true(link_wants_write(link_of_test) && link_is_short(link_of_test));
}

/* The socket is ready, so it isn't waited for. */
TEST(test_short)
{
    if (!while_short(adopt_while_short))
        skip();
    link_flush(link_of_test);
    assert_false(link_wants_write(link_of_test) || link_is_short(link_of_test));
    assert_int_equal(hear_plain().type, KEEP_ADOPT);
    while (!link_wants_write(link_of_test))
        link_adopt(link_of_test, 1000, 11, -1);
    assert_false(link_is_short(link_of_test)); /* full by itself */
}

static void spawn_while_short(int file)
{
    const int held[KEEP_FD_COUNT] = {file, [1 ... KEEP_FD_COUNT - 1] = -1};
    use_up_but(4);
    spawn(55, held);
    give_back();
}

/* Nor is there a descriptor for the queue: what has to be raised is what the message waits for. */
TEST(test_short_and_no_descriptors)
{
    if (!while_short(spawn_while_short))
        skip();
    link_flush(link_of_test);
    assert_true(seen.session == 55 && seen.a == PLAN_HAND_OVER && seen.b == ETOOMANYREFS);
}

/* What can't be queued for lack of descriptors, and what the keeper had no room for, is told in the same way. */
TEST(test_missed)
{
    while (!link_wants_write(link_of_test))
        link_adopt(link_of_test, 1000, 1, -1);
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    use_up_but(0);
    link_listen(link_of_test, file, false);
    give_back();
    assert_int_equal(seen.missed, 0); /* not before the end of the turn */
    link_flush(link_of_test);
    assert_int_equal(seen.missed, 1);
    say((struct keep_msg){.type = KEEP_MISSED}, NULL, 0);
    assert_int_equal(seen.missed, 2);
    close(file);
}

/* Housekeeping is told last, but never after what came later about the same session. */
TEST(test_late)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    link_ack(link_of_test, 1, 11, 1 << KEEP_FD_ERR);
    link_drop(link_of_test, 2);
    spawn(3, (int[KEEP_FD_COUNT]){fd, -1, fd, fd, fd, [5 ... KEEP_FD_COUNT - 1] = -1});
    struct keep_msg msg = hear_plain();
    assert_true(msg.type == KEEP_SPAWN && msg.session == 3);
    assert_int_equal(msg.arg[0], 1 << KEEP_FD_JOURNAL | 1 << KEEP_FD_OUT | 1 << KEEP_FD_ERR | 1 << KEEP_FD_IN);
    link_adopt(link_of_test, 2, 22, -1);
    msg = hear_plain();
    assert_true(msg.type == KEEP_ACK && msg.session == 1 && msg.pid == 11 && msg.arg[0] == 1 << KEEP_FD_ERR);
    msg = hear_plain();
    assert_true(msg.type == KEEP_DROP && msg.session == 2 && msg.arg[0] == 0);
    assert_int_equal(hear_plain().type, KEEP_ADOPT);
    link_drop(link_of_test, 6);
    link_hurry(link_of_test);
    link_adopt(link_of_test, 7, 77, -1);
    msg = hear_plain();
    assert_true(msg.type == KEEP_DROP && msg.session == 6);
    assert_int_equal(hear_plain().session, 7);
    link_ack(link_of_test, 4, 44, 0);
    link_stop(link_of_test);
    assert_int_equal(hear_plain().type, KEEP_ACK);
    assert_int_equal(hear_plain().type, KEEP_STOP);
    link_ack(link_of_test, 5, 55, 0);
    link_flush(link_of_test);
    assert_int_equal(hear_plain().session, 5);
    close(fd);
}

TEST(test_lost_and_replaced)
{
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC), got[FD_PASS_MAX], exe = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    say((struct keep_msg){.type = KEEP_WAS, .arg = {1024, 0, -5, 7}}, (int[]){exe, file}, 2);
    fd_close(&keeper);
    link_on_readable(link_of_test);
    assert_int_equal(seen.lost, 1);
    assert_int_equal(link_fd(link_of_test), -1);
    assert_true(same_file(link_keeper_exe(link_of_test), exe)); /* what a new keeper is made from */
    close(exe);
    link_ack(link_of_test, 1, 1, 0);
    link_flush(link_of_test); /* goes nowhere, harms nobody */
    assert_false(link_wants_write(link_of_test));
    int pair[2];
    size_t n;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    keeper = pair[0];
    link_replace(link_of_test, pair[1]);
    struct keep_msg msg = hear(got, &n);
    assert_int_equal(msg.type, KEEP_WAS);
    assert_true(msg.arg[0] == 1024 && msg.arg[2] == -5 && msg.arg[3] == 7 && n == 1 && same_file(got[0], file));
    close(got[0]);
    link_adopt(link_of_test, 1000, 4242, file);
    msg = hear(got, &n);
    assert_true(msg.type == KEEP_ADOPT && msg.session == 1000 && msg.pid == 4242 && n == 1);
    close(got[0]);
    link_release(link_of_test, 1000, 1 << KEEP_FD_IN);
    link_flush(link_of_test);
    msg = hear(got, &n);
    assert_true(msg.type == KEEP_DROP && msg.arg[0] == 1 << KEEP_FD_IN);
    close(file);
}

/* A keeper that dies with words of ours unread: the kernel tells of that before it gives what the keeper had said. */
TEST(test_last_words)
{
    const struct keep_msg exited = {.size_and_protocol = sizeof exited << 16 | KEEP_PROTOCOL, .type = KEEP_EXITED, .session = 9, .pid = 8,
                                    .arg = {1, 42}};
    link_served(link_of_test);
    assert_int_equal(send(keeper, &exited, sizeof exited, 0), sizeof exited);
    fd_close(&keeper);
    link_on_readable(link_of_test);
    assert_true(seen.session == 9 && seen.a == 1 && seen.b == 42);
    assert_int_equal(seen.lost, 1);
}

int main(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
    setrlimit(RLIMIT_NOFILE, &limit);
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {CASE(test_hold), CASE(test_slot), CASE(test_words), CASE(test_queue), CASE(test_queued_start), CASE(test_no_descriptors),
                                       CASE(test_late), CASE(test_last_words),
                                       CASE(test_cut), CASE(test_give), CASE(test_short), CASE(test_short_and_no_descriptors), CASE(test_missed),
                                       CASE(test_lost_and_replaced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
