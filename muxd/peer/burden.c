/* burden.c: owns the count of what waits for clients that do not read it: of each connection, and
 * of all of them together. */
#include "base/buf.h"
#include "base/clock.h"
#include "peer/internal.h"
#include <sys/socket.h>

#define STALLED_MS 1000 /* for a client that reads, a busy machine is no reason to be closed */

/* A queue of nothing is kept for the next answer, and is no burden. */
void peer_account(struct peer *peer)
{
    size_t held = stream_pending(peer) > 0 ? peer->out.cap : 0;
    if (peer->held == 0)
        peer->taken_ms = clock_mono_ms();
    *peer->limits->output_held += held - peer->held;
    *peer->limits->output_over |= *peer->limits->output_held > peer->limits->output_total;
    peer->held = held;
}

bool peer_is_full(const struct peer *peer)
{
    return stream_pending(peer) > peer->limits->output_queue ||
           *peer->limits->output_held > peer->limits->output_total;
}

size_t peer_held(const struct peer *peer)
{
    return peer->held;
}

bool peer_is_stalled(const struct peer *peer, int64_t now_ms)
{
    return peer->held > 0 && now_ms - peer->taken_ms > STALLED_MS;
}

void peer_expel(struct peer *peer, const struct err *why)
{
    const struct msg_id none = {.kind = MSG_ID_NONE};
    struct buf line = BUF_INIT;
    buf_append(&line, "\n", 1); /* ends the answer of which it has a part */
    msg_error(&line, &none, why, NULL);
    ssize_t told = peer->stream ? 0
                                : send(peer->fd, line.data, line.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)told; /* who reads nothing learns it from the log */
    buf_fini(&line);
    peer_close(peer);
}

void peer_resume(struct peer *peer)
{
    peer_mark_dirty(peer);
}
