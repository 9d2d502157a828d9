/* call: one request, one answer: sent again after the daemon's restart, cancelled by ^C. */
#ifndef MUXD_CLIENT_CALL_H
#define MUXD_CLIENT_CALL_H
#include "client/rpc/connect.h"
#include "wire/msg.h"

#define CALL_FED 1
enum call_flags {
    /* asking twice does no harm: _meta.request_id keeps it from being done twice, or it only
     * reads */
    CALL_AGAIN = 0,
    CALL_ONCE = 1,  /* is not sent again when the connection is lost */
    CALL_WAITS = 2, /* may take long: ^C cancels it and leaves the session as it is */
    /* with CALL_WAITS: the wait ends, with CALL_FED, as soon as standard input can be read */
    CALL_FEEDS = 4,
};

/* Connects when needed. 0: answer->result holds. CALL_FED: it does not, see there. Negative: err
 * says what went wrong, in the daemon's words when it refused (answer->data holds what else it
 * said); ERR_CANCELLED after ^C; ERR_NO_DAEMON when it went away. msg_answer_fini(answer) is due in
 * any case. */
int call_run(struct connection *conn, const char *method, const struct json *params, unsigned flags,
             struct msg_answer *answer, struct err *err);
/* Only sends the request, whose answer the caller reads: *id is its number. 0 or ERR_NO_DAEMON. */
int call_post(struct connection *conn, const char *method, const struct json *params, int64_t *id,
              struct err *err);
#endif
