/* internal: the insides of a connection and its requests. For this room only. */
#ifndef MUXD_PEER_INTERNAL_H
#define MUXD_PEER_INTERNAL_H
#include "peer/peer.h"
#include "peer/room.h"
#include "peer/stream.h"
#include "wire/frame.h"

struct request {
    struct peer *peer;
    struct request *prev, *next;
    struct msg msg;
    void (*cancel)(void *arg);
    void *cancel_arg;
    void (*written)(void *arg, bool written);
    void *written_arg;
    void (*room)(void *arg);
    void *room_arg;
    size_t need;             /* about how large its answer gets, while it waits for room */
    bool may_reply;          /* it has waited for its room long enough */
    bool marked;             /* by its handler */
    uint64_t session;        /* the one that it waits for, told to who cancels it; 0: none */
    request_inner_fn *inner; /* an inner request: its answer goes here, and it is in no list */
    void *inner_arg;
};

struct receipt { /* a reply in the queue, with whom to tell when it was written */
    struct receipt *next;
    uint64_t end; /* of its last byte, in bytes ever queued */
    void (*fn)(void *arg, bool written);
    void *arg;
};

struct peer {
    struct loop *loop;
    struct loop_io *io;
    int fd;
    uint64_t id;
    uid_t uid;
    pid_t pid;
    const struct peer_limits *limits;
    const struct peer_handlers *handlers;
    void *arg;
    struct frame frame;
    struct buf out;
    size_t out_at;         /* bytes of out that were sent */
    uint64_t queued, sent; /* bytes ever */
    uint64_t turn_queued;  /* queued, when its last flush began */
    size_t held;           /* its part of room->held */
    int64_t taken_ms;      /* since when the client has taken next to nothing (burden_taken) */
    struct peer *line_prev, *line_next; /* room.c: those that wait for room */
    size_t line_rank;                   /* how many of the same process were before it */
    bool in_line;
    struct receipt *first, **last;
    const struct stream_handlers *stream; /* stream.c: frames instead of lines; NULL: lines */
    void *stream_arg;
    struct request *requests;
    unsigned in_flight;
    int64_t since_ms, since_boot_ms;
    uint64_t received; /* bytes of lines ever */
    /* passed.c; -1: none. passed_to: how many bytes were received with it; passes: it belongs to
     * the line that is being handled */
    int passed;
    uint64_t passed_to;
    bool passes;
    uint64_t follows;   /* the session that stays for this connection; 0: none */
    uint64_t follower;  /* as whom: session_follow */
    bool spoken, dirty, at_eof, finishing, paused, closed;
    /* the client takes no more answers: what it has sent is still done, then the connection is
     * closed */
    bool deaf;
};

void peer_mark_dirty(struct peer *peer);
/* room.c */
void room_account(struct peer *peer); /* counts anew what waits for its client */
void room_flushed(struct peer *peer); /* after each flush: gives room to answers that wait for it */
void room_enter(struct peer *peer);   /* it is new */
void room_leave(struct peer *peer);   /* it is closed */
/* it leaves more unread than one connection may now: no request is read from it */
bool peer_is_full(const struct peer *peer);
void peer_queue_error(struct peer *peer, const struct msg_id *id, const struct err *err,
                      const struct json *data);
void request_forget(struct request *request); /* frees it; no answer */
void request_call_cancel(struct request *request);
/* passed.c */
ssize_t passed_receive(struct peer *peer, char *to, size_t room); /* as recv(2) */
void passed_begin_line(struct peer *peer); /* it was read, and is handled now */
void passed_end_line(struct peer *peer);
/* stream.c */
void stream_take(struct peer *peer);    /* handles the frames that were read */
void stream_flushed(struct peer *peer); /* after each flush */
void stream_gone(struct peer *peer);
#endif
