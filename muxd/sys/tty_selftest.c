/* tty_selftest: owns the test whether this kernel tells what tty_state needs. It runs once, on a
 * terminal and a child of our own, before there are sessions and threads. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "sys/pty.h"
#include "sys/tty_state.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SELFTEST_MS = 1000,
    HIDDEN_MS = 50, /* a sleep that is hidden this long is hidden for good */
    PAUSE_NS = 50000
};

static const char forbidden[] =
    "degraded (what a program polls can't be read: Yama or another policy forbids it)";

/* The child: reads a line, then reads its pipe and not the terminal, then polls the terminal. */
static _Noreturn void selftest_child(int slave, const int gate[2])
{
    char byte[64];
    sigset_t none;

    close(gate[1]); /* so that the end of the parent ends the child */
    /* Programs of sessions are dumpable. The worker is not, and its child's state would be
     * hidden. */
    prctl(PR_SET_DUMPABLE, 1);
    signal(SIGHUP, SIG_DFL);
    signal(SIGTTOU, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0) < 0 || read(slave, byte, sizeof byte) <= 0)
        _exit(1);
    if (read(gate[0], byte, 1) <= 0)
        _exit(1);
    struct pollfd fd = {.fd = slave, .events = POLLIN};
    poll(&fd, 1, -1);
    _exit(0);
}

/* Reads what was printed, then looks. There is no event to wait for: the test is about whether the
 * kernel tells. */
static enum tty_wait look_again(struct tty_watch *watch, int master, struct tty_look *look)
{
    char echoed[64];
    struct pollfd fd = {.fd = master, .events = POLLIN};
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (ppoll(&fd, 1, &pause, NULL) > 0 && read(master, echoed, sizeof echoed) < 0 &&
        errno != EAGAIN)
        return TTY_BUSY;
    tty_watch_look(watch, look);
    return look->wait;
}

static bool reaches_line(struct tty_watch *watch, int master, struct tty_look *look)
{
    int64_t now = clock_mono_ms(), until = now + SELFTEST_MS, told_ms = now;
    while (look_again(watch, master, look) != TTY_LINE) {
        now = clock_mono_ms();
        if (look->wait != TTY_UNKNOWN)
            told_ms = now;
        if (now >= until || now - told_ms >= HIDDEN_MS)
            return false;
    }
    return true;
}

/* The child has read the typed line and now reads its pipe: it must not look as if it waited for
 * the terminal. */
static bool is_early(struct tty_watch *watch, int master, struct tty_look *look)
{
    int64_t until = clock_mono_ms() + SELFTEST_MS;
    for (int settled = 0; settled < 3 && clock_mono_ms() < until;) {
        if (look_again(watch, master, look) != TTY_BUSY)
            return true;
        settled += look->ran && !look->typed_unread && !look->output_unread;
    }
    return false;
}

static const char *try_all(struct tty_watch *watch, int master, int gate)
{
    struct tty_look look = {.wait = TTY_BUSY};

    if (!reaches_line(watch, master, &look))
        return look.why ? "degraded (the kernel hides where a program sleeps)"
                        : "degraded (a read of a terminal is not recognised)";
    tty_watch_mark(watch);
    if (fd_write_all(master, "x\n", 2) != 2)
        return "degraded (the trial terminal takes no input)";
    if (is_early(watch, master, &look))
        return "degraded (a program that has input to work on looks as if it waited)";
    if (fd_write_all(gate, "", 1) != 1)
        return "degraded (the trial program ended early)";
    if (!reaches_line(watch, master, &look))
        return forbidden;
    return "kernel";
}

/* *tried: the answer is final. */
static const char *selftest(bool *tried)
{
    int master = -1, slave = -1, gate[2] = {-1, -1};
    const char *answer = "unknown (no terminal for the trial)";

    if (pty_open(24, 80, &master, &slave, NULL) < 0)
        goto out;
    answer = "unknown (no descriptors for the trial)";
    if (pipe2(gate, O_CLOEXEC) < 0)
        goto out;
    answer = "unknown (no process for the trial)";
    pid_t child = fork();
    if (child == 0)
        selftest_child(slave, gate);
    fd_close(&gate[0]);
    fd_close(&slave);
    if (child < 0)
        goto out;
    struct tty_watch *watch = tty_watch_new(master, child, false);
    answer = try_all(watch, master, gate[1]);
    *tried = true;
    tty_watch_free(watch);
    kill(child, SIGKILL); /* our own child, not yet waited for */
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
out:
    fd_close(&gate[0]);
    fd_close(&gate[1]);
    fd_close(&slave);
    fd_close(&master);
    return answer;
}

static const char *known;

static void tty_selftest_keep(const char *answer)
{
    BUG_UNLESS(*answer);
    known = answer;
    if (strcmp(answer, forbidden) == 0)
        limit_met(LIMIT_READINESS, EACCES);
}

void tty_state_assume(const char *text)
{
    static char copy[200];
    snprintf(copy, sizeof copy, "%s", text);
    tty_selftest_keep(copy);
}

const char *tty_state_selftest(bool *is_known)
{
    bool tried = known;
    const char *answer = known ? known : selftest(&tried);
    if (tried)
        tty_selftest_keep(answer);
    if (is_known)
        *is_known = tried;
    return answer;
}
