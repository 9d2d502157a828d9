/* hand_over: gives the terminal to a session for a while. */
#ifndef MUXD_CLIENT_HAND_OVER_H
#define MUXD_CLIENT_HAND_OVER_H
#include "client/rpc/connect.h"

/* Runs `ue attach` for that session on this terminal as a child, and returns its exit status when
 * the person has left it. -1 and errno: it could not be begun. */
int hand_over_terminal(const struct connection *conn, int64_t number);
#endif
