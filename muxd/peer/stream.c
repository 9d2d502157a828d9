/* stream: owns a connection's life after it has changed to frames. */
#include "peer/stream.h"
#include "base/bug.h"
#include "base/mem.h"
#include "peer/internal.h"
#include <sys/socket.h>

/* How much the kernel may hold for a client: for a slow one the drawings in there are out of
 * date (unix(7)). */
#define SOCKET_BYTES (32 << 10)

bool stream_begin(struct request *request, const struct stream_handlers *handlers, void *arg)
{
    struct peer *peer = request_peer(request);
    BUG_UNLESS(!peer->stream && handlers->frame && handlers->drained && handlers->gone);
    if (peer->in_flight != 1 || peer->closed)
        return false;
    const int most = SOCKET_BYTES;
    /* a failure does no harm: it stays larger */
    setsockopt(peer->fd, SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
    peer->stream = handlers;
    peer->stream_arg = arg;
    return true;
}

size_t stream_pending(const struct peer *peer)
{
    return peer->out.len - peer->out_at;
}

void stream_send(struct peer *peer, enum attach_type type, const void *data, size_t size)
{
    const char *at = data;
    size_t before = peer->out.len;
    BUG_UNLESS(peer->stream && !peer->closed);
    do {
        size_t piece = size < ATTACH_PAYLOAD_MAX ? size : ATTACH_PAYLOAD_MAX;
        attach_append(&peer->out, type, at, piece);
        at += piece;
        size -= piece;
    } while (size > 0);
    peer->queued += peer->out.len - before;
    peer_mark_dirty(peer);
}

/* Handles the whole frames that were read. A peer that sends anything else loses its connection. */
void stream_take(struct peer *peer)
{
    struct frame *in = &peer->frame;
    struct attach_frame frame;
    bool wipe = false;
    peer->paused = false;
    while (!peer->closed && in->len > in->start) {
        long used = attach_next(in->data + in->start, in->len - in->start, &frame);
        if (used < 0) {
            peer_close(peer);
            return;
        }
        if (used == 0)
            break;
        size_t at = in->start;
        in->start += (size_t)used;
        in->scanned = in->start;
        if (peer->stream) {
            wipe = peer->stream->wipe;
            peer->stream->frame(peer->stream_arg, &frame);
        }
        if (wipe && in->data) /* NULL when the handler has closed the connection */
            mem_wipe(in->data + at, (size_t)used);
    }
    if (!peer->closed && in->len == in->start)
        frame_fini(in);
}

void stream_flushed(struct peer *peer)
{
    if (peer->stream && !peer->closed && !peer->finishing && stream_pending(peer) == 0)
        peer->stream->drained(peer->stream_arg);
}

void stream_gone(struct peer *peer)
{
    const struct stream_handlers *handlers = peer->stream;
    peer->stream = NULL;
    if (handlers && handlers->wipe && peer->frame.data) /* a part of a frame */
        mem_wipe(peer->frame.data, peer->frame.cap);
    if (handlers)
        handlers->gone(peer->stream_arg);
}
