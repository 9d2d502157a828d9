/* Single looks at one terminal: what the kernel tells about the program behind it. */
#include "tests/lib/test.h"

#include "base/clock.h"
#include "base/fdio.h"
#include "sys/pty.h"
#include "sys/tty_state.h"
#include "sys/tty_survey.h"
#include "sys/tty_wait.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

struct tty {
    int master, slave;
    pid_t pid;
    struct tty_watch *watch;
    struct tty_look look;
};

static void make_raw(void)
{
    struct termios modes;
    tcgetattr(0, &modes);
    modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(0, TCSANOW, &modes);
}

static void start_as(struct tty *tty, void (*program)(void), bool confined)
{
    memset(tty, 0, sizeof *tty);
    assert_int_equal(pty_open(24, 80, &tty->master, &tty->slave, NULL), 0);
    tty->pid = fork();
    if (tty->pid == 0) {
        setsid();
        ioctl(tty->slave, TIOCSCTTY, 0);
        for (int fd = 0; fd < 3; fd++)
            dup2(tty->slave, fd);
        close(tty->master);
        program();
        _exit(0);
    }
    close(tty->slave);
    tty->watch = tty_watch_new(tty->master, tty->pid, confined);
}

static void start(struct tty *tty, void (*program)(void))
{
    start_as(tty, program, false);
}

static void stop(struct tty *tty)
{
    tty_watch_free(tty->watch);
    kill(-tty->pid, SIGKILL);
    waitpid(tty->pid, NULL, 0);
    close(tty->master);
}

static enum tty_wait look(struct tty *tty)
{
    char output[4096];
    while (read(tty->master, output, sizeof output) > 0)
        ;
    tty_watch_look(tty->watch, &tty->look);
    return tty->look.wait;
}

static void expect(struct tty *tty, enum tty_wait wanted)
{
    int64_t until = clock_mono_ms() + 60000;
    while (look(tty) != wanted && clock_mono_ms() < until)
        poll(NULL, 0, 1);
    assert_int_equal(tty->look.wait, wanted);
}

static void expect_never(struct tty *tty, enum tty_wait unwanted, int ms)
{
    int64_t until = clock_mono_ms() + ms;
    while (clock_mono_ms() < until) {
        assert_int_not_equal(look(tty), unwanted);
        poll(NULL, 0, 1);
    }
}

static void type(struct tty *tty, const char *text)
{
    tty_watch_mark(tty->watch);
    assert_int_equal(write(tty->master, text, strlen(text)), (ssize_t)strlen(text));
}

/* --- programs --- */

static void reads_lines(void)
{
    char line[100];
    while (read(0, line, sizeof line) > 0)
        ;
}

static void reads_once_then_sleeps(void)
{
    char line[100];
    if (read(0, line, sizeof line) > 0)
        pause();
}

static void reads_secret(void)
{
    struct termios modes;
    tcgetattr(0, &modes);
    modes.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(0, TCSANOW, &modes);
    reads_lines();
}

static void polls(int extra, int timeout_ms)
{
    char byte[100];
    struct pollfd fds[2] = {{.fd = 0, .events = POLLIN}, {.fd = extra, .events = POLLIN}};
    while (poll(fds, extra < 0 ? 1 : 2, timeout_ms) >= 0)
        if (fds[0].revents && read(0, byte, sizeof byte) <= 0)
            return;
}

static void raw_polls(void)
{
    make_raw();
    polls(-1, -1);
}

static void raw_polls_and_pipe(void)
{
    int pipe[2];
    make_raw();
    if (pipe2(pipe, 0) == 0)
        polls(pipe[0], -1);
}

static void raw_polls_and_socket(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return;
    make_raw();
    polls(pair[0], -1);
}

static void cooked_polls_and_socket(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
        polls(pair[0], -1);
}

