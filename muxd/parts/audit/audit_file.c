/* audit_file: owns the file of the audit: its opening, its lines, its rotation. */
#include "parts/audit/audit_file.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "base/path.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK 65536
#define BEGIN_MAX 64 /* bytes that are looked for */

void audit_file_init(struct audit_file *file, const char *state_dir)
{
    *file = (struct audit_file){
        .path = path_join(state_dir, AUDIT_FILE_NAME), .fd = -1, .aside_fd = -1};
}

void audit_file_fini(struct audit_file *file)
{
    fd_close(&file->fd);
    fd_close(&file->aside_fd);
    free(file->path);
    file->path = NULL;
}

static char *aside(const struct audit_file *file, int number)
{
    return xasprintf("%s.%d", file->path, number);
}

/* What another one may read is no record: only the mode can be put right. */
static int audit_file_check(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EISDIR;
    if (st.st_uid != geteuid())
        return -EPERM;
    return st.st_mode & 077 && fchmod(fd, 0600) != 0 ? -errno : 0;
}

static int audit_file_open(struct audit_file *file)
{
    struct stat there, ours;
    if (file->fd >= 0 && lstat(file->path, &there) == 0 && fstat(file->fd, &ours) == 0 &&
        there.st_ino == ours.st_ino && there.st_dev == ours.st_dev)
        return 0;
    fd_close(&file->fd); /* another daemon has put it aside, or somebody has removed it */
    file->fd = open(file->path,
                    O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                    0600);
    int error = file->fd < 0 ? -errno : audit_file_check(file->fd);
    if (error)
        fd_close(&file->fd);
    return error;
}

/* Held for one append, and never waited for: the lines are whole without it. */
static bool audit_file_lock(const struct audit_file *file)
{
    return flock(file->fd, LOCK_EX | LOCK_NB) == 0;
}

/* The oldest first, so that whoever dies in between leaves a gap in the numbers and loses no
 * file. */
static bool put_aside(const struct audit_file *file, int files)
{
    for (int i = files; i >= 1; i--) {
        char *from = i > 1 ? aside(file, i - 1) : xstrdup(file->path), *to = aside(file, i);
        bool gone = rename(from, to) == 0 || errno == ENOENT;
        free(from);
        free(to);
        if (!gone)
            return false;
    }
    for (int i = files + 1, left = 1; left; i++) { /* fewer are kept than before */
        char *path = aside(file, i);
        left = unlink(path) == 0;
        free(path);
    }
    return true;
}

/* Puts the file aside when the line doesn't fit. When that fails, the line goes where it was. */
static int make_way(struct audit_file *file, size_t size, const struct audit_file_caps *caps,
                    bool *locked)
{
    struct stat st;
    if (!*locked || fstat(file->fd, &st) != 0 || st.st_size == 0 ||
        st.st_size + (int64_t)size <= caps->bytes || !put_aside(file, caps->files))
        return 0;
    flock(file->fd, LOCK_UN);
    fd_close(&file->aside_fd);
    file->aside_fd = file->fd;
    file->fd = -1;
    int error = audit_file_open(file);
    *locked = !error && audit_file_lock(file);
    return error;
}

/* Somebody who died left a part of a line: ours begins on a new one. */
static bool is_torn(const struct audit_file *file, off_t end)
{
    char last = '\n';
    return end > 0 && pread(file->fd, &last, 1, end - 1) == 1 && last != '\n';
}

static int audit_file_write(const struct audit_file *file, const char *line, size_t size,
                            bool locked)
{
    struct stat st;
    if (fstat(file->fd, &st) != 0)
        return -errno;
    char newline[] = "\n", *text = (char *)(uintptr_t)line; /* writev(2) doesn't change it */
    bool torn = is_torn(file, st.st_size);
    struct iovec parts[] = {{newline, torn}, {text, size}};
    ssize_t wanted = (ssize_t)(torn + size), done;
    do
        done = writev(file->fd, parts, 2);
    while (done < 0 && errno == EINTR);
    if (done == wanted)
        return 0;
    if (done < 0)
        return -errno;
    /* no room for the rest; without the lock another one's line may follow, and what is there
     * stays a torn one */
    if (locked && ftruncate(file->fd, st.st_size) != 0)
        return -errno;
    return -ENOSPC;
}

int audit_file_append(struct audit_file *file, const char *line, size_t size,
                      const struct audit_file_caps *caps)
{
    BUG_UNLESS(size > 0 && line[size - 1] == '\n' && caps->files >= 1);
    int error = audit_file_open(file);
    if (error)
        return error;
    bool locked = audit_file_lock(file);
    error = make_way(file, size, caps, &locked);
    if (!error)
        error = audit_file_write(file, line, size, locked);
    if (locked)
        flock(file->fd, LOCK_UN);
    return error;
}

static bool has_line(const char *path, const char *begin)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    size_t want = strlen(begin), kept = 0;
    char block[BEGIN_MAX + BLOCK], wanted[BEGIN_MAX];
    BUG_UNLESS(want + 1 < BEGIN_MAX);
    block[kept++] = '\n'; /* each line begins behind one */
    snprintf(wanted, sizeof wanted, "\n%s", begin);
    bool found = false;
    for (ssize_t got; fd >= 0 && !found && (got = fd_read_all(fd, block + kept, BLOCK)) > 0;) {
        size_t size = kept + (size_t)got;
        found = memmem(block, size, wanted, want + 1);
        kept = size < want ? size : want;
        memmove(block, block + size - kept, kept);
    }
    fd_close(&fd);
    return found;
}

bool audit_file_has(const struct audit_file *file, const char *begin)
{
    char *before = aside(file, 1);
    bool found = has_line(file->path, begin) || has_line(before, begin);
    free(before);
    return found;
}
