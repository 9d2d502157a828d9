/* recorder_file: owns the files of recordings and the notes beside them. Files are made new,
 * exclusively, for us alone, and no link is followed. The worker that writes a note holds a lock
 * on it. */
#include "parts/record/recorder_file.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "parts/record/recorder_tidy.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTE_MAGIC 0x63657275u /* "urec" */
#define NOTE_VERSION 1
#define SAME_NAME_MAX 1000

struct recorder_file *recorder_file_new(const char *state_dir, uint64_t number, const char *path,
                                        int format, bool input)
{
    struct recorder_file *file = xcalloc(1, sizeof *file);
    file->dir = path_join(state_dir, RECORDER_DIR);
    file->fd = file->note_fd = -1;
    file->note = (struct recorder_note){.magic = NOTE_MAGIC,
                                        .version = NOTE_VERSION,
                                        .number = number,
                                        .format = (uint32_t)format,
                                        .input = input,
                                        .given = path != NULL};
    snprintf(file->note.path, sizeof file->note.path, "%s", path ? path : "");
    return file;
}

void recorder_file_free(struct recorder_file *file)
{
    if (!file)
        return;
    fd_close(&file->fd);
    fd_close(&file->note_fd);
    free(file->dir);
    free(file);
}

void recorder_file_part(const struct recorder_note *note, unsigned part,
                        char out[RECORDER_PATH_MAX])
{
    BUG_UNLESS(memchr(note->path, '\0', sizeof note->path));
    size_t len = strlen(note->path), tail = strlen(RECORDER_EXTENSION);
    bool ends = len > tail && strcmp(note->path + len - tail, RECORDER_EXTENSION) == 0;
    int kept = (int)(ends ? len - tail : len);
    if (part <= 1)
        snprintf(out, RECORDER_PATH_MAX, "%s", note->path);
    else
        snprintf(out, RECORDER_PATH_MAX, "%.*s.%u%s", kept, note->path, part,
                 ends ? RECORDER_EXTENSION : "");
}

static char *note_path(const struct recorder_file *file)
{
    return xasprintf("%s/.%llu%s", file->dir, (unsigned long long)file->note.number,
                     RECORDER_NOTE_EXTENSION);
}

/* fresh: makes it, or empties it once the lock is ours: until then it is another worker's. */
static int note_open(struct recorder_file *file, bool fresh)
{
    char *path = note_path(file);
    int fd = open(path,
                  O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (fresh ? O_CREAT : 0),
                  0600);
    if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) != 0 || (fresh && ftruncate(fd, 0) != 0)))
        fd_close(&fd);
    free(path); /* errno stays (free(3)) */
    return file->note_fd = fd;
}

/* Only the place changes often. It stands in the first page, and a write of that is seen whole
 * or not at all. */
static int note_write(struct recorder_file *file, bool whole)
{
    size_t size = whole ? sizeof file->note : offsetof(struct recorder_note, device);
    errno = ENOSPC; /* what a short write means */
    return pwrite(file->note_fd, &file->note, size, 0) == (ssize_t)size ? 0 : -errno;
}

static void note_remove(struct recorder_file *file)
{
    char *path = note_path(file);
    if (file->note_fd >= 0)
        unlink(path);
    fd_close(&file->note_fd);
    free(path);
}

/* Before the first part: the directory and the note. */
static int open_place(const struct recorder_job *job, struct err *err)
{
    struct recorder_file *file = job->file;
    int code = path_private_dir(file->dir, PATH_CHOOSE_STATE, err);
    if (code)
        return code;
    if (note_open(file, true) < 0)
        return err_set(err, ERR_SYSTEM,
                       "'%s': the recording's note can't be made: %s; make room, or choose another "
                       "[muxd] state",
                       file->dir, strerror(errno));
    return 0;
}

static int open_new(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);
}