/* A key, a line that it reads in cooked mode, and raw mode again, in which it answers keys. */
static void returns_to_raw(int extra, int timeout_ms)
{
    struct termios cooked;
    struct pollfd fds[2] = {{.fd = 0, .events = POLLIN}, {.fd = extra, .events = POLLIN}};
    char byte;
    tcgetattr(0, &cooked);
    make_raw();
    for (int i = 0; read(0, &byte, 1) == 1 && i < 2; i++) {
        if (i == 0) {
            tcsetattr(0, TCSANOW, &cooked);
            continue;
        }
        make_raw();
        while (poll(fds, extra < 0 ? 1 : 2, timeout_ms) > 0 && read(0, &byte, 1) == 1)
            if (write(1, "x", 1) != 1)
                return;
    }
}

static void returns_to_raw_with_a_socket(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
        returns_to_raw(pair[0], -1);
}

static void returns_to_raw_with_a_time(void)
{
    returns_to_raw(-1, 60000);
}

static void raw_polls_timed(void)
{
    make_raw();
    polls(-1, 60000);
}

static void raw_selects(void)
{
    char byte;
    fd_set set;
    make_raw();
    do {
        FD_ZERO(&set);
        FD_SET(0, &set);
    } while (select(1, &set, NULL, NULL, NULL) > 0 && read(0, &byte, 1) > 0);
}

static void raw_epolls(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0), wake = eventfd(0, 0);
    char byte;
    make_raw();
    epoll_ctl(set, EPOLL_CTL_ADD, 0, &event);
    epoll_ctl(set, EPOLL_CTL_ADD, wake, &event);
    while (epoll_wait(set, &event, 1, -1) > 0 && read(0, &byte, 1) > 0)
        ;
}

static void reads_other_terminal(void)
{
    int master, slave;
    char byte;
    if (pty_open(2, 2, &master, &slave, NULL) == 0 && read(slave, &byte, 1) > 0)
        pause();
}

static void receives(void)
{
    int pair[2];
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && read(pair[0], &byte, 1) > 0)
        pause();
}

static void child_reads(void)
{
    pid_t child = fork();
    if (child == 0) {
        reads_lines();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pause();
}

/* As bubblewrap: a reader in a pid namespace, below two that wait for its end. */
static void jails_a_reader(void)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        _exit(1);
    if (fork() == 0) {
        char cat[] = "cat", *argv[] = {cat, NULL}, *env[] = {NULL};
        posix_spawn(NULL, "/bin/cat", NULL, NULL, argv, env);
        wait(NULL);
        _exit(0);
    }
    wait(NULL);
}

/* and one above them, as muxd-confine where it makes names for the time being */
static void jails_a_reader_below(void)
{
    execl("/bin/sh", "sh", "-c", "unshare -U -p --fork sh -c 'cat; :'; :", NULL);
}

static void *thread_reads(void *arg)
{
    (void)arg;
    reads_lines();
    return NULL;
}

static void other_thread_reads(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_reads, NULL);
    pthread_join(thread, NULL);
}

/* The thread that reads hands its keys to an event loop, which has set itself an alarm, or not. */
static void thread_reads_for_a_loop(int limit_ms)
{
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0), wake = eventfd(0, 0);
    pthread_t thread;
    make_raw();
    epoll_ctl(set, EPOLL_CTL_ADD, wake, &event);
    pthread_create(&thread, NULL, thread_reads, NULL);
    while (epoll_wait(set, &event, 1, limit_ms) == 0)
        ;
}

static void thread_reads_for_a_loop_with_an_alarm(void)
{
    thread_reads_for_a_loop(300);
}

static void thread_reads_for_a_loop_that_waits(void)
{
    thread_reads_for_a_loop(-1);
}

static void closes_its_terminal(void)
{
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    pause();
}

/* --- tests --- */

