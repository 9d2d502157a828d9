/* tty_wait: owns the knowledge of system calls that wait for a terminal. An unknown call counts as
 * "elsewhere", so that a program is taken for ready late rather than early. */
#include "sys/tty_wait.h"
#include "sys/tty_socket.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

enum { POLL_SET_MAX = 64 };

enum tty_wait_source tty_wait_source(pid_t tid, int fd, dev_t slave)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)tid, fd);
    if (stat(path, &st) < 0)
        return TTY_SOURCE_NONE;
    if (S_ISCHR(st.st_mode)) /* 5:0 is /dev/tty, the controlling terminal */
        return st.st_rdev == slave || st.st_rdev == makedev(5, 0) ? TTY_SOURCE_TTY
               : st.st_rdev == makedev(1, 3)                      ? TTY_SOURCE_NEUTRAL
                                                                  : TTY_SOURCE_OTHER;
    if (S_ISSOCK(st.st_mode))
        return tty_socket_is_local(tid, st.st_ino) ? TTY_SOURCE_OTHER : TTY_SOURCE_REMOTE;
    return TTY_SOURCE_NEUTRAL;
}

enum tty_wait_place tty_wait_place(const char *wchan)
{
    static const char *const polls[] = {"poll_schedule_timeout", "do_select", "do_poll",
                                        "do_sys_poll",           "ep_poll",   "do_epoll_wait"};

    if (!*wchan || strcmp(wchan, "0") == 0)
        return TTY_PLACE_NONE;
    if (strncmp(wchan, "wait_woken", 10) == 0 || strncmp(wchan, "n_tty_read", 10) == 0)
        return TTY_PLACE_READ;
    for (size_t i = 0; i < sizeof polls / sizeof *polls; i++)
        if (strncmp(wchan, polls[i], strlen(polls[i])) == 0)
            return TTY_PLACE_POLL;
    return TTY_PLACE_ELSEWHERE;
}

/* What a set of descriptors has, once all of them are added. */
struct set {
    bool tty, others, remote;
};

static void set_add(struct set *set, pid_t tid, int fd, dev_t slave)
{
    enum tty_wait_source source = tty_wait_source(tid, fd, slave);
    set->tty |= source == TTY_SOURCE_TTY;
    set->others |= source != TTY_SOURCE_TTY && source != TTY_SOURCE_NEUTRAL;
    set->remote |= source == TTY_SOURCE_REMOTE;
}

static enum tty_sleep set_verdict(const struct set *set, bool timed)
{
    if (!set->tty)
        return TTY_SLEEP_ELSEWHERE;
    if (set->others)
        return set->remote ? TTY_SLEEP_REMOTE : TTY_SLEEP_MIXED;
    return timed ? TTY_SLEEP_TIMED : TTY_SLEEP_ONLY;
}

bool tty_wait_memory(pid_t tid, unsigned long at, void *data, size_t size)
{
    struct iovec here = {data, size},
                 there = {(void *)at,
                          size}; // NOLINT(performance-no-int-to-ptr): an address of the sleeper
    return at && process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static enum tty_sleep decode_select(pid_t tid, const unsigned long *arg, dev_t slave)
{
    struct set set = {.tty = false};
    unsigned long words[3][FD_SETSIZE / (8 * sizeof(long))] = {{0}};
    size_t bits = 8 * sizeof(long), count = (size_t)(int)arg[0];

    if ((int)arg[0] <= 0 || count > FD_SETSIZE)
        return TTY_SLEEP_ELSEWHERE;
    for (int i = 0; i < 3; i++)
        if (arg[1 + i] &&
            !tty_wait_memory(tid, arg[1 + i], words[i], (count + bits - 1) / bits * sizeof(long)))
            return TTY_SLEEP_REMOTE; /* only a change of mode or silence can tell */
    for (size_t fd = 0; fd < count; fd++) {
        if (words[0][fd / bits] >> fd % bits & 1)
            set_add(&set, tid, (int)fd, slave);
        else if (words[1][fd / bits] >> fd % bits & 1)
            set.others = true; /* it wants to write something */
    }
    return set_verdict(&set, arg[4] != 0);
}

static enum tty_sleep decode_poll(pid_t tid, const unsigned long *arg, bool timed, dev_t slave)
{
    struct set set = {.tty = false};
    struct pollfd fds[POLL_SET_MAX];

    if (arg[1] == 0)
        return TTY_SLEEP_ELSEWHERE;
    if (arg[1] > POLL_SET_MAX || !tty_wait_memory(tid, arg[0], fds, arg[1] * sizeof *fds))
        return TTY_SLEEP_REMOTE;
    for (unsigned long i = 0; i < arg[1]; i++)
        if (fds[i].fd >= 0 && fds[i].events & (POLLIN | POLLRDNORM | POLLPRI))
            set_add(&set, tid, fds[i].fd, slave);
        else if (fds[i].fd >= 0 && fds[i].events)
            set.others = true;
    return set_verdict(&set, timed);
}

/* fdinfo lists the descriptors of an epoll set ("tfd: N events: HEX ..."). Here a pipe or eventfd
 * counts as another source: event loops get the results of their worker threads through them. */
static enum tty_sleep decode_epoll(pid_t tid, int epoll, bool timed, dev_t slave)
{
    struct set set = {.tty = false};
    char path[64], line[256];
    int fd;
    unsigned events;

    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)tid, epoll);
    FILE *file = fopen(path, "re");
    if (!file)
        return TTY_SLEEP_REMOTE;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "tfd: %d events: %x", &fd, &events) == 2 &&
            events & (EPOLLIN | EPOLLRDNORM | EPOLLPRI)) {
            set_add(&set, tid, fd, slave);
            set.others |= tty_wait_source(tid, fd, slave) == TTY_SOURCE_NEUTRAL;
        }
    fclose(file);
    return set_verdict(&set, timed);
}

enum tty_sleep tty_wait_decode(pid_t tid, const char *line, dev_t slave)
{
    unsigned long arg[6];
    long call;

    /* -1: blocked outside of a call, in a page fault */
    if (strncmp(line, "running", 7) == 0 || strncmp(line, "-1 ", 3) == 0)
        return TTY_SLEEP_RUNNING;
    if (sscanf(line, "%ld %lx %lx %lx %lx %lx %lx", &call, &arg[0], &arg[1], &arg[2], &arg[3],
               &arg[4], &arg[5]) != 7)
        return TTY_SLEEP_ELSEWHERE;
    switch (call) {
    case SYS_read:
    case SYS_readv:
        return tty_wait_source(tid, (int)arg[0], slave) == TTY_SOURCE_TTY ? TTY_SLEEP_ONLY
                                                                          : TTY_SLEEP_ELSEWHERE;
#ifdef SYS_select
    case SYS_select:
        return decode_select(tid, arg, slave);
#endif
    case SYS_pselect6:
        return decode_select(tid, arg, slave);
#ifdef SYS_poll
    case SYS_poll:
        return decode_poll(tid, arg, (int)arg[2] >= 0, slave);
#endif
    case SYS_ppoll:
        return decode_poll(tid, arg, arg[2] != 0, slave);
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        return decode_epoll(tid, (int)arg[0], (int)arg[3] >= 0, slave);
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
        return decode_epoll(tid, (int)arg[0], arg[3] != 0, slave);
#endif
    default:
        return TTY_SLEEP_ELSEWHERE;
    }
}
