/* retry: a command that its policy's sandbox has refused something is run again without it, once,
 * after a person's yes to that (CODEX.md 15.4). */
#ifndef MUXD_CMD_RETRY_H
#define MUXD_CMD_RETRY_H
#include "cmd/inflight.h"

#define RETRY_REASON "command failed; retry without sandbox?"
#define RETRY_PERMISSIONS "retry_without_sandbox" /* as approvals name what is asked */

/* To be asked when the call would be answered. True: it goes on with another session, or a person
 * is asked; the call may be freed. */
bool retry_takes(struct inflight *call, struct session *session);
/* Whether the request is handled for the second time, to run without a sandbox. */
bool retry_is_on(const struct request *request);
#endif
