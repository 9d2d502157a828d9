/* stream: a connection that has changed from lines to frames (wire/attach.h). The peer still
 * owns the socket. The handlers get each frame as it comes, and are called when the socket has
 * taken all that was sent, so that they never queue more than one drawing. */
#ifndef MUXD_PEER_STREAM_H
#define MUXD_PEER_STREAM_H
#include "peer/peer.h"
#include "wire/attach.h"

struct stream_handlers {
    void (*frame)(void *arg, const struct attach_frame *frame); /* borrowed; may close the peer */
    void (*drained)(void *arg); /* the socket has taken everything that was queued; may send */
    bool wipe;                  /* what was read is wiped once it was handled */
    /* the connection is closed: the last call; the peer must not be touched */
    void (*gone)(void *arg);
};

/* Changes the connection of this request, which has to be the only one in flight, and is to be
 * replied to at once. False: others are in flight. */
bool stream_begin(struct request *request, const struct stream_handlers *handlers, void *arg);
/* A size over a frame's payload becomes several frames. */
void stream_send(struct peer *peer, enum attach_type type, const void *data, size_t size);
size_t stream_pending(const struct peer *peer); /* bytes not taken by the socket yet */
#endif
