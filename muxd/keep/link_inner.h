/* link_inner: the link's inner state, shared by link.c and link_take.c. Private to these two. */
#ifndef MUXD_KEEP_LINK_INNER_H
#define MUXD_KEEP_LINK_INNER_H
#include "keep/link.h"
#include "keep/parcels.h"

#define LINK_ABOUT (sizeof(struct keep_msg) << 16 | KEEP_PROTOCOL)

struct link {
    int fd; /* -1 once the keeper is lost */
    const struct link_handlers *handlers;
    void *arg;
    uint64_t seq;
    struct parcels queue;   /* sent in order */
    struct parcels late;    /* housekeeping: sent at the end of the turn */
    size_t nlate;
    struct parcels refused; /* not to be sent any more; link_flush tells the handlers */
    bool full;              /* something waits, or link_give was refused */
    int shortage;           /* errno; not of the socket, which is ready: the kernel lacked room */
    /* what muxd was started with, for the next keeper; type 0: the keeper has not told it yet */
    struct keep_msg was;
    int sentinel, keeper_exe;
    int predecessor, upgrade_tried;
    bool listener_given;
};

void link_clear(struct link *link); /* forgets all that waits to be sent */
#endif
