/* mcp_out: owns the standard output of `ue mcp`, and output that the client has not taken. It never
 * blocks, so that a client may write all its requests before it reads an answer. */
#include "client/mcp/mcp.h"
#include "base/bug.h"
#include "client/print/say.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMPACT_BYTES (64u << 10)

void mcp_out_init(struct mcp_out *out)
{
    struct stat st = {.st_mode = 0};
    fstat(STDOUT_FILENO, &st);
    out->queue = BUF_INIT;
    out->at = 0;
    out->is_socket = S_ISSOCK(st.st_mode);
    /* PIPE_BUF bytes fit a pipe whenever poll reports POLLOUT: pipe(7) */
    out->piece = S_ISREG(st.st_mode) ? SSIZE_MAX : PIPE_BUF;
}

void mcp_out_fini(struct mcp_out *out)
{
    buf_fini(&out->queue);
}

size_t mcp_out_left(const struct mcp_out *out)
{
    BUG_UNLESS(out->at <= out->queue.len);
    return out->queue.len - out->at;
}

void mcp_out_add(struct mcp_out *out, const void *data, size_t size)
{
    buf_append(&out->queue, data, size);
}

/* Bytes written, 0 when it would block, or -1. Standard output is not set to non-blocking, as other
 * processes may share it. */
static ssize_t write_some(const struct mcp_out *out, const char *data, size_t size)
{
    struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (!out->is_socket && poll(&fd, 1, 0) <= 0)
        return 0;
    ssize_t n = out->is_socket ? send(STDOUT_FILENO, data, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                               : write(STDOUT_FILENO, data, size < out->piece ? size : out->piece);
    return n < 0 && errno == EAGAIN ? 0 : n;
}

bool mcp_out_flush(struct mcp_out *out)
{
    size_t before = mcp_out_left(out);
    while (mcp_out_left(out) > 0) {
        ssize_t n = write_some(out, out->queue.data + out->at, mcp_out_left(out));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            say_lost();
        if (n == 0)
            break;
        out->at += (size_t)n;
    }
    bool moved = mcp_out_left(out) < before;
    if (mcp_out_left(out) == 0) {
        buf_clear(&out->queue);
        out->at = 0;
    } else if (out->at > COMPACT_BYTES && out->at > out->queue.len / 2) {
        buf_consume(&out->queue, out->at);
        out->at = 0;
    }
    return moved;
}
