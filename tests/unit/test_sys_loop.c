/* The event loop: order, timers, handlers that free each other, signals. */
#include "tests/lib/test.h"
#include <poll.h>

#include "base/clock.h"
#include "sys/loop.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct pair {
    struct loop *loop;
    struct loop_io *io[2];
    int pipe[2][2], seen[2];
    unsigned events;
};

static void free_both(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        loop_io_free(pair->io[i]);
        pair->io[i] = NULL;
    }
}

static void first_sees(void *arg, unsigned events)
{
    struct pair *pair = arg;
    pair->seen[0]++;
    pair->events = events;
    free_both(pair);
}

static void second_sees(void *arg, unsigned events)
{
    struct pair *pair = arg;
    pair->seen[1]++;
    pair->events = events;
    free_both(pair);
}

TEST(test_handler_frees_itself_and_the_other)
{
    struct pair pair = {.loop = loop_new(NULL)};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pipe2(pair.pipe[i], O_CLOEXEC | O_NONBLOCK), 0);
        assert_int_equal(write(pair.pipe[i][1], "x", 1), 1);
        pair.io[i] = loop_io_new(pair.loop, pair.pipe[i][0], LOOP_READ, i ? second_sees : first_sees, &pair);
        assert_non_null(pair.io[i]);
    }
    assert_true(loop_turn(pair.loop, 1000));
    assert_int_equal(pair.seen[0] + pair.seen[1], 1);
    assert_int_equal(pair.events, LOOP_READ);
    assert_false(loop_turn(pair.loop, 0));
    for (int i = 0; i < 4; i++)
        close(pair.pipe[i / 2][i % 2]);
    loop_free(pair.loop);
}

/* The first one that is told leaves the other one nothing but room to write. */
static void narrow_the_other(struct pair *pair, int own, unsigned events)
{
    if (pair->seen[own]++ == 0 && pair->seen[!own] == 0)
        assert_int_equal(loop_io_set(pair->io[!own], LOOP_WRITE), 0);
    else
        pair->events = events;
}

static void first_narrows(void *arg, unsigned events)
{
    narrow_the_other(arg, 0, events);
}

static void second_narrows(void *arg, unsigned events)
{
    narrow_the_other(arg, 1, events);
}

TEST(test_handler_gets_what_it_still_wants)
{
    struct pair pair = {.loop = loop_new(NULL)};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.pipe[i]), 0);
        assert_int_equal(write(pair.pipe[i][1], "x", 1), 1);
        pair.io[i] = loop_io_new(pair.loop, pair.pipe[i][0], LOOP_READ | LOOP_WRITE, i ? second_narrows : first_narrows, &pair);
        assert_non_null(pair.io[i]);
    }
    assert_true(loop_turn(pair.loop, 1000));
    assert_int_equal(pair.events, LOOP_WRITE);
    free_both(&pair);
    for (int i = 0; i < 4; i++)
        close(pair.pipe[i / 2][i % 2]);
    loop_free(pair.loop);
}

static void count_events(void *arg, unsigned events)
{
    unsigned *seen = arg;
    seen[0]++;
    seen[1] = events;
}

TEST(test_pause_hangup_and_edge)
{
    struct loop *loop = loop_new(NULL);
    int pipe[2];
    unsigned seen[2] = {0, 0};
    assert_int_equal(pipe2(pipe, O_CLOEXEC | O_NONBLOCK), 0);
    struct loop_io *io = loop_io_new(loop, pipe[0], LOOP_READ | LOOP_EDGE, count_events, seen);
    assert_int_equal(write(pipe[1], "x", 1), 1);
    assert_true(loop_turn(loop, 1000));
    assert_false(loop_turn(loop, 0)); /* not read, and yet silent */
    assert_int_equal(seen[0], 1);
    assert_int_equal(loop_io_set(io, LOOP_READ), 0);
    assert_true(loop_turn(loop, 0));
    assert_int_equal(seen[0], 2);
    assert_int_equal(loop_io_set(io, 0), 0);
    close(pipe[1]);
    assert_false(loop_turn(loop, 0)); /* not even the hang-up */
    assert_int_equal(loop_io_set(io, LOOP_READ), 0);
    assert_true(loop_turn(loop, 0));
    assert_int_equal(seen[1], LOOP_READ | LOOP_HANGUP);
    loop_io_free(io);
    close(pipe[0]);
    loop_free(loop);
}

TEST(test_refused_descriptor)
{
    struct loop *loop = loop_new(NULL);
    char name[] = "/tmp/muxd-loop-XXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    errno = 0;
    assert_null(loop_io_new(loop, fd, LOOP_READ, count_events, NULL));
    assert_int_equal(errno, EPERM);
    close(fd);
    loop_free(loop);
}

enum { TIMERS = 500 };
static int64_t last_due;
static int fired;

static void on_timer(void *arg)
{
    struct loop_timer *timer = arg;
    assert_true(timer->due_ns >= last_due);
    assert_true(clock_mono_ns() >= timer->due_ns);
    assert_false(loop_timer_is_set(timer));
    last_due = timer->due_ns;
    fired++;
}

TEST(test_timers_fire_in_order)
{
    struct loop *loop = loop_new(NULL);
    static struct loop_timer timers[TIMERS];
    int64_t now = clock_mono_ns();
    unsigned seed = 7;
    fired = 0;
    last_due = 0;
    for (int i = 0; i < TIMERS; i++) {
        loop_timer_init(&timers[i], loop, on_timer, &timers[i]);
        loop_timer_set_ns(&timers[i], now + rand_r(&seed) % 20000000);
    }
    for (int i = 0; i < TIMERS; i += 3)
        loop_timer_stop(&timers[i]);
    for (int i = 1; i < TIMERS; i += 3)
        loop_timer_set_ns(&timers[i], now + rand_r(&seed) % 20000000);
    while (fired < TIMERS - (TIMERS + 2) / 3)
        assert_true(loop_turn(loop, 1000));
    assert_false(loop_turn(loop, 25));
    loop_free(loop);
}

