/* tty_limit: owns the knowledge of where system calls have their time limit. An unknown call says
 * nothing. */
#include "sys/tty_limit.h"
#include "sys/tty_wait.h"
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

bool tty_limit_is_soon(int64_t limit_ns)
{
    return limit_ns >= 0 && limit_ns <= TTY_LIMIT_SOON_NS;
}

static int64_t of_ms(unsigned long ms)
{
    return (int)ms < 0 ? TTY_LIMIT_NONE : (int64_t)(int)ms * 1000000;
}

static int64_t ns_of(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static int64_t of_timespec(pid_t tid, unsigned long at)
{
    struct timespec time = {0};
    if (!at)
        return TTY_LIMIT_NONE;
    return tty_wait_memory(tid, at, &time, sizeof time) ? ns_of(&time) : TTY_LIMIT_UNKNOWN;
}

static int64_t of_timeval(pid_t tid, unsigned long at)
{
    struct timeval time = {0};
    if (!at)
        return TTY_LIMIT_NONE;
    if (!tty_wait_memory(tid, at, &time, sizeof time))
        return TTY_LIMIT_UNKNOWN;
    return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

/* a moment of this clock; what is left until then */
static int64_t of_moment(pid_t tid, unsigned long at, clockid_t clock)
{
    struct timespec now;
    int64_t moment = of_timespec(tid, at);
    if (moment < 0)
        return moment;
    if (clock_gettime(clock, &now) < 0)
        return TTY_LIMIT_UNKNOWN;
    return moment > ns_of(&now) ? moment - ns_of(&now) : 0;
}

/* futex(2): FUTEX_WAIT has a span, the others have a moment */
static int64_t of_futex(pid_t tid, const unsigned long *arg)
{
    int operation = (int)arg[1];
    clockid_t clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT: return of_timespec(tid, arg[3]);
    case FUTEX_WAIT_BITSET: return of_moment(tid, arg[3], clock);
    default: return TTY_LIMIT_UNKNOWN;
    }
}

static struct tty_limit limit_of_call(pid_t tid, long call, const unsigned long *arg)
{
    switch (call) {
#ifdef SYS_poll
    case SYS_poll: return (struct tty_limit){TTY_CALL_OTHER, of_ms(arg[2])};
#endif
    case SYS_ppoll: return (struct tty_limit){TTY_CALL_OTHER, of_timespec(tid, arg[2])};
#ifdef SYS_select
    case SYS_select: return (struct tty_limit){TTY_CALL_OTHER, of_timeval(tid, arg[4])};
#endif
    case SYS_pselect6: return (struct tty_limit){TTY_CALL_OTHER, of_timespec(tid, arg[4])};
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait: return (struct tty_limit){TTY_CALL_EVENTS, of_ms(arg[3])};
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2: return (struct tty_limit){TTY_CALL_EVENTS, of_timespec(tid, arg[3])};
#endif
    case SYS_futex: return (struct tty_limit){TTY_CALL_WOKEN, of_futex(tid, arg)};
    case SYS_rt_sigtimedwait: return (struct tty_limit){TTY_CALL_WOKEN, of_timespec(tid, arg[2])};
    default: return (struct tty_limit){TTY_CALL_OTHER, TTY_LIMIT_UNKNOWN};
    }
}

struct tty_limit tty_limit_of(pid_t tid, const char *line)
{
    unsigned long arg[6];
    long call;

    if (sscanf(line, "%ld %lx %lx %lx %lx %lx %lx", &call, &arg[0], &arg[1], &arg[2], &arg[3],
               &arg[4], &arg[5]) != 7)
        return (struct tty_limit){TTY_CALL_OTHER, TTY_LIMIT_UNKNOWN};
    return limit_of_call(tid, call, arg);
}
