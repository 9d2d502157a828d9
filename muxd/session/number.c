/* number.c: owns the file "next". It is replaced by rename(2) after fsync(2), under a lock, so that
 * two daemons with one state directory get different blocks and a power cut leaves the old or the
 * new content. A full disk has no room for another file, but for as many bytes in place of the old
 * ones. A number is given out only when its block is on disk. */
#include "session/number.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/value.h"
#include "sys/loop.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define FAST_MS 1000 /* two blocks within this time: the next is larger */
#define UNCOVERED_MAX                                                                              \
    (1u << 20) /* numbers that were given out without the disk; more is no truth */

struct number_job {        /* shared with a thread until `done`, which `lock` guards */
    struct number *number; /* NULL: its result has been taken */
    const char *dir;       /* borrowed: the number outlives the job */
    uint64_t at_least, size;
    struct number_block block;
    int error;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    bool done;
};

/* Negative errno; -EINVAL: it holds no number. No file: the first number. */
static int read_next(int dir, uint64_t *next)
{
    int fd = openat(dir, "next", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        *next = NUMBER_FIRST;
        return errno == ENOENT ? 0 : -errno;
    }
    char text[32];
    ssize_t n = read(fd, text, sizeof text - 1);
    int error = n < 0 ? -errno : 0;
    close(fd);
    if (error)
        return error;
    text[n] = 0;
    text[strcspn(text, "\n")] = 0;
    int64_t value;
    if (!value_int(text, NUMBER_FIRST, INT64_MAX / 2, &value))
        return -EINVAL;
    *next = (uint64_t)value;
    return 0;
}

/* Negative errno. */
static int write_number(int dir, const char *name, int flags, uint64_t next)
{
    int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags, 0600);
    if (fd < 0)
        return -errno;
    char text[32];
    int size = snprintf(text, sizeof text, "%llu\n", (unsigned long long)next);
    int error = 0;
    errno = ENOSPC; /* what a short write means on a disk */
    if (write(fd, text, (size_t)size) != size || fsync(fd) != 0)
        error = -errno;
    if (close(fd) != 0 && !error)
        error = -errno;
    return error;
}

static int write_next(int dir, uint64_t next)
{
    int error = write_number(dir, "next.new", O_CREAT | O_TRUNC, next);
    if (!error && (renameat(dir, "next.new", dir, "next") != 0 || fsync(dir) != 0))
        error = -errno;
    if (error)
        unlinkat(dir, "next.new", 0);
    return error && write_number(dir, "next", 0, next) == 0 ? 0 : error;
}

/* Opens the directory with its lock held; the lock goes with the descriptor. Negative errno. */
static int lock_dir(const char *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -errno;
    if (flock(dir, LOCK_EX) != 0) { /* held by others for one rename only */
        int error = -errno;
        close(dir);
        return error;
    }
    return dir;
}

static int reserve(const char *path, uint64_t at_least, uint64_t size, struct number_block *block)
{
    int dir = lock_dir(path);
    if (dir < 0)
        return dir;
    uint64_t on_disk = 0;
    int error = read_next(dir, &on_disk);
    uint64_t from = on_disk > at_least ? on_disk : at_least;
    if (!error)
        error = write_next(dir, from + size);
    close(dir);
    if (!error)
        *block = (struct number_block){from, from + size};
    return error;
}

/* --- ahead, in a thread --- */

static void reserve_in_thread(void *arg)
{
    struct number_job *job = arg;
    job->error = reserve(job->dir, job->at_least, job->size, &job->block);
    pthread_mutex_lock(&job->lock);
    job->done = true;
    pthread_cond_signal(&job->finished);
    pthread_mutex_unlock(&job->lock);
}

/* A job that failed is tried again with the next number. */
static void number_collect(struct number *number)
{
    struct number_job *job = number->job;
    BUG_UNLESS(job->number == number);
    if (!job->error)
        number->ahead = job->block;
    number->job = NULL;
    job->number = NULL;
}

static void number_free_job(struct number_job *job)
{
    pthread_cond_destroy(&job->finished);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

static void on_reserved(void *arg)
{
    struct number_job *job = arg;
    if (job->number)
        number_collect(job->number);
    number_free_job(job);
}

static void wait_for_job(struct number *number)
{
    struct number_job *job = number->job;
    pthread_mutex_lock(&job->lock);
    while (!job->done)
        pthread_cond_wait(&job->finished, &job->lock);
    pthread_mutex_unlock(&job->lock);
    number_collect(number);
}

static uint64_t next_size(const struct number *number, int64_t now_ms)
{
    if (!number->block || now_ms - number->asked_ms > FAST_MS)
        return NUMBER_BLOCK;
    return 2 * number->block < NUMBER_BLOCK_MAX ? 2 * number->block : NUMBER_BLOCK_MAX;
}

static void ask_ahead(struct number *number)
{
    if (!number->loop || number->job || number->ahead.end > number->next)
        return;
    int64_t now_ms = clock_mono_ms();
    struct number_job *job = xcalloc(1, sizeof *job);
    *job = (struct number_job){.number = number,
                               .dir = number->dir,
                               .size = next_size(number, now_ms),
                               .at_least = number->next > number->end ? number->next : number->end};
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->finished, NULL);
    if (loop_offload(number->loop, reserve_in_thread, on_reserved, job) != 0) {
        number_free_job(job);
        return;
    }
    number->block = job->size;
    number->asked_ms = now_ms;
    number->job = job;
}

