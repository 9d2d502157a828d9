/* mcp: owns the loop of `ue mcp`: lines of the client on one side, lines of the daemon on the other. */
#include "client/mcp.h"
#include "base/clock.h"
#include "client/say.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_BYTES_MAX (64u << 20) /* the daemon's own cap is lower and says so */
#define LEAVE_MS 1000 /* once the client has closed standard input: for answers that are nearly there */

static void take_lines(struct mcp *mcp)
{
    const char *line;
    size_t len;
    struct err err;
    for (int result; (result = frame_next(&mcp->in, &line, &len, &err)) != 0;) {
        if (result > 0) {
            mcp_message(mcp, line, len);
        } else {
            struct mcp_to nobody = {.id = {.kind = MSG_ID_NONE}};
            mcp_fail(mcp, &nobody, MCP_INVALID_REQUEST, err.text, NULL);
        }
    }
}

/* False at the end of standard input. */
static bool read_client(struct mcp *mcp)
{
    size_t room, len;
    const char *line;
    char *to = frame_room(&mcp->in, &room);
    ssize_t n = read(STDIN_FILENO, to, room);
    frame_filled(&mcp->in, n > 0 ? (size_t)n : 0);
    take_lines(mcp);
    if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
        return true;
    if (frame_eof(&mcp->in, &line, &len) > 0)
        mcp_message(mcp, line, len);
    return false;
}

static void read_daemon(struct mcp *mcp)
{
    struct connection *conn = &mcp->ue->conn;
    struct err err;
    size_t room, len;
    const char *line;
    char *to = frame_room(&conn->in, &room);
    ssize_t n = recv(conn->fd, to, room, MSG_DONTWAIT);
    frame_filled(&conn->in, n > 0 ? (size_t)n : 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    for (int result; (result = frame_next(&conn->in, &line, &len, &err)) != 0;) {
        if (result < 0) { /* which call it was for is not known: all of them are asked again */
            say_note("'%s': answers with a line that is too long; ask for less", conn->path);
            n = 0;
            break;
        }
        mcp_answered(mcp, line, len);
    }
    if (n <= 0)
        mcp_lost(mcp);
}

static void serve(struct mcp *mcp)
{
    int64_t leave_ms = 0; /* 0: standard input is open */
    for (;;) {
        int64_t now_ms = clock_mono_ms(), beat_ms = mcp_progress_due(mcp), left_ms = leave_ms ? leave_ms - now_ms : -1;
        if (leave_ms && (left_ms <= 0 || mcp->count == 0))
            return;
        short wanted = mcp->to_daemon.len > 0 ? POLLIN | POLLOUT : POLLIN;
        struct pollfd fds[] = {{.fd = leave_ms ? -1 : STDIN_FILENO, .events = POLLIN}, {.fd = mcp->ue->conn.fd, .events = wanted}};
        if (beat_ms != INT64_MAX && (left_ms < 0 || beat_ms - now_ms < left_ms))
            left_ms = beat_ms > now_ms ? beat_ms - now_ms : 0;
        if (poll(fds, 2, (int)left_ms) < 0)
            continue;
        mcp_progress(mcp);
        if (fds[1].revents & POLLOUT)
            mcp_flush(mcp);
        if (fds[1].revents & (POLLIN | POLLHUP | POLLERR))
            read_daemon(mcp);
        if (fds[0].revents && !read_client(mcp))
            leave_ms = clock_mono_ms() + LEAVE_MS;
    }
}

int verb_MCP(struct ue *ue)
{
    struct mcp mcp = {.ue = ue, .version = MCP_NONE, .to_daemon = BUF_INIT};
    frame_init(&mcp.in, LINE_BYTES_MAX);
    serve(&mcp);
    while (mcp.count > 0)
        mcp_drop(&mcp, 0);
    free(mcp.calls);
    buf_fini(&mcp.to_daemon);
    frame_fini(&mcp.in);
    return 0;
}
