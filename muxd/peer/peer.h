/* peer: one connection of a client. Lines in, requests out to the dispatcher; each request is
 * replied to exactly once, can be cancelled, and dies with its connection. Replies are queued up
 * to a cap: the daemon stops reading from a client that does not read its replies, and other
 * clients are not affected. */
#ifndef MUXD_PEER_PEER_H
#define MUXD_PEER_PEER_H
#include "base/err.h"
#include "sys/loop.h"
#include "wire/json.h"
#include "wire/msg.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct peer;
struct request;
struct room;

struct peer_limits {
    size_t max_request;  /* bytes of a line */
    size_t output_queue; /* bytes of replies not yet sent; over it no further request is read */
    unsigned in_flight;  /* requests of one connection */
    struct room *room;   /* borrowed: what the replies of all connections may take */
};

struct peer_handlers {
    /* a whole, well-formed request; must end in request_reply or request_fail, now or later */
    void (*request)(void *arg, struct request *request);
    /* the last call for this peer; its owner calls peer_free at the end of the turn, not in here */
    void (*closed)(void *arg, struct peer *peer);
    /* it has something to flush; called once until peer_flush */
    void (*dirty)(void *arg, struct peer *peer);
};

/* fd is connected and non-blocking, and becomes the peer's. NULL and errno when the loop refuses
 * it (fd stays the caller's). limits is borrowed and read at every use, so that a reload takes
 * effect. */
struct peer *peer_new(struct loop *loop, int fd, uint64_t id, uid_t uid, pid_t pid,
                      const struct peer_limits *limits, const struct peer_handlers *handlers,
                      void *arg);
void peer_close(struct peer *peer);  /* now: requests are cancelled, then handlers.closed */
void peer_free(struct peer *peer);   /* only after it was closed; NULL is fine */
void peer_finish(struct peer *peer); /* reads no more; closes once what is queued was sent */
void peer_flush(struct peer *peer);  /* sends what it can; called at the end of a turn */
uint64_t peer_id(const struct peer *peer);
uid_t peer_uid(const struct peer *peer);
pid_t peer_pid(const struct peer *peer);
/* nothing is in flight, nothing is queued, no part of a line was read */
bool peer_is_idle(const struct peer *peer);
/* memory of replies that were not sent */
size_t peer_held(const struct peer *peer);
/* clock_mono_ms since when it has taken next to nothing of them (burden_taken) */
int64_t peer_taken_ms(const struct peer *peer);
/* Like peer_close, for one that holds too much: tells why, if there is room left for that. */
void peer_expel(struct peer *peer, const struct err *why);
/* the client has sent something that was not read yet */
bool peer_has_bytes(const struct peer *peer);
/* the session that stays until this connection has read it to its end; 0: none. follower: who
 * that is (session_follow) */
void peer_set_follows(struct peer *peer, uint64_t number, uint64_t follower);
uint64_t peer_follows(const struct peer *peer);
uint64_t peer_follower(const struct peer *peer);
int64_t peer_since_ms(const struct peer *peer); /* clock_mono_ms at its accept */
bool peer_has_spoken(const struct peer *peer);

/* A request: what a client asks. Valid until it is replied to. */
const char *request_method(const struct request *request);
/* an object, never NULL; borrowed. schema_check may edit it */
struct json *request_params(struct request *request);
struct peer *request_peer(const struct request *request);

/* Exactly one of these, once. result becomes the request's, and the request is gone afterwards. */
void request_reply(struct request *request, struct json *result);
void request_fail(struct request *request, const struct err *err);
/* Like request_fail, with members for the error's `data` (may be NULL; becomes the request's). */
void request_fail_with(struct request *request, const struct err *err, struct json *data);

/* Sends a line about a request that has no answer yet: params, which become the request's, and
 * "request", its id. Only to a client that wants such lines. Nothing for one without an id. */
void request_notify(struct request *request, const char *method, struct json *params);

/* While the request is parked: fn is called once when its connection is gone or it is cancelled;
 * fn drops the request's waits and does not reply. NULL takes it back. */
void request_on_cancel(struct request *request, void (*fn)(void *arg), void *arg);
/* Its handler's own note, which stays with it: it is handled for the second time. */
void request_mark(struct request *request);
bool request_is_marked(const struct request *request);
/* The session that it is about: the answer to a cancelled request names it. */
void request_set_session(struct request *request, uint64_t number);
/* fn is called once after the reply: written is true when the socket has taken its last byte,
 * false when the connection died before. To be set before the reply, once. */
void request_on_written(struct request *request, void (*fn)(void *arg, bool written), void *arg);
/* Before an answer of about `need` bytes is made. True: make it now, and reply. Else it waits, with
 * request_when_room: until the client has read enough of the answers before it, a large one also
 * for its turn and for room (room.h). fn is called once it may be made, and not when the request is
 * cancelled first; then request_take_room is true. */
bool request_take_room(struct request *request, size_t need);
void request_when_room(struct request *request, size_t need, void (*fn)(void *arg), void *arg);
/* Its connection has no more requests in flight than an equal part of so many places. */
bool request_is_modest(const struct request *request, size_t places);
/* A request that a handler makes on behalf of another one: same peer, no id, not counted. Its
 * answer goes to fn, once, and never to the socket. */
struct request_answer {
    struct json *result; /* becomes fn's; NULL: the request failed with err */
    const struct err *err;
    /* fn's owner calls it once the outer answer was written, or was not; may be NULL */
    void (*written)(void *arg, bool written);
    void *written_arg;
};
typedef void request_inner_fn(void *arg, const struct request_answer *answer);
/* method: static. params become the request's. The caller passes the request to a handler; fn
 * may be called from inside of that. */
struct request *request_inner(struct request *outer, const char *method, struct json *params,
                              request_inner_fn *fn, void *arg);
void request_drop_inner(struct request *inner); /* cancels a parked one; fn is not called */
/* Cancels the request of this peer with that id, which is answered with ERR_CANCELLED. False:
 * there is none. */
bool peer_cancel(struct peer *peer, const struct msg_id *id);
#endif
