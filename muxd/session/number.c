/* number.c: owns the file "next". It is replaced by rename(2) after fsync(2), under a lock, so that two daemons with one state
 * directory get different blocks and a power cut leaves the old or the new content. */
#include "session/number.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/value.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

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

static int write_next(int dir, uint64_t next)
{
    int fd = openat(dir, "next.new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
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
    if (!error && (renameat(dir, "next.new", dir, "next") != 0 || fsync(dir) != 0))
        error = -errno;
    if (error)
        unlinkat(dir, "next.new", 0);
    return error;
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

static int reserve(struct number *number)
{
    int dir = lock_dir(number->dir);
    if (dir < 0)
        return dir;
    uint64_t on_disk = 0;
    int error = read_next(dir, &on_disk);
    uint64_t from = on_disk > number->next ? on_disk : number->next;
    if (!error)
        error = write_next(dir, from + NUMBER_BLOCK);
    close(dir);
    if (error)
        return error;
    number->next = from;
    number->end = from + NUMBER_BLOCK;
    return 0;
}

int number_init(struct number *number, const char *state_dir, struct err *err)
{
    *number = (struct number){.next = NUMBER_FIRST};
    int dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = dir < 0 ? -errno : read_next(dir, &number->next);
    if (dir >= 0)
        close(dir);
    if (error == -EINVAL)
        return err_set(err, ERR_SYSTEM, "'%s/next' holds no session number; write the next one into it or remove it", state_dir);
    if (error)
        return err_set(err, ERR_SYSTEM, "'%s/next' can't be read: %s; choose another [muxd] state", state_dir, strerror(-error));
    number->dir = xstrdup(state_dir);
    return 0;
}

void number_fini(struct number *number)
{
    int dir = number->dir && number->next < number->end ? lock_dir(number->dir) : -1;
    if (dir >= 0) {
        uint64_t on_disk;
        if (read_next(dir, &on_disk) == 0 && on_disk == number->end && write_next(dir, number->next) != 0)
            log_info("unused session numbers up to %llu stay unused", (unsigned long long)number->end);
        close(dir);
    }
    free(number->dir);
    *number = (struct number){0};
}

uint64_t number_take(struct number *number)
{
    int error = number->next >= number->end ? reserve(number) : 0;
    if (error && !number->warned)
        log_error("'%s/next' can't be written: %s; until it can, session numbers may repeat after a restart", number->dir,
                  strerror(-error));
    number->warned = error != 0;
    return number->next++;
}

void number_skip_past(struct number *number, uint64_t used)
{
    if (used >= number->next)
        number->next = used + 1;
}
