/* call: one request, one answer: sent again after the daemon's restart, cancelled by ^C. */
#ifndef MUXD_CLIENT_CALL_H
#define MUXD_CLIENT_CALL_H
#include "client/connect.h"
#include "wire/msg.h"

enum call_flags {
    CALL_AGAIN = 0, /* asking twice does no harm: _meta.request_id keeps it from being done twice, or it only reads */
    CALL_ONCE = 1,  /* is not sent again when the connection is lost */
    CALL_WAITS = 2, /* may take long: ^C cancels it and leaves the session as it is */
};

/* Connects when needed. 0: answer->result holds. Negative: err says what went wrong, in the daemon's words when it refused (answer->data
 * holds what else it said); ERR_CANCELLED after ^C; ERR_NO_DAEMON when it went away. msg_answer_fini(answer) is due in any case. */
int call_run(struct connection *conn, const char *method, const struct json *params, unsigned flags, struct msg_answer *answer,
             struct err *err);
#endif
