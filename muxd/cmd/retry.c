/* retry: owns the decision to run a command a second time. The request is marked and handled anew,
 * and the mark gives it another hash: so that a second run that a former worker has begun is found
 * and waited for, and there is never a third. */
#include "cmd/retry.h"
#include "cmd/denied.h"
#include "cmd/gate.h"
#include "cmd/meta.h"

bool retry_is_on(const struct request *request)
{
    return request_is_marked(request);
}

/* NULL: the tool runs no command. */
static void (*handler_of(const struct tool *tool))(struct cmd_context *, struct request *)
{
    return tool == &tools[TOOL_EXEC_COMMAND]    ? cmd_EXEC_COMMAND
           : tool == &tools[TOOL_SHELL_COMMAND] ? cmd_SHELL_COMMAND
           : tool == &tools[TOOL_SHELL]         ? cmd_SHELL
                                                : NULL;
}

/* The policy asks in this case, and has confined the command: a sandbox that the call itself has
 * asked for stays as it is. */
static bool retry_is_asked(const struct inflight *call, struct session *session)
{
    struct err err;
    const char *name;
    const struct config_policy *policy = gate_policy(call->ctx, call->request, &name, &err);
    return err.code == 0 && policy_retries(policy) &&
           policy_sandbox(policy) != CONFINE_FULL_ACCESS &&
           !sandboxing_wanted(call->tool, request_params(call->request)) &&
           denied_is(call->ctx, session);
}

static bool retry_has_begun(const struct inflight *call)
{
    uint64_t hash = meta_retry_hash(call->request);
    return hash && registry_by_request(call->ctx->registry, hash);
}

bool retry_takes(struct inflight *call, struct session *session)
{
    void (*handler)(struct cmd_context *, struct request *) = handler_of(call->tool);
    if (!handler || !call->request || request_is_marked(call->request) ||
        session_is_live(session) ||
        !(retry_has_begun(call) || retry_is_asked(call, session)))
        return false;
    struct cmd_context *ctx = call->ctx;
    struct request *request = inflight_give_back(call);
    request_mark(request);
    handler(ctx, request);
    return true;
}
