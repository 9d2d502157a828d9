/* offload.c: owns the threads, the jobs that wait for one, and the finished jobs. */
#include "sys/offload.h"
#include "base/bug.h"
#include "base/mem.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define THREADS_MAX 4

struct job {
    STAILQ_ENTRY(job) next;
    loop_fn *work, *done;
    void *arg;
};
STAILQ_HEAD(jobs, job);

struct offload {
    loop_fn *wake;
    void *wake_arg;
    size_t count; /* jobs under way; only the loop's thread uses it */
    pthread_t threads[THREADS_MAX];
    size_t nthreads;
    /* under the lock */
    pthread_mutex_t lock;
    pthread_cond_t more, less; /* something to work on; something done */
    struct jobs waiting, finished;
    size_t nwaiting, idle;
    bool stopping;
};

static void *offload_run(void *arg)
{
    struct offload *offload = arg;
    struct job *job;
    pthread_mutex_lock(&offload->lock);
    while (!offload->stopping) {
        if (!(job = STAILQ_FIRST(&offload->waiting))) {
            offload->idle++;
            pthread_cond_wait(&offload->more, &offload->lock);
            offload->idle--;
            continue;
        }
        STAILQ_REMOVE_HEAD(&offload->waiting, next);
        offload->nwaiting--;
        pthread_mutex_unlock(&offload->lock);
        job->work(job->arg);
        pthread_mutex_lock(&offload->lock);
        STAILQ_INSERT_TAIL(&offload->finished, job, next);
        pthread_cond_signal(&offload->less);
        offload->wake(offload->wake_arg);
    }
    pthread_mutex_unlock(&offload->lock);
    return NULL;
}

struct offload *offload_new(loop_fn *wake, void *arg)
{
    BUG_UNLESS(wake);
    struct offload *offload = xcalloc(1, sizeof *offload);
    offload->wake = wake;
    offload->wake_arg = arg;
    STAILQ_INIT(&offload->waiting);
    STAILQ_INIT(&offload->finished);
    pthread_mutex_init(&offload->lock, NULL);
    pthread_cond_init(&offload->more, NULL);
    pthread_cond_init(&offload->less, NULL);
    return offload;
}

void offload_free(struct offload *offload)
{
    if (!offload)
        return;
    BUG_UNLESS(offload->count == 0);
    pthread_mutex_lock(&offload->lock);
    offload->stopping = true;
    pthread_cond_broadcast(&offload->more);
    pthread_mutex_unlock(&offload->lock);
    for (size_t i = 0; i < offload->nthreads; i++)
        pthread_join(offload->threads[i], NULL);
    pthread_cond_destroy(&offload->less);
    pthread_cond_destroy(&offload->more);
    pthread_mutex_destroy(&offload->lock);
    free(offload);
}

/* With all signals blocked: the loop handles them. */
static int offload_add_thread(struct offload *offload)
{
    BUG_UNLESS(offload->nthreads < THREADS_MAX);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&offload->threads[offload->nthreads], NULL, offload_run, offload);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    offload->nthreads += error == 0;
    return error;
}

int offload_put(struct offload *offload, loop_fn *work, loop_fn *done, void *arg)
{
    struct job *job = xcalloc(1, sizeof *job);
    *job = (struct job){.work = work, .done = done, .arg = arg};
    pthread_mutex_lock(&offload->lock);
    bool busy = offload->nwaiting >= offload->idle;
    int error = busy && offload->nthreads < THREADS_MAX ? offload_add_thread(offload) : 0;
    BUG_UNLESS(!offload->stopping);
    if (offload->nthreads > 0) { /* without a new thread the job waits for an old one */
        STAILQ_INSERT_TAIL(&offload->waiting, job, next);
        offload->nwaiting++;
        offload->count++;
        pthread_cond_signal(&offload->more);
        error = 0;
    }
    pthread_mutex_unlock(&offload->lock);
    if (error)
        free(job);
    return error;
}

size_t offload_finish(struct offload *offload, bool wait)
{
    struct jobs finished = STAILQ_HEAD_INITIALIZER(finished);
    struct job *job;
    size_t count = 0;
    pthread_mutex_lock(&offload->lock);
    while (wait && offload->count > 0 && STAILQ_EMPTY(&offload->finished))
        pthread_cond_wait(&offload->less, &offload->lock);
    STAILQ_CONCAT(&finished, &offload->finished);
    pthread_mutex_unlock(&offload->lock);
    while ((job = STAILQ_FIRST(&finished)) != NULL) {
        STAILQ_REMOVE_HEAD(&finished, next);
        BUG_UNLESS(offload->count > 0);
        offload->count--;
        job->done(job->arg);
        free(job);
        count++;
    }
    return count;
}

size_t offload_count(const struct offload *offload)
{
    return offload->count;
}
