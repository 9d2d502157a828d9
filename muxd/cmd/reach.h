/* reach: who is confined types only into sessions that may do no more than he himself. */
#ifndef MUXD_CMD_REACH_H
#define MUXD_CMD_REACH_H
#include "cmd/cmd.h"

/* 0: the policy of the client lets its own commands do all that this session may. ERR_DENIED: it
 * does not; or another error, and it is not known. */
int reach_check(struct cmd_context *ctx, struct request *request, struct session *session,
                struct err *err);
#endif
