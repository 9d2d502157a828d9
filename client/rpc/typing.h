/* typing: long input in pieces, each sent when the session has room for it. */
#ifndef MUXD_CLIENT_TYPING_H
#define MUXD_CLIENT_TYPING_H
#include "client/rpc/talk.h"

struct typing {
    struct ue *ue;
    const struct json *session; /* number or name, as the tools take it; borrowed */
    int64_t patience_ms;        /* how long to wait for room; INT64_MAX: for ever */
    bool patient;               /* also waits for room for the first piece */
    /* output beyond read_to ends the wait with ERR_INPUT_FULL: the caller has to read it first */
    bool yields;
    int64_t read_to;
    bool full;                  /* the queue was full: probably also for the next piece */
    uint64_t typed;             /* bytes that the session has taken so far */
};

/* For talk: a call that types. Waits up to ue->patience_ms for room in the input queue. */
talk_ask_fn typing_ask;
/* *max: the most bytes of input that fit one request however they are encoded, by the daemon's
 * [limits] max_request. The daemon is asked once, and only when len may be too much. 0 or an
 * error. */
int typing_piece_max(struct ue *ue, size_t len, size_t *max, struct err *err);
/* Types a piece without waiting for output and without moving a reader. When the first piece does
 * not fit it is refused at once, before any of its bytes is typed (unless `patient`); for later
 * pieces the daemon waits for room. A piece larger than the queue or a request goes in parts: after
 * an error `typed` says how far it came. eof: closes the session's standard input. 0 or an
 * error. */
int typing_send(struct typing *typing, const char *data, size_t len, bool eof, struct err *err);
#endif
