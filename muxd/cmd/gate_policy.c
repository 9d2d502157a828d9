/* gate_policy.c: finds the policy of a request: that of the session it comes from, the one it
 * names, or that of its kind of client. */
#include "cmd/gate_policy.h"
#include "base/mem.h"
#include "cmd/gate_default.h"
#include "cmd/meta.h"
#include <stdlib.h>
#include <string.h>

/* The name by which the policy is found; the caller's. *by_default: what the config leaves open is
 * as gate_default has it, for `ue mcp` and for what it has started. */
static char *gate_policy_name(struct cmd_context *ctx, struct request *request, bool *by_default)
{
    struct session *own = registry_of_process(ctx->registry, peer_pid(request_peer(request)));
    const char *profile = meta_str(request, "profile");
    char *of_session = own ? session_policy(own) : NULL;
    *by_default = of_session && strcmp(of_session, GATE_MODELS) == 0;
    if (*by_default || (of_session && config_policy_find(ctx->config, of_session)))
        return of_session;
    free(of_session);
    if (profile)
        return xstrdup(profile);
    bool verb = meta_bool(request, "verb");
    *by_default = !verb && meta_bool(request, "mcp");
    return xstrdup(verb ? "" : GATE_MODELS);
}

bool gate_policy_is_default(struct cmd_context *ctx, struct request *request)
{
    bool by_default;
    free(gate_policy_name(ctx, request, &by_default));
    return by_default;
}

const struct config_policy *gate_policy(struct cmd_context *ctx, struct request *request,
                                        const char **name, struct err *err)
{
    bool by_default;
    char *found = gate_policy_name(ctx, request, &by_default);
    const struct config_policy *policy = config_policy_find(ctx->config, found);
    *err = (struct err){0};
    if (by_default) {
        policy = gate_default(ctx, policy);
        *name = GATE_MODELS;
    } else {
        if (!policy && *found && strcmp(found, GATE_MODELS) != 0)
            err_set(err, ERR_ARGUMENTS, "there is no [policy %s] in the config; add it, or name "
                                        "another profile", found);
        *name = policy ? policy->name : NULL;
    }
    free(found);
    return policy;
}
