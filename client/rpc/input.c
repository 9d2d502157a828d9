/* input: owns standard input, and files that are named in its place: any bytes, never more of them
 * in memory than the caller's cap. */
#include "client/rpc/input.h"
#include "base/bug.h"
#include "base/fdio.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A writer fills a pipe bit by bit: what follows within this time belongs to the same piece, so
 * that it is typed at once. */
#define PAUSE_MS 200

static int unreadable(struct err *err)
{
    return err_set(err, ERR_SYSTEM, "'standard input': can't be read: %s", strerror(errno));
}

int input_all(struct buf *out, struct err *err)
{
    BUG_UNLESS(out->max < SIZE_MAX);
    for (;;) {
        char piece[16384];
        ssize_t n = fd_read_all(STDIN_FILENO, piece, sizeof piece);
        if (n < 0)
            return unreadable(err);
        if (!buf_append(out, piece, (size_t)n))
            return err_set(err, ERR_TOO_LARGE, "'standard input': more than %zu bytes; send less",
                           out->max);
        if ((size_t)n < sizeof piece)
            return 0;
    }
}

int input_file(const char *path, struct buf *out, struct err *err)
{
    char piece[16384];
    ssize_t n = -1;
    bool fits = true;
    BUG_UNLESS(out->max < SIZE_MAX);
    int result = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd >= 0 && fits && (n = fd_read_all(fd, piece, sizeof piece)) > 0)
        fits = buf_append(out, piece, (size_t)n);
    if (!fits)
        result = err_set(err, ERR_TOO_LARGE, "'%s': more than %zu bytes; send less", path,
                         out->max);
    else if (n < 0)
        result = err_set(err, ERR_SYSTEM, "'%s': can't be read: %s", path, strerror(errno));
    fd_close(&fd);
    return result;
}

/* 1: something can be read, or the end was reached; 0: a pause. */
static int wait_more(bool first, struct err *err)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready;
    do
        ready = poll(&fd, 1, first ? -1 : PAUSE_MS);
    while (ready < 0 && errno == EINTR);
    return ready < 0 ? unreadable(err) : ready;
}

bool input_is_ready(void)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&fd, 1, 0) != 0; /* the read that follows reports an error */
}

int input_piece(struct buf *out, bool *ended, struct err *err)
{
    BUG_UNLESS(out->max >= INPUT_PIECE_BYTES);
    *ended = false;
    buf_clear(out);
    while (out->len < INPUT_PIECE_BYTES) {
        int more = wait_more(out->len == 0, err);
        if (more <= 0)
            return more;
        char *to = buf_reserve(out, INPUT_PIECE_BYTES - out->len);
        ssize_t n = read(STDIN_FILENO, to, INPUT_PIECE_BYTES - out->len);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return unreadable(err);
        if (n == 0) {
            *ended = true;
            return 0;
        }
        if (n > 0)
            buf_commit(out, (size_t)n);
    }
    return 0;
}

/* A parent that can't be looked at counts as one that reads something else. */
static bool is_of_parent(const struct stat *own)
{
    char path[40];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/fd/0", (int)getppid());
    return stat(path, &st) == 0 && st.st_dev == own->st_dev && st.st_ino == own->st_ino;
}

bool input_is_waiting(void)
{
    struct stat st;
    int bytes = 0;
    if (fstat(STDIN_FILENO, &st) < 0 || is_of_parent(&st))
        return false;
    if (S_ISREG(st.st_mode))
        return lseek(STDIN_FILENO, 0, SEEK_CUR) < st.st_size;
    return (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) &&
           ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0;
}
