/* policy: owns the decision between running, asking and refusing, and its words. */
#include "guard/policy.h"
#include "base/bug.h"
#include "guard/known.h"
#include "guard/shell_runs.h"
#include <stdlib.h>
#include <string.h>

#define RM_WORDS "rm -f style commands are not permitted. Use a safer approach"

bool policy_is_on(const struct config_policy *policy)
{
    return policy && policy->approval != CONFIG_APPROVAL_OFF;
}

bool policy_asks(const struct config_policy *policy)
{
    if (!policy_is_on(policy) || policy->approval == CONFIG_APPROVAL_NEVER)
        return false;
    return policy->approval != CONFIG_APPROVAL_GRANULAR || policy->rules ||
           policy->sandbox_approval;
}

bool policy_lets_escalate(const struct config_policy *policy)
{
    return policy && policy->approval == CONFIG_APPROVAL_ON_REQUEST;
}

bool policy_retries(const struct config_policy *policy)
{
    return policy && (policy->approval == CONFIG_APPROVAL_UNTRUSTED ||
                      (policy->approval == CONFIG_APPROVAL_GRANULAR && policy->sandbox_approval));
}

enum confine_mode policy_sandbox(const struct config_policy *policy)
{
    enum config_policy_sandbox sandbox = policy ? (enum config_policy_sandbox)policy->sandbox
                                                : CONFIG_POLICY_SANDBOX_DEFAULT;
    switch (sandbox) {
    case CONFIG_POLICY_SANDBOX_READ_ONLY: return CONFINE_READ_ONLY;
    case CONFIG_POLICY_SANDBOX_WORKSPACE_WRITE: return CONFINE_WORKSPACE_WRITE;
    case CONFIG_POLICY_SANDBOX_DEFAULT:
    case CONFIG_POLICY_SANDBOX_FULL_ACCESS: break;
    }
    return CONFINE_FULL_ACCESS;
}

bool policy_lets_add(const struct config_policy *policy)
{
    return policy_sandbox(policy) != CONFINE_FULL_ACCESS &&
           (policy->approval == CONFIG_APPROVAL_ON_REQUEST ||
            (policy->sandbox_approval && policy->approval == CONFIG_APPROVAL_GRANULAR));
}

void policy_name(const struct config_policy *policy, struct buf *out)
{
    enum config_approval approval = policy ? (enum config_approval)policy->approval
                                           : CONFIG_APPROVAL_OFF;
    switch (approval) {
    case CONFIG_APPROVAL_OFF:
    case CONFIG_APPROVAL_NEVER: buf_append_text(out, "Never"); return;
    case CONFIG_APPROVAL_ON_REQUEST: buf_append_text(out, "OnRequest"); return;
    case CONFIG_APPROVAL_UNTRUSTED: buf_append_text(out, "UnlessTrusted"); return;
    case CONFIG_APPROVAL_GRANULAR: break;
    }
    BUG_UNLESS(policy);
    const struct { const char *name; bool value;
    } fields[] = {{"sandbox_approval", policy->sandbox_approval},
                  {"rules", policy->rules},
                  {"skill_approval", policy->skill_approval},
                  {"request_permissions", policy->request_permissions},
                  {"mcp_elicitations", policy->mcp_elicitations}};
    buf_append_text(out, "Granular(GranularApprovalConfig { ");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        buf_printf(out, "%s%s: %s", i ? ", " : "", fields[i].name,
                   fields[i].value ? "true" : "false");
    buf_append_text(out, " })");
}

/* Codex takes a quoted name of a program for something else than its plain words: who writes
 * "'ls'" hides something. */
static bool has_quoted_name(const char *script, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = script; (at = strstr(at, name)); at++)
        if (at > script && (at[-1] == '\'' || at[-1] == '"') && at[len] == at[-1])
            return true;
    return false;
}

static bool policy_is_safe(const struct rule_case *judged, const struct shell_command *command)
{
    const char *script = shell_script_of(judged->argv);
    if (judged->has_script && (!judged->script.plain || !script ||
                               has_quoted_name(script, command->words[0])))
        return false;
    return known_is_safe(command->words);
}

static bool policy_is_dangerous(const struct shell_command *command)
{
    struct shell_runs runs;
    shell_runs(&runs, command->words);
    bool dangerous = runs.dangerous;
    shell_runs_fini(&runs);
    return dangerous;
}

