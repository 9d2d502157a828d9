/* offer: owns the meaning of [tools] shell_type and of the switches beside it, and the method
 * `tools` that tells them. */
#include "cmd/offer.h"
#include "base/bug.h"
#include "cmd/cmd.h"
#include "cmd/gate.h"
#include "cmd/gate_default.h"
#include "wire/schema.h"

/* Models are offered one family of shell tools. The one-shot tool works beside the unified pair,
 * for models that know no other. */
static enum offer by_family(const struct config_tools *cfg, bool unified)
{
    switch (cfg->shell_type) {
    case CONFIG_SHELL_TYPE_DISABLED: return OFFER_NO;
    case CONFIG_SHELL_TYPE_SHELL_COMMAND: return unified ? OFFER_NO : OFFER_SHOWN;
    default: return unified ? OFFER_SHOWN : OFFER_HIDDEN;
    }
}

static bool is_switched_on(const struct config_tools *cfg, const struct tool *tool)
{
    switch ((enum tool_id)(tool - tools)) {
    case TOOL_EXEC_COMMAND: return cfg->exec_command;
    case TOOL_WRITE_STDIN: return cfg->write_stdin;
    case TOOL_SHELL_COMMAND:
    case TOOL_SHELL: return cfg->shell_command;
    case TOOL_APPLY_PATCH: return cfg->apply_patch;
    case TOOL_LIST_SESSIONS: return cfg->list_sessions;
    case TOOL_KILL_SESSION: return cfg->kill_session;
    case TOOL_READ_OUTPUT: return cfg->read_output;
    case TOOL_RUN_STEPS: return cfg->run_steps && cfg->write_stdin; /* run_steps writes, too */
    case TOOL_RUN_COMMAND: return cfg->run_command && cfg->write_stdin;
    case TOOL_READ_SCREEN: return cfg->read_screen;
    default: return true;
    }
}

enum offer offer_of(const struct config_tools *cfg, const struct tool *tool)
{
    BUG_UNLESS(tool >= tools && tool < tools + TOOL_COUNT_);
    if (!is_switched_on(cfg, tool))
        return OFFER_NO;
    if (tool == &tools[TOOL_EXEC_COMMAND] || tool == &tools[TOOL_WRITE_STDIN] ||
        tool == &tools[TOOL_RUN_STEPS] || tool == &tools[TOOL_RUN_COMMAND])
        return by_family(cfg, true);
    if (tool == &tools[TOOL_SHELL_COMMAND])
        return by_family(cfg, false);
    if (tool == &tools[TOOL_SHELL]) /* models are no longer taught this one */
        return by_family(cfg, false) == OFFER_NO ? OFFER_NO : OFFER_HIDDEN;
    return OFFER_SHOWN;
}

/* The arguments by which a call asks for approvals, where the policy that judges it lets it use
 * them; `choices`: the values that are not refused. */
static void offer_add_approval(const struct config_policy *policy, struct json *into)
{
    bool escalates = policy_lets_escalate(policy), adds = policy_lets_add(policy);
    const char *choices = escalates && adds ? "use_default require_escalated "
                                              "with_additional_permissions"
                          : escalates ? "use_default require_escalated"
                          : adds      ? "use_default with_additional_permissions"
                                      : "use_default";
    const struct { const char *name, *choices;
    } fields[] = {{"sandbox_permissions", choices},
                  {"justification", NULL},
                  {"prefix_rule", NULL},
                  {"additional_permissions", NULL}};
    if (!policy_asks(policy))
        return;
    struct json *list = json_add_array(into, "with");
    for (size_t i = 0; i < sizeof fields / sizeof *fields - !adds; i++) {
        struct json *one = json_add_object(list, NULL);
        json_add_text(one, "name", fields[i].name);
        if (fields[i].choices)
            json_add_text(one, "choices", fields[i].choices);
    }
}

void cmd_TOOLS(struct cmd_context *ctx, struct request *request)
{
    struct err err;
    const char *name;
    if (gate_default_waits(ctx, request, cmd_TOOLS))
        return;
    const struct config_policy *policy = gate_policy(ctx, request, &name, &err);
    if (err.code < 0) {
        request_fail(request, &err);
        return;
    }
    struct json *result = json_object_new(), *list = json_add_array(result, "tools");
    for (size_t i = 0; i < TOOL_COUNT_; i++) {
        enum offer offer = offer_of(&ctx->config->tools, &tools[i]);
        if (tools[i].kind != TOOL_MODEL || offer == OFFER_NO)
            continue;
        struct json *one = json_add_object(list, NULL);
        json_add_text(one, "name", tools[i].name);
        json_add_bool(one, "shown", offer == OFFER_SHOWN);
    }
    /* arguments that are refused by the config, for no schema to show them */
    if (!ctx->config->tools.allow_login)
        json_add_text(json_add_array(result, "without"), NULL, "login");
    offer_add_approval(policy, result);
    request_reply(request, result);
}
