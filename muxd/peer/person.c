/* person: owns the question whether a person is at the other end. All is asked of the process that
 * has connected, which a pidfd proves to be still the same: no other process can get its number
 * while we look. */
#include "peer/person.h"
#include "base/fdio.h"
#include "peer/internal.h"
#include "sys/mark.h"
#include "sys/peercred.h"
#include "sys/proc.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define TICK_MS (1000 / sysconf(_SC_CLK_TCK)) /* of proc_pid_stat(5) */
#define ALIAS_MAJOR 5 /* 0: /dev/tty; others, as the master of a pseudo-terminal, are refused */

/* As proc_pid_stat(5) writes a device's number. */
static unsigned encode(unsigned major_number, unsigned minor_number)
{
    return (minor_number & 0xff) | major_number << 8 | (minor_number & ~0xffu) << 12;
}

/* The number of the device behind the descriptor; 0: it is no terminal's. A file may lie on a file
 * system of the client's own: it is not asked for more than what the kernel knows by itself, so
 * that we never wait for it. */
static unsigned device_of(int fd)
{
    struct statx st;
    unsigned device;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) != 0 ||
        !S_ISCHR(st.stx_mode))
        return 0;
    if (st.stx_rdev_major != ALIAS_MAJOR)
        return encode(st.stx_rdev_major, st.stx_rdev_minor);
    return st.stx_rdev_minor == 0 && ioctl(fd, TIOCGDEV, &device) == 0 ? device : 0;
}

/* False: its hard limit is finite, which no unprivileged process can undo: it descends from a
 * session of some daemon, whatever else it has changed. */
static bool person_is_free(pid_t pid, bool *known)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    *known = pid > 0 && mark_limits(pid, &limit);
    return !*known || limit.rlim_max == RLIM_INFINITY;
}

/* The peer's process; -1: it has ended, or can't be named here. */
static int pidfd_of(const struct peer *peer, const struct proc_stat *stat)
{
    bool sure;
    int pidfd = peercred_pidfd(peer->fd, peer->pid, &sure);
    /* an old kernel: a process that began after the connection was made is another one */
    if (!sure && (int64_t)stat->start_ticks * TICK_MS > peer->since_boot_ms)
        fd_close(&pidfd);
    return pidfd;
}

static bool has_ended(int pidfd)
{
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    return pidfd < 0 || poll(&end, 1, 0) != 0;
}

static int look(const struct peer *peer, const struct proc_stat *stat, person_made_fn *made,
                void *arg, struct err *err)
{
    bool known;
    struct termios modes;
    unsigned device = device_of(peer->passed);
    if (device != 0 && (unsigned)stat->tty_nr != device)
        return err_set(err, ERR_DENIED, "process %d does not run on the terminal that it passed",
                       (int)peer->pid);
    if (device == 0 || tcgetattr(peer->passed, &modes) != 0) /* it fails once it is closed */
        return err_set(err, ERR_DENIED, "what the client passed is no open terminal");
    if (!person_is_free(peer->pid, &known) || !known)
        return err_set(err, ERR_DENIED,
                       known ? "process %d runs below a session (its RLIMIT_LOCKS is finite)"
                             : "the limits of process %d can't be read",
                       (int)peer->pid);
    if (made(arg, stat->session) || !person_is_free(stat->session, &known))
        return err_set(err, ERR_DENIED, "the terminal of process %d is that of a session",
                       (int)peer->pid);
    if (stat->pgrp != stat->tpgid)
        return err_set(err, ERR_DENIED,
                       "process %d runs in the background of its terminal; bring it to the front",
                       (int)peer->pid);
    return 0;
}

int person_check(struct peer *peer, person_made_fn *made, void *arg, struct err *err)
{
    struct proc_stat stat;
    if (!peer->passes)
        return err_set(err, ERR_DENIED, "the client passed no terminal");
    bool there = peer->pid > 0 && proc_stat(peer->pid, &stat);
    int pidfd = there ? pidfd_of(peer, &stat) : -1;
    int code = pidfd >= 0 ? look(peer, &stat, made, arg, err) : 0;
    if (has_ended(pidfd)) /* or all that was looked at may have been another one's */
        code = err_set(err, ERR_DENIED, "process %d has ended or can't be seen", (int)peer->pid);
    fd_close(&pidfd);
    return code;
}
