/* gate_policy: which policy of the config a request is judged by. */
#ifndef MUXD_CMD_GATE_POLICY_H
#define MUXD_CMD_GATE_POLICY_H
#include "cmd/cmd.h"
#include "guard/policy.h"

/* The policy by which the request is judged, by its name as well ("": [policy]): that of the
 * session it comes from, else that which it names (_meta.profile), else by the kind of client; of
 * `ue mcp` also without a section (gate_default.h). NULL: nothing holds, or err (then
 * err->code < 0: it names one that there is not). Borrowed for the turn. */
const struct config_policy *gate_policy(struct cmd_context *ctx, struct request *request,
                                        const char **name, struct err *err);
/* It comes from `ue mcp` or from what that has started: what the config leaves open is not free. */
bool gate_policy_is_default(struct cmd_context *ctx, struct request *request);
#endif
