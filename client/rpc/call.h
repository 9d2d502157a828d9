/* call: one request and its answer. It is sent again after a restart of the daemon, and ^C cancels
 * it. */
#ifndef MUXD_CLIENT_CALL_H
#define MUXD_CLIENT_CALL_H
#include "client/rpc/connect.h"
#include "wire/msg.h"
#include "wire/tool.h"

#define CALL_FED 1
enum call_flags {
    /* may be sent again: it only reads, or _meta.request_id keeps the daemon from doing it twice */
    CALL_AGAIN = 0,
    CALL_ONCE = 1,  /* is not sent again when the connection is lost */
    CALL_WAITS = 2, /* may take long: ^C cancels it and leaves the session as it is */
    /* with CALL_WAITS: ends with CALL_FED as soon as standard input can be read */
    CALL_FEEDS = 4,
};

/* Connects when needed. 0: answer->result is set. CALL_FED: standard input came first, there is no
 * result (CALL_FEEDS). Negative: err says what went wrong, in the daemon's words when it refused
 * (answer->data has its details); ERR_CANCELLED after ^C; ERR_NO_DAEMON when the daemon went away.
 * The caller finishes answer in every case (msg_answer_fini). */
int call_run(struct connection *conn, const char *method, const struct json *params, unsigned flags,
             struct msg_answer *answer, struct err *err);
/* call_again.c. Whether a request that was lost on its way may be sent again: it only reads, or the
 * daemon knows by its request_id that it has done it already. params: of the request. */
bool call_may_repeat(const struct tool *tool, const struct json *params);
/* Before a request is sent again: the line says how long the client has waited since begun_ms
 * (clock_mono_ms). Its clock goes on while the daemon is away: a deadline is one, whatever dies. */
void call_again(struct buf *line, int64_t begun_ms);
/* Connects, and from now on ^C between two calls with CALL_WAITS ends the next one; a second one
 * before that ends ue. For a verb that makes several calls for one wait. 0, or as call_run. */
int call_hold_interrupts(struct connection *conn, struct err *err);
/* ^C came since then, and no call has ended by it yet. */
bool call_is_interrupted(void);
/* Only sends the request; the caller reads the answer, whose id is *id. 0 or ERR_NO_DAEMON. */
int call_post(struct connection *conn, const char *method, const struct json *params, int64_t *id,
              struct err *err);
#endif
