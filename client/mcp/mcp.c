/* mcp: owns the loop of `ue mcp` between the client's lines and the daemon's. */
#include "client/mcp/mcp.h"
#include "base/clock.h"
#include "client/print/say.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_BYTES_MAX (64u << 20) /* the daemon's own cap is lower and says so */
/* beyond so much output that the client has not taken, nothing more is read */
#define OUT_BYTES_MAX (4u << 20)
/* once the client has closed standard input, answers may still come for so long without progress */
#define LEAVE_MS 1000

static void mcp_take_lines(struct mcp *mcp)
{
    const char *line;
    size_t len;
    struct err err;
    for (int result; (result = frame_next(&mcp->in, &line, &len, &err)) != 0;) {
        if (result > 0)
            mcp_message(mcp, line, len);
        else
            mcp_message_unread(mcp, line, len, MCP_INVALID_REQUEST, err.text);
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
    mcp_take_lines(mcp);
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
        if (result < 0) { /* it may belong to any of the calls: all of them are sent again */
            say_note("'%s': answers with a line that is too long; ask for less", conn->path);
            n = 0;
            break;
        }
        mcp_answered(mcp, line, len);
    }
    if (n <= 0)
        mcp_lost(mcp);
}

struct serving {
    bool leaving;     /* the client has closed standard input */
    int64_t leave_ms; /* clock_mono_ms when ue gives up, then */
    size_t count;     /* calls at the last look */
};

/* True when all answers are out. As long as the client reads, or calls get answers, it goes on. */
static bool mcp_is_over(struct mcp *mcp, struct serving *serving)
{
    bool moved = mcp_out_flush(&mcp->out);
    int64_t now_ms = clock_mono_ms();
    if (moved || mcp->count < serving->count)
        serving->leave_ms = now_ms + LEAVE_MS;
    if (serving->leaving && mcp_out_left(&mcp->out) == 0 && now_ms >= serving->leave_ms) {
        mcp_give_up(mcp);
        mcp_out_flush(&mcp->out);
    }
    serving->count = mcp->count;
    return serving->leaving && mcp->count == 0 && mcp_out_left(&mcp->out) == 0;
}

/* Time until progress is due or ue gives up; -1: no limit. */
static int patience_ms(const struct mcp *mcp, const struct serving *serving)
{
    int64_t beat_ms = mcp_progress_due(mcp), until_ms = beat_ms;
    if (serving->leaving && mcp_out_left(&mcp->out) == 0 && serving->leave_ms < until_ms)
        until_ms = serving->leave_ms;
    if (until_ms == INT64_MAX)
        return -1;
    int64_t left_ms = until_ms - clock_mono_ms();
    return left_ms < 0 ? 0 : left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

/* True: standard output has no reader any more. */
static bool serve(struct mcp *mcp)
{
    struct serving serving = {.leaving = false};
    while (!mcp_is_over(mcp, &serving)) {
        bool full = mcp_out_left(&mcp->out) > OUT_BYTES_MAX;
        short from_daemon = (full ? 0 : POLLIN) | (mcp->to_daemon.len > 0 ? POLLOUT : 0);
        struct pollfd fds[] = {
            {.fd = serving.leaving || full ? -1 : STDIN_FILENO, .events = POLLIN},
            {.fd = full && !from_daemon ? -1 : mcp->ue->conn.fd, .events = from_daemon},
            {.fd = STDOUT_FILENO, .events = mcp_out_left(&mcp->out) > 0 ? POLLOUT : 0}};
        if (poll(fds, 3, patience_ms(mcp, &serving)) < 0)
            continue;
        if (fds[2].revents & POLLNVAL)
            errno = EBADF, say_lost();
        if (fds[2].revents & (POLLERR | POLLHUP))
            return true;
        mcp_progress(mcp);
        if (fds[1].revents & POLLOUT)
            mcp_flush(mcp);
        if (fds[1].revents & (POLLIN | POLLHUP | POLLERR))
            read_daemon(mcp);
        if (fds[0].revents && !read_client(mcp)) {
            serving.leaving = true;
            mcp_rounds_leave(mcp);
            serving.leave_ms = clock_mono_ms() + LEAVE_MS;
        }
    }
    return false;
}

int verb_MCP(struct ue *ue)
{
    struct mcp mcp = {.ue = ue, .version = MCP_NONE, .to_daemon = BUF_INIT};
    frame_init(&mcp.in, LINE_BYTES_MAX);
    mcp_out_init(&mcp.out);
    bool unread = serve(&mcp);
    while (mcp.count > 0)
        mcp_drop(&mcp, 0);
    free(mcp.calls);
    while (mcp.nrounds > 0)
        mcp_rounds_drop(&mcp, mcp.rounds[0]);
    free(mcp.rounds);
    buf_fini(&mcp.to_daemon);
    mcp_out_fini(&mcp.out);
    frame_fini(&mcp.in);
    return unread ? 128 + SIGPIPE : 0;
}
