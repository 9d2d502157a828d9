/* archive_write.c: owns the files of the archive while they are written. Everything is made new (exclusive, no link is followed, 0600 in
 * 0700) beside its place; the owner of the queue moves it there once it is whole. */
#include "parts/archive/archive_write.h"
#include "base/fdio.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (32 * 1024) /* on the stack of a thread */

static int remove_entry(int dir, const char *name)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list) {
        int error = -errno;
        fd_close(&fd);
        return error;
    }
    const struct dirent *entry;
    while ((entry = readdir(list)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(list), entry->d_name, 0); /* what stays shows as ENOTEMPTY below */
    closedir(list);
    return unlinkat(dir, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
}

static int make_file(int dir, const char *name)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd;
}

static int write_whole(int fd, const void *data, size_t size)
{
    errno = ENOSPC; /* what a short write means on a disk */
    return fd_write_all(fd, data, size) == (ssize_t)size ? 0 : -errno;
}

static int finish_file(int fd, int error)
{
    if (!error && fsync(fd) != 0)
        error = -errno;
    if (close(fd) != 0 && !error)
        error = -errno;
    return error;
}

static int copy(int from, uint64_t at, uint64_t size, int to)
{
    char piece[PIECE_BYTES];
    while (size > 0) {
        ssize_t n = pread(from, piece, size < sizeof piece ? (size_t)size : sizeof piece, (off_t)at);
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        int error = write_whole(to, piece, (size_t)n);
        if (error)
            return error;
        at += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return 0;
}

/* The byte at offset o of a region that is a ring stands at o % size. */
static int copy_ring(int from, uint64_t region_at, uint64_t region_size, uint64_t offset, uint64_t size, int to)
{
    if (size == 0)
        return 0;
    uint64_t place = offset % region_size, first = region_size - place < size ? region_size - place : size;
    int error = copy(from, region_at + place, first, to);
    return error ? error : copy(from, region_at, size - first, to);
}

/* Programs left behind may still write: then the ring's oldest bytes go, and its tail tells so before they do. */
static int check_unmoved(const struct archive_job *job)
{
    uint64_t tail;
    if (pread(job->source.fd, &tail, sizeof tail, (off_t)job->source.tail_field) != (ssize_t)sizeof tail)
        return -EIO;
    return tail == (uint64_t)job->status.output_from ? 0 : -EAGAIN;
}

static int write_output(const struct archive_job *job, int dir)
{
    const struct archive_job_source *source = &job->source;
    const struct archive_status *status = &job->status;
    int fd = make_file(dir, "output");
    if (fd < 0)
        return fd;
    int error = copy_ring(source->fd, source->head_at, source->head_size, (uint64_t)status->saved_from, (uint64_t)status->saved_size, fd);
    if (!error)
        error = copy_ring(source->fd, source->ring_at, source->ring_size, (uint64_t)status->output_from,
                          (uint64_t)(status->output_to - status->output_from), fd);
    if (!error)
        error = check_unmoved(job);
    return finish_file(fd, error);
}

static int write_status(const struct archive_job *job, int dir, const char *name)
{
    struct buf text;
    int fd = make_file(dir, name);
    if (fd < 0)
        return fd;
    buf_init(&text, ARCHIVE_STATUS_MAX);
    archive_status_print(&job->status, &text);
    int error = finish_file(fd, write_whole(fd, text.data, text.len));
    buf_fini(&text);
    return error;
}

static int open_dir(const struct archive_job *job)
{
    int dir = openat(job->dir, job->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return dir < 0 ? -errno : dir;
}

static int write_new(const struct archive_job *job)
{
    int error = remove_entry(job->dir, job->name); /* a predecessor may have died here */
    if (!error && mkdirat(job->dir, job->name, 0700) != 0)
        error = -errno;
    int dir = error ? error : open_dir(job);
    if (dir < 0)
        return dir;
    error = write_output(job, dir);
    if (!error)
        error = write_status(job, dir, "status.ini");
    close(dir);
    if (error)
        remove_entry(job->dir, job->name);
    return error;
}

static int replace_status(const struct archive_job *job)
{
    int dir = open_dir(job);
    if (dir < 0)
        return dir;
    int error = remove_entry(dir, "status.new");
    if (!error)
        error = write_status(job, dir, "status.new");
    if (!error && renameat(dir, "status.new", dir, "status.ini") != 0)
        error = -errno;
    if (error)
        unlinkat(dir, "status.new", 0);
    close(dir);
    return error;
}

void archive_job_run(void *arg)
{
    struct archive_job *job = arg;
    switch (job->kind) {
    case ARCHIVE_WRITE: job->error = write_new(job); break;
    case ARCHIVE_STATUS: job->error = replace_status(job); break;
    case ARCHIVE_DELETE: job->error = remove_entry(job->dir, job->name); break;
    }
}