TEST(test_line_read)
{
    struct tty tty;
    start(&tty, reads_lines);
    expect(&tty, TTY_LINE);
    assert_true(tty.look.canonical && tty.look.echo);
    assert_int_equal(tty.look.reader, tty.pid);
    assert_int_equal(tty.look.foreground, tty.pid);
    for (int i = 0; i < 300;
         i++) { /* straight after a write it is never ready before it has read */
        uint64_t before = tty.look.run_count;
        type(&tty, "line\n");
        for (;;) {
            tty_watch_look(tty.watch, &tty.look);
            if (tty.look.wait == TTY_LINE || tty.look.output_unread)
                break;
        }
        if (tty.look.wait == TTY_LINE)
            assert_true(tty.look.run_count != before);
        expect(&tty, TTY_LINE);
        assert_true(tty.look.run_count != before);
    }
    type(&tty, "half");
    expect(&tty, TTY_LINE);
    assert_false(tty.look.ran);
    stop(&tty);
}

TEST(test_typed_but_not_read)
{
    struct tty tty;
    start(&tty, reads_once_then_sleeps);
    expect(&tty, TTY_LINE);
    type(&tty, "first\n");
    expect_never(&tty, TTY_LINE, 60);
    assert_int_equal(tty.look.wait, TTY_BUSY);
    stop(&tty);
}

static void check(void (*program)(void), enum tty_wait wanted, bool line_editor)
{
    struct tty tty;
    start(&tty, program);
    expect(&tty, wanted);
    type(&tty, "x"); /* from now on the first change to raw mode doesn't count */
    expect(&tty, wanted);
    assert_int_equal(tty.look.line_editor, line_editor);
    assert_true(wanted != TTY_UNKNOWN || tty.look.why);
    stop(&tty);
}

TEST(test_kinds)
{
    check(reads_secret, TTY_SECRET, false);
    check(raw_polls, TTY_KEY, true);
    check(raw_polls_and_pipe, TTY_KEY, true);
    check(raw_selects, TTY_KEY, true);
    check(raw_polls_and_socket, TTY_KEY, false);
    check(raw_polls_timed, TTY_KEY, false);
    check(raw_epolls, TTY_KEY, false);
    check(thread_reads_for_a_loop_with_an_alarm, TTY_KEY, false);
    check(thread_reads_for_a_loop_that_waits, TTY_KEY, true);
    check(cooked_polls_and_socket, TTY_UNKNOWN, false);
}

/* What leaves raw mode, comes back and prints is a line editor, unless it waits for other things, too. */
TEST(test_raw_again)
{
    static void (*const programs[])(void) = {returns_to_raw_with_a_time, returns_to_raw_with_a_socket};
    for (int i = 0; i < 2; i++) {
        struct tty tty;
        start(&tty, programs[i]);
        expect(&tty, TTY_KEY);
        type(&tty, "k");
        expect(&tty, TTY_LINE);
        assert_int_equal(write(tty.master, "\n", 1), 1);
        expect(&tty, TTY_KEY);
        expect(&tty, TTY_KEY);
        assert_false(tty.look.line_editor);
        assert_int_equal(write(tty.master, "k", 1), 1);
        struct pollfd answer = {.fd = tty.master, .events = POLLIN};
        assert_int_equal(poll(&answer, 1, 60000), 1);
        tty_watch_output(tty.watch);
        expect(&tty, TTY_KEY);
        assert_int_equal(tty.look.line_editor, i == 0);
        stop(&tty);
    }
}

TEST(test_others)
{
    static void (*const busy[])(void) = {reads_other_terminal, receives, closes_its_terminal};
    struct tty tty;
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++) {
        start(&tty, busy[i]);
        poll(NULL, 0, 20); /* the time in which a wrong answer would come */
        expect_never(&tty, TTY_LINE, 60);
        assert_int_equal(tty.look.wait, TTY_BUSY);
        stop(&tty);
    }
}

/* Two sums must tell how much time the others had in between, whichever of them were at work when
 * they were taken. */
