/* answering: a person's answers to the commands that wait for one: what each key means to the
 * daemon, and the view that walks through them on a terminal that shows something else. */
#ifndef MUXD_CLIENT_ANSWERING_H
#define MUXD_CLIENT_ANSWERING_H
#include "base/buf.h"
#include "client/rpc/connect.h"
#include "wire/msg.h"

/* The answer that a key stands for: y once, s for the session, a always, n no. False: none. */
bool answering_means(int32_t key);
/* What waits, for a person who will answer: refused where their answers would be. conn shows a
 * person. 0 or an error; the caller finishes answer in every case. */
int answering_list(struct connection *conn, struct msg_answer *answer, struct err *err);
/* Gives that answer. 0 or an error; the caller finishes answer in every case. */
int answering_send(struct connection *conn, const struct json *approval, int32_t key,
                   struct msg_answer *answer, struct err *err);
/* Covers an entered terminal with one question after the other, until all that waits now was asked
 * or the person leaves. It has a connection of its own, to where conn goes. out: as for
 * overlay_run. *said: what became of it, for a person; the caller's. False: the terminal is
 * gone. */
bool answering_run(const struct connection *conn, struct buf *out, char **said);
#endif
