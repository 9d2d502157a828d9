/* Time limits of calls, and what they tell of the threads beside a reader. */
#include "tests/lib/test.h"

#include "base/clock.h"
#include "sys/tty_limit.h"
#include "sys/tty_survey.h"
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000 };

/* A call of our own, as the kernel would show it. */
static struct tty_limit of(long call, unsigned long a0, unsigned long a1, unsigned long a2, unsigned long a3, unsigned long a4)
{
    char line[208];
    snprintf(line, sizeof line, "%ld 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x0 0x7ffd 0x7f9c\n", call, a0, a1, a2, a3, a4);
    return tty_limit_of(getpid(), line);
}

static void limit_is(struct tty_limit limit, enum tty_call call, int64_t ns)
{
    assert_int_equal(limit.call, call);
    assert_int_equal(limit.ns, ns);
}

TEST(test_where_calls_have_their_limits)
{
    struct timespec span = {.tv_sec = 1, .tv_nsec = 5 * MS}, moment;
    struct timeval value = {.tv_sec = 2, .tv_usec = 7};
    unsigned long at = (unsigned long)(uintptr_t)&span;

    limit_is(of(SYS_ppoll, 0, 1, at, 0, 0), TTY_CALL_OTHER, 1005LL * MS);
    limit_is(of(SYS_ppoll, 0, 1, 0, 0, 0), TTY_CALL_OTHER, TTY_LIMIT_NONE);
    limit_is(of(SYS_ppoll, 0, 1, 1, 0, 0), TTY_CALL_OTHER, TTY_LIMIT_UNKNOWN); /* can't be read */
    limit_is(of(SYS_pselect6, 1, 0, 0, 0, at), TTY_CALL_OTHER, 1005LL * MS);
    limit_is(of(SYS_epoll_pwait, 3, 0, 1, 99, 0), TTY_CALL_EVENTS, 99LL * MS);
    limit_is(of(SYS_epoll_pwait, 3, 0, 1, 0xffffffff, 0), TTY_CALL_EVENTS, TTY_LIMIT_NONE);
    limit_is(of(SYS_rt_sigtimedwait, 0, 0, 0, 8, 0), TTY_CALL_WOKEN, TTY_LIMIT_NONE);
    limit_is(of(SYS_futex, 64, FUTEX_WAIT_PRIVATE, 0, at, 0), TTY_CALL_WOKEN, 1005LL * MS);
    limit_is(of(SYS_futex, 64, FUTEX_WAIT_PRIVATE, 0, 0, 0), TTY_CALL_WOKEN, TTY_LIMIT_NONE);
    limit_is(of(SYS_read, 0, 0, 0, 0, 0), TTY_CALL_OTHER, TTY_LIMIT_UNKNOWN);
#ifdef SYS_poll
    limit_is(of(SYS_poll, 0, 1, 250, 0, 0), TTY_CALL_OTHER, 250LL * MS);
    limit_is(of(SYS_select, 1, 0, 0, 0, (unsigned long)(uintptr_t)&value), TTY_CALL_OTHER, 2000007000);
#endif
    (void)value;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    moment.tv_sec += 1000; /* this call has a moment, not a span */
    struct tty_limit left = of(SYS_futex, 64, FUTEX_WAIT_BITSET_PRIVATE, 0, (unsigned long)(uintptr_t)&moment, 0);
    assert_true(left.ns > 0 && left.ns <= 1000000LL * MS);
    moment.tv_sec = 1;
    limit_is(of(SYS_futex, 64, FUTEX_WAIT_BITSET_PRIVATE, 0, (unsigned long)(uintptr_t)&moment, 0), TTY_CALL_WOKEN, 0);
    limit_is(tty_limit_of(getpid(), "running\n"), TTY_CALL_OTHER, TTY_LIMIT_UNKNOWN);
    limit_is(tty_limit_of(getpid(), ""), TTY_CALL_OTHER, TTY_LIMIT_UNKNOWN);
}

/* A reader and one more thread, which makes this call. */
static struct tty_group pair_of(struct tty_thread *threads, pid_t pid, long call, unsigned long operation, unsigned long limit)
{
    threads[0] = (struct tty_thread){.pid = 2, .tid = 2, .sleep = TTY_SLEEP_TIMED, .where_fd = -1};
    threads[1] = (struct tty_thread){.pid = pid, .tid = 3, .sleep = TTY_SLEEP_ELSEWHERE};
    snprintf(threads[1].where, sizeof threads[1].where, "%ld 0x3 0x%lx 0x1 0x%lx 0x0 0x0 0x7ffd 0x7f9c\n", call, operation, limit);
    return (struct tty_group){.threads = threads, .count = 2, .pgrp = 2};
}

static bool is_alone_beside(pid_t pid, long call, unsigned long operation, unsigned long limit)
{
    struct tty_thread threads[2];
    const struct tty_group group = pair_of(threads, pid, call, operation, limit);
    return tty_survey_reader_is_alone(&(struct tty_survey){.reader = &threads[0]}, &group);
}

static bool has_alarm_beside(pid_t reader, unsigned long limit_ms)
{
    struct tty_thread threads[2];
    const struct tty_group group = pair_of(threads, 2, SYS_epoll_pwait, 0, limit_ms);
    threads[0].tid = reader;
    return tty_survey_has_alarm(&(struct tty_survey){.reader = &threads[0]}, &group);
}

TEST(test_what_the_threads_beside_a_reader_can_do)
{
    assert_true(is_alone_beside(2, SYS_futex, FUTEX_WAIT_PRIVATE, 0));
    assert_false(is_alone_beside(2, SYS_futex, FUTEX_WAIT_PRIVATE, 1));  /* a limit, in memory that can't be read */
    assert_false(is_alone_beside(2, SYS_futex, FUTEX_LOCK_PI, 0));
    assert_false(is_alone_beside(4, SYS_futex, FUTEX_WAIT_PRIVATE, 0));  /* another process */
    assert_false(is_alone_beside(2, SYS_epoll_pwait, 0, 0xffffffff));    /* whatever its set has */
    assert_false(is_alone_beside(2, SYS_nanosleep, 0, 0));

    assert_true(has_alarm_beside(5, 99));
    assert_false(has_alarm_beside(2, 99)); /* the main thread reads */
    assert_false(has_alarm_beside(5, 0xffffffff));
    assert_false(has_alarm_beside(5, 60000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_calls_have_their_limits),
        cmocka_unit_test(test_what_the_threads_beside_a_reader_can_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
