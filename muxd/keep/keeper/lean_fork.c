/* lean_fork.c: owns the sockets through which children get their descriptors. fork(2) copies the
 * whole table of descriptors, and the child has to close what it must not keep: with a thousand
 * sessions that takes as long as the rest of the start. So a child shares the keeper's table until
 * its first step gives it a table of its own with the low numbers only (CLOSE_RANGE_UNSHARE of
 * close_range(2)). One of these is a socket in which the descriptors wait that it needs. The keeper
 * does not wait for the child: descriptors in a socket take no room in any table. */
#include "keep/keeper/lean_fork.h"
#include "base/bug.h"
#include "base/fdio.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LANES 8     /* children between fork and exec at a time; more are made by fork(2) */
#define LOW_MAX 256 /* numbers that a child may copy only to close them */

struct lane {
    int in, out; /* out: a low number. /dev/null until first used */
    bool busy;
};
static struct lane lanes[LANES];
static unsigned beyond; /* the first number that is not low; 0: lean_fork can't be used */

static bool make(struct lane *lane)
{
    int pair[2];
    if (lane->in >= 0)
        return true;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    if (dup3(pair[1], lane->out, O_CLOEXEC) >= 0)
        lane->in = pair[0];
    else
        close(pair[0]);
    close(pair[1]);
    return lane->in >= 0;
}

/* /dev/null keeps its number. */
static void unmake(struct lane *lane)
{
    if (dup3(STDIN_FILENO, lane->out, O_CLOEXEC) >= 0)
        fd_close(&lane->in);
}

void lean_fork_init(void)
{
    int highest = -1;
    if (lanes[0].out > 0) /* the keeper's second try to begin */
        return;
    for (int i = 0; i < LANES; i++) {
        int out = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        lanes[i] = (struct lane){.in = -1, .out = out};
        highest = out < 0 ? LOW_MAX : out > highest ? out : highest;
    }
    /* closes nothing; kernels before 5.9 and valgrind don't know it */
    if (highest < LOW_MAX && close_range(UINT_MAX, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0)
        beyond = make(&lanes[0]) ? (unsigned)highest + 1 : 0; /* the others are rarely needed */
}

/* A child that died early has left its descriptors there. */
static void lean_fork_empty(const struct lane *lane)
{
    char byte;
    int fds[LEAN_FORK_FDS];
    size_t count = LEAN_FORK_FDS;
    while (fd_recv(lane->out, &byte, 1, fds, &count, MSG_DONTWAIT) > 0) {
        for (size_t i = 0; i < count; i++)
            fd_close(&fds[i]);
        count = LEAN_FORK_FDS;
    }
}

static void lean_fork_take(const struct lane *lane, int fds[LEAN_FORK_FDS])
{
    char byte;
    size_t count = LEAN_FORK_FDS;
    if (close_range(beyond, UINT_MAX, CLOSE_RANGE_UNSHARE) != 0 ||
        fd_recv(lane->out, &byte, 1, fds, &count, MSG_DONTWAIT) != 1 || count != LEAN_FORK_FDS)
        _exit(127);
}

pid_t lean_fork(int fds[LEAN_FORK_FDS], int *place)
{
    struct clone_args how = {.flags = CLONE_FILES, .exit_signal = SIGCHLD};
    int at = 0;
    BUG_UNLESS(*place < 0);
    while (at < LANES && lanes[at].busy)
        at++;
    if (beyond == 0 || at == LANES || !make(&lanes[at]) ||
        fd_send(lanes[at].in, "", 1, fds, LEAN_FORK_FDS, MSG_DONTWAIT) != 1)
        return -1;
    /* without libc: we need nothing of what it does around a fork */
    pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof how);
    if (pid == 0)
        lean_fork_take(&lanes[at], fds);
    else if (pid > 0) {
        lanes[at].busy = true;
        *place = at;
    } else {
        if (errno == ENOSYS || errno == EPERM) /* a strict seccomp filter */
            beyond = 0;
        lean_fork_empty(&lanes[at]);
    }
    return pid;
}

void lean_fork_over(int *place)
{
    if (*place < 0)
        return;
    BUG_UNLESS(*place < LANES && lanes[*place].busy);
    lean_fork_empty(&lanes[*place]);
    lanes[*place].busy = false;
    if (*place > 0)
        unmake(&lanes[*place]);
    *place = -1;
}