/* The first part, under a free name. */
static int open_first(const struct recorder_job *job)
{
    struct recorder_note *note = &job->file->note;
    if (note->given)
        return open_new(note->path);
    for (int i = 1; i <= SAME_NAME_MAX; i++) {
        char more[16] = "";
        if (i > 1)
            snprintf(more, sizeof more, "-%d", i);
        int n = snprintf(note->path, sizeof note->path, "%s/%llu-%s%s%s", job->file->dir,
                         (unsigned long long)note->number, job->name, more, RECORDER_EXTENSION);
        int fd = n < (int)sizeof note->path ? open_new(note->path) : (errno = ENAMETOOLONG, -1);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static int cant(const char *path, int error, struct err *err)
{
    if (error == EEXIST)
        return err_set(err, ERR_SYSTEM, "'%s': exists already; choose another name or remove it",
                       path);
    return err_set(err, ERR_SYSTEM,
                   "'%s': can't be recorded to: %s; choose another place or make room", path,
                   strerror(error));
}

/* The note names a part before it is made, so that a successor knows what to remove. */
static int begin_part(const struct recorder_job *job, struct err *err)
{
    struct recorder_file *file = job->file;
    struct recorder_note *note = &file->note;
    char path[RECORDER_PATH_MAX];
    struct stat st;
    int code = note->place.part == 0 ? open_place(job, err) : 0;
    if (code)
        return code;
    note->place.next_part = note->place.part + 1;
    code = note->place.part > 0 ? note_write(file, false) : 0;
    if (code)
        return cant(note->path, -code, err);
    recorder_file_part(note, note->place.next_part, path);
    int fd = note->place.part == 0 ? open_first(job) : open_new(path);
    if (fd < 0 || fstat(fd, &st) != 0) {
        code = cant(note->place.part == 0 ? note->path : path, errno, err);
        fd_close(&fd);
        return code;
    }
    fd_close(&file->fd);
    file->fd = fd;
    note->device = (uint64_t)st.st_dev;
    note->inode = (uint64_t)st.st_ino;
    note->place.part = note->place.next_part;
    note->place.size = 0;
    if (note->place.part > job->parts_kept) {
        recorder_file_part(note, note->place.part - job->parts_kept, path);
        unlink(path);
    }
    if (!note->given)
        recorder_tidy(file->dir, job->total_max);
    return 0;
}

static int recorder_file_append(struct recorder_file *file, const char *data, size_t size,
                                struct err *err)
{
    struct recorder_place *place = &file->note.place;
    char path[RECORDER_PATH_MAX];
    BUG_UNLESS(file->fd >= 0 || size == 0);
    for (size_t at = 0; at < size;) {
        ssize_t n = pwrite(file->fd, data + at, size - at, (off_t)(place->size + at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int error = n < 0 ? errno : ENOSPC;
            recorder_file_part(&file->note, place->part, path);
            bool cut = ftruncate(file->fd, (off_t)place->size) == 0;
            return err_set(err, ERR_SYSTEM,
                           "'%s': the recording ends%s: %s; make room and begin another", path,
                           cut ? "" : " with half a line", strerror(error));
        }
        at += (size_t)n;
    }
    place->size += size;
    place->total += size;
    return 0;
}

/* Takes over what the loop knows, and keeps what only this thread knows. */
static void set_place(struct recorder_file *file, const struct recorder_place *place)
{
    struct recorder_place fresh = *place;
    fresh.size = file->note.place.size;
    fresh.total = file->note.place.total;
    fresh.part = fresh.next_part = file->note.place.part;
    file->note.place = fresh;
}

void recorder_job_run(void *arg)
{
    struct recorder_job *job = arg;
    struct recorder_file *file = job->file;
    size_t split = job->begin ? job->split : 0;
    int code = 0;
    BUG_UNLESS(split <= job->size);
    if (split > 0)
        code = recorder_file_append(file, job->data, split, &job->err);
    if (!code && job->begin)
        code = begin_part(job, &job->err);
    if (!code && file->fd >= 0)
        code = recorder_file_append(file, job->data + split, job->size - split, &job->err);
    if (!code && file->note_fd >= 0) {
        set_place(file, &job->place);
        code = note_write(file, job->begin);
        if (code)
            code = cant(file->note.path, -code, &job->err);
    }
    if (job->end || code) {
        note_remove(file);
        fd_close(&file->fd);
    }
}

/* The recording of a predecessor. */

static bool note_read(struct recorder_file *file, uint64_t number)
{
    struct recorder_note *note = &file->note;
    struct stat st;
    return fstat(file->note_fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & 077) &&
           pread(file->note_fd, note, sizeof *note, 0) == (ssize_t)sizeof *note &&
           note->magic == NOTE_MAGIC && note->version == NOTE_VERSION && note->number == number &&
           (note->format == 2 || note->format == 3) && memchr(note->path, 0, sizeof note->path) &&
           note->path[0] == '/' && note->place.part > 0;
}

static const char *reopen(struct recorder_file *file)
{
    const struct recorder_note *note = &file->note;
    char path[RECORDER_PATH_MAX];
    struct stat st;
    if (note->place.next_part > note->place.part) {
        recorder_file_part(note, note->place.next_part, path);
        unlink(path);
    }
    recorder_file_part(note, note->place.part, path);
    file->fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &st) != 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_dev != note->device ||
        (uint64_t)st.st_ino != note->inode || (uint64_t)st.st_size < note->place.size)
        return "it is not the file that was written";
    return ftruncate(file->fd, (off_t)note->place.size) == 0 ? NULL : strerror(errno);
}

struct recorder_file *recorder_file_find(const char *state_dir, uint64_t number)
{
    struct recorder_file *file = recorder_file_new(state_dir, number, NULL, 3, false);
    if (note_open(file, false) < 0) {
        if (errno != ENOENT)
            log_warn("the note on the recording of session %llu can't be read: %s",
                     (unsigned long long)number, strerror(errno));
        recorder_file_free(file);
        return NULL;
    }
    const char *reason = note_read(file, number) ? reopen(file) : "its note is damaged";
    if (!reason)
        return file;
    log_warn("the recording of session %llu ended with the worker: %s", (unsigned long long)number,
             reason);
    file->note.number = number;
    note_remove(file);
    recorder_file_free(file);
    return NULL;
}