static void set_again(void *arg)
{
    struct loop_timer *timer = arg;
    fired++;
    loop_timer_set_ms(timer, 0);
}

TEST(test_timer_that_sets_itself_yields)
{
    struct loop *loop = loop_new(NULL);
    struct loop_timer timer;
    loop_timer_init(&timer, loop, set_again, &timer);
    loop_timer_set_ms(&timer, 0);
    fired = 0;
    assert_true(loop_turn(loop, 100));
    assert_int_equal(fired, 1);
    loop_timer_stop(&timer);
    loop_free(loop);
}

static void note(void *arg)
{
    (void)arg;
    fired++;
}

TEST(test_short_timer_is_precise)
{
    struct loop *loop = loop_new(NULL);
    struct loop_timer timer;
    int64_t best = INT64_MAX;
    loop_timer_init(&timer, loop, note, NULL);
    for (int i = 0; i < 200; i++) {
        int64_t begin = clock_mono_ns();
        loop_timer_set_ns(&timer, begin + 100000);
        loop_turn(loop, -1);
        int64_t took = clock_mono_ns() - begin;
        best = took < best ? took : best;
    }
    assert_true(best >= 100000);
    /* Sub-millisecond needs epoll_pwait2(2); valgrind has none and says so by its environment. */
    if (!getenv("LD_PRELOAD") || !strstr(getenv("LD_PRELOAD"), "vgpreload"))
        assert_true(best < 900000);
    loop_free(loop);
}

static void once_more(void *arg)
{
    if (++fired == 1)
        loop_once_more(arg);
}

TEST(test_turn_end_and_once_more)
{
    struct loop *loop = loop_new(NULL);
    struct loop_timer timer;
    fired = 0;
    loop_at_turn_end(loop, once_more, loop);
    assert_false(loop_turn(loop, 0));
    assert_int_equal(fired, 0);
    loop_timer_init(&timer, loop, note, NULL);
    loop_timer_set_ms(&timer, 0);
    fired = -1;
    assert_true(loop_turn(loop, -1)); /* the timer, then the end of the turn asks for more */
    assert_int_equal(fired, 1);
    assert_true(loop_turn(loop, -1)); /* doesn't wait */
    assert_false(loop_turn(loop, 0));
    assert_int_equal(fired, 2);
    loop_free(loop);
}

static void stop(void *arg)
{
    loop_stop(arg);
}

TEST(test_signal_ends_run)
{
    struct loop *loop = loop_new(NULL);
    assert_int_equal(loop_signal(loop, SIGUSR1, stop, loop), 0);
    assert_false(loop_turn(loop, 0));
    kill(getpid(), SIGUSR1);
    loop_run(loop);
    loop_free(loop);
}

static void count(void *arg)
{
    ++*(int *)arg;
}

TEST(test_each_signal_has_its_own_handler)
{
    struct loop *loop = loop_new(NULL);
    int first = 0, second = 0;
    sigset_t mask;
    assert_int_equal(loop_signal(loop, SIGUSR1, count, &first), 0);
    assert_int_equal(loop_signal(loop, SIGUSR2, count, &second), 0);
    kill(getpid(), SIGUSR2);
    assert_true(loop_turn(loop, 1000));
    assert_int_equal(first, 0);
    assert_int_equal(second, 1);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    assert_true(loop_turn(loop, 1000));
    assert_int_equal(first, 1);
    assert_int_equal(second, 2);
    assert_false(loop_turn(loop, 0));
    loop_free(loop);
    /* One that comes while the process ends must not decide how it ends. */
    assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
    assert_true(sigismember(&mask, SIGUSR1) && sigismember(&mask, SIGUSR2));
}

static void work_nothing(void *arg)
{
    (void)arg;
}

static void work_done(void *arg)
{
    ((int *)arg)[0]++;
}

static void count_if_done(void *arg)
{
    int *seen = arg;
    if (seen[0] > seen[1])
        seen[1]++;
}

/* What was done on a thread before the loop waits: its end belongs to a turn, so that a reply it made is sent. */
TEST(test_offloaded_ends_in_a_turn)
{
    int seen[2] = {0};
    struct loop *loop = loop_new(NULL);
    loop_at_turn_end(loop, count_if_done, seen);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(loop_offload(loop, work_nothing, work_done, seen), 0);
        poll(NULL, 0, i % 2); /* time to end before the loop looks */
        while (seen[0] == i)
            assert_true(loop_turn(loop, 1000));
        assert_int_equal(seen[1], i + 1);
        assert_false(loop_turn(loop, 0));
    }
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offloaded_ends_in_a_turn),
        cmocka_unit_test(test_handler_frees_itself_and_the_other),
        cmocka_unit_test(test_handler_gets_what_it_still_wants),
        cmocka_unit_test(test_pause_hangup_and_edge),
        cmocka_unit_test(test_refused_descriptor),
        cmocka_unit_test(test_timers_fire_in_order),
        cmocka_unit_test(test_timer_that_sets_itself_yields),
        cmocka_unit_test(test_short_timer_is_precise),
        cmocka_unit_test(test_turn_end_and_once_more),
        cmocka_unit_test(test_signal_ends_run),
        cmocka_unit_test(test_each_signal_has_its_own_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
