/* secret_line: a secret on its way to the daemon, in a frame of its own, never in a JSON text. */
#ifndef MUXD_CLIENT_SECRET_LINE_H
#define MUXD_CLIENT_SECRET_LINE_H
#include "client/rpc/connect.h"
#include "wire/json.h"

/* Sends the line (at most HIDDEN_MAX bytes, without its line end) on a connection that type_secret
 * has taken over, and waits for what the daemon says to it: the caller's. NULL and err: the
 * connection was lost. */
struct json *secret_line_give(struct connection *conn, const char *line, size_t len,
                              struct err *err);
/* 0, or the error that the daemon's last words carry. */
int secret_line_code(const struct json *end, struct err *err);
#endif
