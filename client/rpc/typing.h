/* typing: long input in pieces: one is sent when the session has room for it. */
#ifndef MUXD_CLIENT_TYPING_H
#define MUXD_CLIENT_TYPING_H
#include "client/rpc/talk.h"

struct typing {
    struct ue *ue;
    const struct json *session; /* number or name, as the tools take it; borrowed */
    int64_t patience_ms;        /* how long a full queue may stand still; INT64_MAX: for ever */
    bool patient;               /* the first piece is waited for as well */
    /* output beyond read_to ends the waiting, with ERR_INPUT_FULL: somebody has to read it */
    bool yields;
    int64_t read_to;
    bool full;                  /* the queue was full: the next piece finds it so again */
    uint64_t typed;             /* bytes the session has taken so far */
};

/* For talk: a call that types; a full queue is waited for as long as ue's patience says (INT64_MAX:
 * for ever). */
talk_ask_fn typing_ask;
/* Bytes of input that fit one request whatever they are, by the daemon's [limits] max_request. It
 * is asked once, and only for more than would always fit. 0 or an error. */
int typing_piece_max(struct ue *ue, size_t len, size_t *max, struct err *err);
/* Sends a piece that waits for no answer and moves no reader. The first one is refused at once when
 * it doesn't fit, so that nothing of it was typed; for later ones room is waited for, by the
 * daemon. One that is larger than the queue or a request goes in parts: after an error `typed` says
 * how far it came. eof: nothing follows, the session's standard input is closed. 0 or an error. */
int typing_send(struct typing *typing, const char *data, size_t len, bool eof, struct err *err);
#endif
