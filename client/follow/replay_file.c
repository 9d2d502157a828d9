/* replay_file: owns the file of a recording, and the bytes that were read ahead. */
#include "base/bug.h"
#include "base/fdio.h"
#include "client/follow/replay.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES (64u << 10)

int replay_file_open(struct replay_file *file, const char *name, struct err *err)
{
    struct stat st;
    bool standard = strcmp(name, "-") == 0;
    *file = (struct replay_file){
        .fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY), .name = name};
    buf_init(&file->in, CAST_LINE_MAX + READ_BYTES);
    if (file->fd < 0)
        return err_set(err, ERR_SYSTEM, "'%s': can't be opened: %s", name, strerror(errno));
    if (fstat(file->fd, &st) == 0 && S_ISDIR(st.st_mode))
        return err_set(err, ERR_SYSTEM, "'%s': is a directory; name a recording in it", name);
    return 0;
}

void replay_file_close(struct replay_file *file)
{
    if (file->fd > STDIN_FILENO)
        fd_close(&file->fd);
    buf_fini(&file->in);
}

static int replay_file_fill(struct replay_file *file, struct err *err)
{
    BUG_UNLESS(file->at <= file->in.len && !file->at_end);
    buf_consume(&file->in, file->at);
    file->at = 0;
    char *room = buf_reserve(&file->in, READ_BYTES);
    if (!room)
        return err_set(err, ERR_TOO_LARGE, "'%s': line %llu: longer than %u bytes", file->name,
                       (unsigned long long)file->reader.line + 1, CAST_LINE_MAX);
    ssize_t n = read(file->fd, room, READ_BYTES);
    if (n < 0 && errno == EINTR)
        return 0;
    if (n < 0)
        return err_set(err, ERR_SYSTEM, "'%s': can't be read: %s", file->name, strerror(errno));
    file->at_end = n == 0;
    buf_commit(&file->in, (size_t)n);
    return 0;
}

/* 1: a line; 0: the end of the file. */
static int replay_file_next_line(struct replay_file *file, const char **line, size_t *len,
                                 struct err *err)
{
    size_t searched = 0;
    for (;;) {
        const char *begin = file->in.data ? file->in.data + file->at : "";
        size_t left = file->in.len - file->at;
        const char *end = left > searched ? memchr(begin + searched, '\n', left - searched) : NULL;
        if (end || (file->at_end && left > 0)) {
            *line = begin;
            *len = end ? (size_t)(end - begin) : left;
            file->at += *len + (end ? 1 : 0);
            return 1;
        }
        if (file->at_end)
            return 0;
        searched = left;
        int code = replay_file_fill(file, err);
        if (code)
            return code;
    }
}

int replay_file_next(struct replay_file *file, struct cast_event *event, struct err *err)
{
    const char *line = NULL;
    size_t len = 0;
    BUG_UNLESS(file->fd >= 0);
    for (;;) {
        int result = replay_file_next_line(file, &line, &len, err);
        if (result == 0 && !file->reader.version)
            return err_set(err, ERR_PARSE, "'%s': is empty, and so no recording", file->name);
        if (result <= 0)
            return result;
        bool cut = line && file->at_end && file->at == file->in.len && line[len] != '\n';
        result = cast_read(&file->reader, line, len, event, err);
        if (result < 0 && cut && file->reader.version)
            return err_set(err, ERR_PARSE,
                           "'%s': line %llu: ends in its middle; the recording was cut off here",
                           file->name, (unsigned long long)file->reader.line);
        if (result < 0) {
            err_prefix(err, "'%s'", file->name);
            return err->code;
        }
        if (result == 1)
            return 1;
    }
}