/* One command that no rule allows (CODEX.md 15.2). */
static enum policy_answer decide_one(const struct config_policy *policy, bool safe, bool dangerous,
                                     bool confined, bool escalated)
{
    switch ((enum config_approval)policy->approval) {
    case CONFIG_APPROVAL_OFF: break;
    case CONFIG_APPROVAL_NEVER: return dangerous ? POLICY_REFUSE : POLICY_RUN;
    case CONFIG_APPROVAL_UNTRUSTED: return safe ? POLICY_RUN : POLICY_ASK;
    case CONFIG_APPROVAL_ON_REQUEST:
    case CONFIG_APPROVAL_GRANULAR:
        return dangerous || (confined && escalated) ? POLICY_ASK : POLICY_RUN;
    }
    return POLICY_RUN;
}

/* What may not ask is refused (CODEX.md 15.3). */
static bool policy_may_ask(const struct config_policy *policy, bool by_rule)
{
    if (policy->approval == CONFIG_APPROVAL_GRANULAR)
        return by_rule ? policy->rules : policy->sandbox_approval;
    return policy->approval != CONFIG_APPROVAL_NEVER;
}

static void decide_commands(const struct config *cfg, const struct config_policy *policy,
                            const struct rule_case *judged, bool confined, bool escalated,
                            struct policy_verdict *verdict)
{
    const struct shell_command *commands;
    size_t count = rules_segments(judged, &commands), allowed = 0;
    verdict->safe = true;
    for (size_t i = 0; i < count; i++) {
        if (rules_allows(cfg, &commands[i])) {
            allowed++;
            continue;
        }
        /* what one command prints another one may read: a script is looked at as a whole, too */
        bool safe = policy_is_safe(judged, &commands[i]),
             dangerous = policy_is_dangerous(&commands[i]) ||
                         (judged->runs->dangerous && allowed == 0);
        enum policy_answer answer = decide_one(policy, safe && !dangerous, dangerous, confined,
                                               escalated);
        verdict->safe = verdict->safe && safe;
        verdict->dangerous = verdict->dangerous || dangerous;
        if (answer > verdict->answer)
            verdict->answer = answer;
        if (answer == POLICY_ASK && !verdict->asking)
            verdict->asking = &commands[i];
    }
}

void policy_decide(const struct config *cfg, const struct config_policy *policy,
                   const struct rule_case *judged, bool confined, bool escalated,
                   struct policy_verdict *verdict)
{
    *verdict = (struct policy_verdict){.answer = POLICY_RUN};
    rules_judge(cfg, judged, &verdict->rules);
    bool by_rule = verdict->rules.decision == RULE_PROMPT;
    if (verdict->rules.decision == RULE_FORBIDDEN)
        verdict->answer = POLICY_REFUSE;
    else if (by_rule)
        verdict->answer = policy_is_on(policy) ? POLICY_ASK : POLICY_REFUSE;
    else if (verdict->rules.decision == RULE_NONE && policy_is_on(policy))
        decide_commands(cfg, policy, judged, confined, escalated, verdict);
    if (verdict->answer == POLICY_ASK && !policy_may_ask(policy, by_rule))
        verdict->answer = POLICY_REFUSE;
}

void policy_words(const struct config_policy *policy, const struct rule_case *judged,
                  const struct policy_verdict *verdict, const char *shown, struct buf *out)
{
    const struct config_rule *rule = verdict->rules.why.rule;
    bool by_rule = verdict->rules.decision == RULE_PROMPT,
         granular = policy && policy->approval == CONFIG_APPROVAL_GRANULAR;
    BUG_UNLESS(verdict->answer != POLICY_RUN);
    if (verdict->answer == POLICY_ASK && by_rule && rule->justification)
        buf_printf(out, "`%s` requires approval: %s", shown, rule->justification);
    else if (verdict->answer == POLICY_ASK)
        buf_printf(out, "`%s` requires approval by policy", shown);
    else if (granular && by_rule)
        buf_append_text(out, "approval required by policy rule, but "
                             "AskForApproval::Granular.rules is false");
    else if (verdict->rules.decision > RULE_ALLOW)
        rules_refusal(judged, &verdict->rules, out);
    else if (granular && verdict->dangerous)
        buf_append_text(out, RM_WORDS);
    else if (granular)
        buf_append_text(out, "approval required by policy, but "
                             "AskForApproval::Granular.sandbox_approval is false");
    else
        buf_printf(out, "`%s` rejected: " RM_WORDS, shown);
}