TEST(test_time_of_the_others)
{
    struct tty_thread threads[] = {
        {.pid = 2, .tid = 2, .sleep = TTY_SLEEP_ONLY, .cpu_ns = 1000},
        {.pid = 3, .tid = 3, .sleep = TTY_SLEEP_RUNNING, .cpu_ns = 20},
        {.pid = 4, .tid = 4, .sleep = TTY_SLEEP_ELSEWHERE, .cpu_ns = 300}};
    const struct tty_group group = {.threads = threads, .count = 3, .pgrp = 2};
    const struct tty_survey survey = {.reader = &threads[0], .others_running = true};

    assert_int_equal(tty_survey_others_ns(&survey, &group), 320);
    threads[2].sleep = TTY_SLEEP_RUNNING; /* woken, but not yet on a processor */
    assert_int_equal(tty_survey_others_ns(&survey, &group), 320);
}

TEST(test_other_readers)
{
    struct tty tty;
    start(&tty, child_reads);
    expect(&tty, TTY_LINE);
    assert_int_not_equal(tty.look.reader, tty.pid);
    type(&tty, "\4"); /* end of file: the child leaves, its parent doesn't read */
    expect_never(&tty, TTY_LINE, 60);
    stop(&tty);
    start(&tty, other_thread_reads);
    expect(&tty, TTY_LINE);
    assert_true(tty.look.needs_confirmation);
    assert_int_equal(tty.look.settle_us, 200);
    stop(&tty);
}

TEST(test_end)
{
    struct tty tty;
    char byte;
    start(&tty, reads_lines);
    expect(&tty, TTY_LINE);
    kill(tty.pid, SIGKILL);
    expect(&tty, TTY_BUSY);
    for (int i = 0; i < 60000 && !(read(tty.master, &byte, 1) < 0 && errno == EIO); i++)
        poll(NULL, 0, 1);
    assert_int_equal(errno, EIO);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(look(&tty), TTY_BUSY);
        assert_true(read(tty.master, &byte, 1) < 0 &&
                    errno == EIO); /* looking doesn't open it again */
    }
    tty_watch_leader_gone(tty.watch);
    assert_int_equal(look(&tty), TTY_BUSY);
    tty_watch_mark(tty.watch);
    stop(&tty);
}

TEST(test_unread_output)
{
    struct tty tty;
    start(&tty, reads_lines);
    expect(&tty, TTY_LINE);
    type(&tty, "half"); /* the kernel echoes it */
    for (int i = 0; i < 60000 && !tty.look.output_unread; i++)
        tty_watch_look(tty.watch, &tty.look);
    assert_true(tty.look.output_unread);
    assert_int_equal(tty.look.wait, TTY_BUSY);
    stop(&tty);
}

TEST(test_many_watches_share_descriptors)
{
    enum { COUNT = 130 };
    static struct tty ttys[COUNT];
    char path[32];
    int open = 0;
    fd_raise_nofile();
    for (int i = 0; i < COUNT; i++)
        start(&ttys[i], reads_lines);
    for (int i = 0; i < COUNT; i++)
        expect(&ttys[i], TTY_LINE);
    for (int fd = 0; fd < 2000; fd++) {
        char target[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, target, sizeof target - 1);
        open += length > 6 && strncmp(target, "/proc/", 6) == 0 &&
                memmem(target, (size_t)length, "task", 4) != NULL;
    }
    assert_true(open > 0 && open <= 2 * 96);
    for (int i = 0; i < COUNT; i++)
        expect(&ttys[i], TTY_LINE);
    for (int i = 0; i < COUNT; i++)
        stop(&ttys[i]);
}

