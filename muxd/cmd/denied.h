/* denied: answers say that a sandbox has refused what the command wanted. */
#ifndef MUXD_CMD_DENIED_H
#define MUXD_CMD_DENIED_H
#include "cmd/cmd.h"

/* When the session has ended with a failure in its sandbox, and it was the sandbox: a line behind
 * the answer's content, which Codex does not have, and `_meta.denial` for programs. */
void denied_tell(struct cmd_context *ctx, struct request *request, struct session *session,
                 struct json *answer);
/* Whether that is so, and the command could do it without the sandbox. */
bool denied_is(struct cmd_context *ctx, struct session *session);
#endif
