/* archive_write.c: owns the files of the archive while they are written. A file is made new
 * (exclusive, no link is followed, 0600 in 0700) under another name; the owner of the queue
 * renames it once it is whole. */
#include "parts/archive/archive_write.h"
#include "base/bug.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int archive_unlink(int dir, const char *name)
{
    return unlinkat(dir, name, 0) == 0 || errno == ENOENT ? 0 : -errno;
}

static int archive_finish(int fd, int error)
{
    if (!error && fsync(fd) != 0)
        error = -errno;
    if (close(fd) != 0 && !error)
        error = -errno;
    return error;
}

static int archive_write(const struct archive_job *job)
{
    int error = archive_unlink(job->dir, job->name); /* a predecessor may have died here */
    if (error)
        return error;
    int fd = openat(job->dir, job->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    error = archive_finish(fd, journal_image_write(&job->image, fd));
    if (error)
        archive_unlink(job->dir, job->name);
    return error;
}

static int archive_note(const struct archive_job *job)
{
    int fd = openat(job->dir, job->name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno
                  : archive_finish(fd, journal_image_note(journal_image_header(&job->image), fd));
}

void archive_job_run(void *arg)
{
    struct archive_job *job = arg;
    BUG_UNLESS(job->dir >= 0 && *job->name);
    switch (job->kind) {
    case ARCHIVE_WRITE: job->error = archive_write(job); break;
    case ARCHIVE_NOTE: job->error = archive_note(job); break;
    case ARCHIVE_DELETE: job->error = archive_unlink(job->dir, job->name); break;
    }
}