TEST(test_cost_of_a_look)
{
    enum { LOOKS = 2000 };
    struct tty tty;
    start(&tty, reads_lines);
    expect(&tty, TTY_LINE);
    int64_t begin = clock_mono_ns();
    for (int i = 0; i < LOOKS; i++)
        tty_watch_look(tty.watch, &tty.look);
    print_message("a look: %.1f us\n", (double)(clock_mono_ns() - begin) / LOOKS / 1000);
    assert_int_equal(tty.look.wait, TTY_LINE);
    stop(&tty);
}

static bool can_jail(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0);
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static void expect_reader_alone(void (*program)(void), size_t all)
{
    struct tty tty;
    struct tty_group group;
    start_as(&tty, program, true);
    expect(&tty, TTY_LINE);
    tty_group_init(&group, 0);
    tty_group_scan(&group, tty.pid);
    assert_int_equal(group.count, all);
    tty_group_fini(&group);
    tty_group_init(&group, tty.pid);
    tty_group_scan(&group, tty.pid);
    assert_int_equal(group.count, 1);
    assert_int_equal(group.threads[0].pid, tty.look.reader);
    tty_group_fini(&group);
    stop(&tty);
}

/* What holds the program in a sandbox is no member of its group. */
TEST(test_jailers)
{
    if (!can_jail())
        skip();
    expect_reader_alone(jails_a_reader, 3);
    expect_reader_alone(jails_a_reader_below, 4);
    expect_reader_alone(reads_lines, 1); /* its program is the leader: Landlock */
}

TEST(test_decoding)
{
    char line[128];
    assert_int_equal(tty_wait_decode(getpid(), "running\n", 1), TTY_SLEEP_RUNNING);
    assert_int_equal(tty_wait_decode(getpid(), "-1 0x7ffd 0x7f9c\n", 1), TTY_SLEEP_RUNNING);
    assert_int_equal(tty_wait_decode(getpid(), "", 1), TTY_SLEEP_ELSEWHERE);
    snprintf(line, sizeof line, "%d 0xffffffff 0x0 0x0 0x0 0x0 0x0 0x1 0x2\n", (int)SYS_read);
    assert_int_equal(tty_wait_decode(getpid(), line, 1), TTY_SLEEP_ELSEWHERE);
    snprintf(line, sizeof line, "%d 0x8 0x1 0x0 0x0 0x0 0x0 0x1 0x2\n", (int)SYS_pselect6);
    assert_int_equal(tty_wait_decode(getpid(), line, 1),
                     TTY_SLEEP_REMOTE); /* its memory can't be read */
    snprintf(line, sizeof line, "%d 0xffffffffffffffff 0x1 0x0 0x0 0x0 0x0 0x1 0x2\n",
             (int)SYS_pselect6);
    assert_int_equal(tty_wait_decode(getpid(), line, 1), TTY_SLEEP_ELSEWHERE);
    snprintf(line, sizeof line, "%d 0x1 0xffffffff 0x0 0x0 0x0 0x0 0x1 0x2\n", (int)SYS_ppoll);
    assert_int_equal(tty_wait_decode(getpid(), line, 1), TTY_SLEEP_REMOTE);
    assert_int_equal(tty_wait_place("wait_woken"), TTY_PLACE_READ);
    assert_int_equal(tty_wait_place("poll_schedule_timeout.constprop.0"), TTY_PLACE_POLL);
    assert_int_equal(tty_wait_place("0"), TTY_PLACE_NONE);
    assert_int_equal(tty_wait_place("do_wait"), TTY_PLACE_ELSEWHERE);
}

TEST(test_selftest)
{
    assert_string_equal(tty_state_selftest(NULL), "kernel");
    assert_ptr_equal(tty_state_selftest(NULL), tty_state_selftest(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selftest),
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_line_read),
        cmocka_unit_test(test_typed_but_not_read),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_raw_again),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_time_of_the_others),
        cmocka_unit_test(test_other_readers),
        cmocka_unit_test(test_jailers),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_unread_output),
        cmocka_unit_test(test_many_watches_share_descriptors),
        cmocka_unit_test(test_cost_of_a_look),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
