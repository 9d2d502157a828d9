/* doctor_approvals: owns the row about questions to a person: what may ask, and who would see
 * it. */
#include "cmd/attachment.h"
#include "cmd/doctor.h"
#include "cmd/gate_default.h"
#include "guard/policy.h"
#include "wire/event.h"
#include <string.h>

struct reach { /* by which ways a question may reach a person */
    size_t terminals, hooks;
    bool elicits; /* a policy that asks lets clients ask */
};

static void approvals_add_name(struct buf *out, const struct config_policy *policy)
{
    buf_printf(out, "%s[policy%s%s]", out->len ? ", " : "", *policy->name ? " " : "", policy->name);
}

static bool policy_elicits(const struct config_policy *policy)
{
    for (size_t i = 0; i < policy->ask.count; i++)
        if (strcmp(policy->ask.items[i], CONFIG_ASK_ELICITATION) == 0)
            return true;
    return false;
}

static void look_for_ways(const struct doctor *doctor, struct reach *reach)
{
    const struct config *config = doctor->config;
    for (size_t i = 0; i < config->nhooks; i++)
        reach->hooks += (config->hooks[i].types & EVENT_BIT(EVENT_APPROVAL)) != 0;
    for (struct attachment *at = doctor->ctx ? doctor->ctx->attachments : NULL; at; at = at->next)
        reach->terminals += !at->read_only;
}

void doctor_approvals(const struct doctor *doctor)
{
    const struct config *config = doctor->config;
    struct reach reach = {.terminals = 0};
    struct buf who = BUF_INIT;
    for (size_t i = 0; i < config->npolicies; i++)
        if (policy_asks(&config->policies[i])) {
            approvals_add_name(&who, &config->policies[i]);
            reach.elicits |= policy_elicits(&config->policies[i]);
        }
    if (!config_policy_find(config, GATE_MODELS) && doctor_bwrap_works(doctor->able))
        buf_printf(&who, "%sue mcp by default", who.len ? ", " : "");
    look_for_ways(doctor, &reach);
    struct doctor_say say = DOCTOR_FINE;
    if (who.len > 0 && reach.terminals == 0 && reach.hooks == 0 && !reach.elicits) {
        say.state = DOCTOR_ADVICE;
        say.means = "a question waits for ask_timeout and is refused, unless somebody looks at ue "
                    "approvals";
        say.todo = "ue attach or ue top at a terminal, or a [hook NAME] on approval that notifies "
                   "you (muxd-policy(7))";
    }
    if (who.len == 0)
        doctor_add(doctor->rows, DOCTOR_APPROVALS, say, "nothing asks");
    else
        doctor_add(doctor->rows, DOCTOR_APPROVALS, say,
                   "%s may ask; attached terminals: %zu, hooks: %zu, clients that may ask: %s",
                   who.data, reach.terminals, reach.hooks, reach.elicits ? "yes" : "no");
    buf_fini(&who);
}
