/* stream: a connection that has changed from lines to frames (wire/attach.h). The peer still owns
 * the socket; whoever changed it gets each frame as it comes, and is told when all it sent was
 * taken, so that it never queues more than one piece. */
#ifndef MUXD_PEER_STREAM_H
#define MUXD_PEER_STREAM_H
#include "peer/peer.h"
#include "wire/attach.h"

struct stream_handlers {
    void (*frame)(void *arg, const struct attach_frame *frame); /* borrowed; may close the peer */
    void (*drained)(void *arg); /* everything queued was taken by the socket; may send */
    bool wipe;                  /* what is read is wiped once it was given */
    /* the connection is no more: the last call; the peer must not be touched */
    void (*gone)(void *arg);
};

/* Changes the connection of this request, which must be the only one in flight; then reply to it at
 * once. False: there are others. */
bool stream_begin(struct request *request, const struct stream_handlers *handlers, void *arg);
/* size may be larger than a frame's payload: then they are several. */
void stream_send(struct peer *peer, enum attach_type type, const void *data, size_t size);
size_t stream_pending(const struct peer *peer); /* bytes not taken by the socket yet */
#endif