/* --- */

int number_init(struct number *number, struct loop *loop, const char *state_dir, struct err *err)
{
    *number = (struct number){.next = NUMBER_FIRST, .loop = loop};
    int dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = dir < 0 ? -errno : read_next(dir, &number->next);
    if (dir >= 0)
        close(dir);
    number->dir = xstrdup(state_dir);
    if (error == -EINVAL)
        return err_set(err, ERR_SYSTEM,
                       "'%s/next' holds no session number; write the next one into it or remove it",
                       state_dir);
    if (error)
        return err_set(err, ERR_SYSTEM, "'%s/next' can't be read: %s; choose another [muxd] state",
                       state_dir, strerror(-error));
    return 0;
}

static void number_note(const struct number *number)
{
    if (!number->kept)
        return;
    if (atomic_load(&number->kept->end) != number->end) {
        /* a death between the two: nothing, rather than one number twice */
        atomic_store(&number->kept->next, UINT64_MAX);
        atomic_store(&number->kept->end, number->end);
    }
    atomic_store(&number->kept->next, number->next);
}

/* The disk had refused a block: the predecessor gave out numbers that the file does not cover. */
static void resume_uncovered(struct number *number, uint64_t next, uint64_t end)
{
    if (end <= number->next && next > number->next && next - number->next <= UNCOVERED_MAX)
        number->next = next;
}

/* The file covers each block that was reserved, and every session that exists has used its
 * number. */
static void resume(struct number *number)
{
    uint64_t next = atomic_load(&number->kept->next), end = atomic_load(&number->kept->end);
    resume_uncovered(number, next, end);
    if (next < NUMBER_FIRST || next >= end || end > number->next || end - next > NUMBER_BLOCK_MAX ||
        number->end > 0)
        return;
    number->next = next;
    number->end = end;
    number->low = end - next > NUMBER_BLOCK / 4 ? end - NUMBER_BLOCK / 4 : next;
}

void number_begin(struct number *number, struct number_kept *kept)
{
    number->kept = kept;
    if (kept)
        resume(number);
    if (number->next >= number->low)
        ask_ahead(number);
}

/* The first number of the unused end of what is reserved; number->end: nothing is unused. */
static uint64_t first_unused(const struct number *number, uint64_t *end)
{
    bool ahead = number->ahead.end > number->next, rest = number->next < number->end;
    *end = ahead ? number->ahead.end : number->end;
    if (!ahead || (rest && number->ahead.from == number->end))
        return rest ? number->next : number->end;
    return number->ahead.from > number->next ? number->ahead.from : number->next;
}

static void number_give_back(const char *path, uint64_t unused, uint64_t end)
{
    uint64_t on_disk;
    int dir = lock_dir(path);
    if (dir >= 0 && read_next(dir, &on_disk) == 0 && on_disk == end && write_next(dir, unused) != 0)
        log_info("unused session numbers up to %llu stay unused", (unsigned long long)end);
    fd_close(&dir);
}

/* Some were given out while the disk had refused them; it may have room now. */
static void number_cover(const char *path, uint64_t next)
{
    uint64_t on_disk;
    int dir = lock_dir(path);
    if (dir >= 0 && read_next(dir, &on_disk) == 0 && on_disk < next && write_next(dir, next) != 0)
        log_error("'%s/next' can't be written: session numbers up to %llu may come again", path,
                  (unsigned long long)next);
    fd_close(&dir);
}

void number_fini(struct number *number)
{
    if (number->job)
        loop_wait_offloaded(number->loop);
    uint64_t end, unused = first_unused(number, &end);
    if (number->dir && unused < end)
        number_give_back(number->dir, unused, end);
    else if (number->dir && number->next > end)
        number_cover(number->dir, number->next);
    free(number->dir);
    *number = (struct number){0};
}

static int begin_block(struct number *number)
{
    if (number->job)
        wait_for_job(number);
    int error = 0;
    if (number->ahead.end <= number->next)
        error = reserve(number->dir, number->next, NUMBER_BLOCK, &number->ahead);
    if (error)
        return error;
    if (number->next < number->ahead.from)
        number->next = number->ahead.from;
    number->end = number->ahead.end;
    number->low = number->next + (number->end - number->next) / 4;
    number->ahead = (struct number_block){0};
    return 0;
}

uint64_t number_take(struct number *number)
{
    int error = number->next >= number->end ? begin_block(number) : 0;
    if (error && !number->warned)
        log_error("'%s/next' can't be written: %s; until it can, session numbers may repeat after "
                  "a restart",
                  number->dir, strerror(-error));
    number->warned = error != 0;
    BUG_UNLESS(error || number->next < number->end);
    uint64_t taken = number->next++;
    number_note(number);
    if (!error && number->next >= number->low)
        ask_ahead(number);
    return taken;
}

void number_skip_past(struct number *number, uint64_t used)
{
    if (used < number->next)
        return;
    number->next = used + 1;
    number_note(number);
}
