/* sys/offload: work in threads, its end in the loop, and a kernel that gives no thread. */
#include "sys/offload.h"
#include "tests/lib/test.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#define JOBS 50

struct job {
    sem_t go;
    pthread_t worked_in;
    bool worked, done, masked;
};

static atomic_int woken;
static sem_t wakes;

static void wake(void *arg)
{
    (void)arg;
    woken++;
    sem_post(&wakes);
}

static void work(void *arg)
{
    struct job *job = arg;
    sigset_t mask;
    sem_wait(&job->go);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    job->masked = sigismember(&mask, SIGTERM) == 1;
    job->worked_in = pthread_self();
    job->worked = true;
}

static void done(void *arg)
{
    struct job *job = arg;
    assert_true(job->worked);
    job->done = true;
}

static int begin(void **state)
{
    *state = offload_new(wake, NULL);
    woken = 0;
    return sem_init(&wakes, 0, 0);
}

static int end(void **state)
{
    offload_free(*state);
    return sem_destroy(&wakes);
}

static void init(struct job *job, unsigned go)
{
    *job = (struct job){.worked = false};
    sem_init(&job->go, 0, go);
}

TEST(many_at_once)
{
    static struct job jobs[JOBS];
    struct offload *offload = *state;
    for (int i = 0; i < JOBS; i++) {
        init(&jobs[i], 0);
        assert_int_equal(offload_put(offload, work, done, &jobs[i]), 0);
    }
    assert_int_equal(offload_count(offload), JOBS);
    assert_int_equal(offload_finish(offload, false), 0);
    for (int i = 0; i < JOBS; i++)
        sem_post(&jobs[i].go);
    size_t finished = 0;
    while (offload_count(offload) > 0)
        finished += offload_finish(offload, true);
    assert_int_equal(finished, JOBS);
    for (int i = 0; i < JOBS; i++)
        assert_true(jobs[i].done && jobs[i].masked && !pthread_equal(jobs[i].worked_in, pthread_self()));
    assert_int_equal(offload_finish(offload, true), 0); /* nothing is waited for */
}

/* Up to so many that block don't hold up another. */
TEST(some_block)
{
    static struct job slow[3], quick;
    struct offload *offload = *state;
    for (int i = 0; i < 3; i++) {
        init(&slow[i], 0);
        assert_int_equal(offload_put(offload, work, done, &slow[i]), 0);
    }
    init(&quick, 1);
    assert_int_equal(offload_put(offload, work, done, &quick), 0);
    sem_wait(&wakes);
    assert_int_equal(offload_finish(offload, false), 1);
    assert_true(quick.done && !slow[0].worked);
    for (int i = 0; i < 3; i++)
        sem_post(&slow[i].go);
    while (offload_count(offload) > 0)
        offload_finish(offload, true);
    assert_int_equal(woken, 4);
}

/* A stack that no address space has room for: what a thread is refused with at the limit of processes, too. */
static void allow_threads(bool allowed)
{
    static size_t usual;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (usual == 0) {
        pthread_getattr_default_np(&attr);
        pthread_attr_getstacksize(&attr, &usual);
    }
    pthread_attr_setstacksize(&attr, allowed ? usual : (size_t)1 << 50);
    assert_int_equal(pthread_setattr_default_np(&attr), 0);
    pthread_attr_destroy(&attr);
}

TEST(none_can_be_had)
{
    static struct job first, second;
    struct offload *offload = *state;
    init(&first, 0);
    init(&second, 1);
    allow_threads(false);
    assert_int_equal(offload_put(offload, work, done, &first), EAGAIN);
    assert_int_equal(offload_count(offload), 0);
    allow_threads(true);
    assert_int_equal(offload_put(offload, work, done, &first), 0);
    allow_threads(false);
    assert_int_equal(offload_put(offload, work, done, &second), 0); /* waits for the one that there is */
    allow_threads(true);
    sem_post(&first.go);
    while (offload_count(offload) > 0)
        offload_finish(offload, true);
    assert_true(first.done && second.done && pthread_equal(first.worked_in, second.worked_in));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_at_once, begin, end),
        cmocka_unit_test_setup_teardown(some_block, begin, end),
        cmocka_unit_test_setup_teardown(none_can_be_had, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
