/* policy: check_policy and import_rules: what the rules say of a command, and rules of Codex as
 * sections of the config. */
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/bounds.h"
#include "cmd/command.h"
#include "cmd/gate_default.h"
#include "cmd/meta.h"
#include "guard/known.h"
#include "guard/policy.h"
#include "guard/rules.h"
#include "guard/rules_import.h"
#include "guard/shell_runs.h"
#include "wire/schema.h"
#include <stdlib.h>

struct telling {
    struct json *matches;
    struct buf *text;
};

static void policy_add_words(struct json *parent, const char *key, char *const *words)
{
    struct json *list = json_add_array(parent, key);
    for (; *words; words++)
        json_add_text(list, NULL, *words);
}

static void policy_add_match(void *ctx, const struct rule_match *match)
{
    struct telling *telling = ctx;
    const struct config_rule *rule = match->rule;
    struct json *one = json_add_object(telling->matches, NULL);
    char *prefix = strv_quoted(rule->prefix.items), *shown = strv_quoted(match->command->words);
    const char *decision = rule_decision_word(rule_decision_of(rule));
    json_add_text(one, "rule", rule->name);
    json_add_int(one, "line", rule->line);
    policy_add_words(one, "prefix", rule->prefix.items);
    json_add_text(one, "decision", decision);
    if (rule->justification)
        json_add_text(one, "justification", rule->justification);
    policy_add_words(one, "command", match->command->words);
    buf_printf(telling->text, "rule      [rule %s], line %d: %s `%s` for `%s`\n", rule->name,
               rule->line, decision, prefix, shown);
    free(prefix);
    free(shown);
}

static void policy_tell_commands(const struct rule_case *judged, struct json *result,
                                 struct buf *text)
{
    json_add_bool(result, "dangerous", judged->runs->dangerous);
    bool apart = judged->has_script && (judged->script.plain || judged->script.heredoc_only);
    struct json *list = json_add_array(result, "commands");
    const struct shell_command *commands = apart ? judged->script.commands : judged->runs->commands;
    size_t count = apart ? judged->script.count : judged->runs->count;
    json_add_bool(result, "plain", apart || !judged->has_script);
    if (judged->has_script && !apart) {
        json_add_text(result, "not_plain", judged->script.why);
        buf_printf(text, "script    not plain (%s): it may run more than what is listed here\n",
                   judged->script.why);
    }
    for (size_t i = 0; i < count; i++) {
        char *shown = strv_quoted(commands[i].words);
        policy_add_words(list, NULL, commands[i].words);
        bool safe = known_is_safe(commands[i].words),
             dangerous = known_is_dangerous(commands[i].words);
        buf_printf(text, "runs      %s%s\n", shown,
                   safe        ? "  (known to be safe)"
                   : dangerous ? "  (known to be dangerous)"
                               : "");
        free(shown);
    }
}

static void policy_tell_verdict(const struct rule_case *judged, const struct rule_verdict *verdict,
                                struct json *result, struct buf *text)
{
    bool refused = verdict->decision > RULE_ALLOW;
    json_add_text(result, "decision", rule_decision_word(verdict->decision));
    json_add_bool(result, "refused", refused);
    if (refused) {
        struct buf why = BUF_INIT;
        rules_refusal(judged, verdict, &why);
        if (verdict->decision == RULE_PROMPT)
            buf_append_text(text, "decision  prompt: a person has to approve it; refused where no "
                                  "[policy] asks one\n");
        else
            buf_printf(text, "decision  %s: refused: %s\n", rule_decision_word(verdict->decision),
                       why.data);
        json_add_buf(result, "refusal", &why);
    } else if (verdict->decision == RULE_ALLOW) {
        buf_append_text(text, "decision  allow: it runs\n");
    } else {
        buf_append_text(text, "decision  none: no rule says anything of it; it runs unless a "
                              "policy says otherwise\n");
    }
}

/* Why the policy refuses it, for people. */
static void policy_append_why(const struct config_policy *policy,
                              const struct policy_verdict *verdict, struct buf *text)
{
    bool by_rule = verdict->rules.decision == RULE_PROMPT,
         granular = policy->approval == CONFIG_APPROVAL_GRANULAR;
    buf_append_text(text, verdict->rules.decision == RULE_FORBIDDEN ? ": a rule forbids it"
                          : by_rule            ? ": a rule wants a person's approval"
                          : verdict->dangerous ? ": it is dangerous, and wants a person's approval"
                                               : ": it wants a person's approval");
    if (verdict->rules.decision != RULE_FORBIDDEN)
        buf_printf(text, ", and %s lets nobody be asked",
                   !policy_is_on(policy) ? "this policy (approval = off)"
                   : !granular           ? "approval = never"
                   : by_rule             ? "rules = no"
                                         : "sandbox_approval = no");
}

/* What a policy would make of it. by: behind its name. */
static void policy_tell_one(const struct config *cfg, const struct config_policy *policy,
                            const char *by, const struct rule_case *judged, struct json *list,
                            struct buf *text)
{
    static const char *const words[] = {"run", "ask", "refuse"};
    enum confine_mode mode = policy_sandbox(policy);
    struct policy_verdict verdict;
    if (!policy_is_on(policy) && mode == CONFINE_FULL_ACCESS && !config_policy_bounds(policy))
        return;
    policy_decide(cfg, policy, judged, mode != CONFINE_FULL_ACCESS, false, &verdict);
    bool free = mode == CONFINE_FULL_ACCESS ||
                (verdict.rules.decision == RULE_ALLOW && policy->hidden.count == 0);
    struct json *one = json_add_object(list, NULL);
    json_add_text(one, "policy", policy->name);
    json_add_text(one, "would", words[verdict.answer]);
    json_add_text(one, "sandbox", confine_mode_word(free ? CONFINE_FULL_ACCESS : mode));
    buf_printf(text, "policy    [policy%s%s]%s would %s%s", *policy->name ? " " : "", policy->name,
               by, words[verdict.answer], verdict.answer == POLICY_RUN ? " it" : "");
    if (verdict.answer == POLICY_REFUSE)
        policy_append_why(policy, &verdict, text);
    else if (!free)
        buf_printf(text, ", in the sandbox %s", confine_mode_word(mode));
    if (verdict.answer != POLICY_REFUSE)
        bounds_tell(cfg, policy, ", with the limits ", one, text);
    buf_append_byte(text, '\n');
}

/* What each policy would make of it, also the one that `ue mcp` has without a section. */
static void policy_tell_policies(struct cmd_context *ctx, const struct rule_case *judged,
                                 struct json *result, struct buf *text)
{
    const struct config *cfg = ctx->config;
    const struct config_policy *models = config_policy_find(cfg, GATE_MODELS),
                               *held = gate_default(ctx, models);
    struct json *list = json_add_array(result, "policies");
    for (size_t i = 0; i < cfg->npolicies; i++)
        policy_tell_one(cfg, &cfg->policies[i] == models ? held : &cfg->policies[i], "", judged,
                        list, text);
    if (!models && held)
        policy_tell_one(cfg, held, ", by default,", judged, list, text);
}

void cmd_CHECK_POLICY(struct cmd_context *ctx, struct request *request)
{
    const struct tool *tool = &tools[TOOL_CHECK_POLICY];
    const struct json *params = request_params(request), *cmd = json_get(params, "cmd");
    struct command command = {0};
    struct err err = {0};
    char **env = meta_env(ctx, request, META_ENV_CALLER, NULL, &err);
    int result = !env ? err.code
                 : json_str(cmd, NULL)
                     ? command_from_text(&command, ctx->config,
                                         schema_str(tool, params, "shell", NULL),
                                         schema_bool(tool, params, "login", true),
                                         json_str(cmd, NULL), env, &err)
                     : command_from_words(&command, ctx->config, cmd, &err);
    if (result == 0 && (!command.argv || !command.argv[0]))
        result = err_set(&err, ERR_ARGUMENTS, "'cmd' is empty; give a command");
    if (result == 0) {
        struct rule_case judged;
        struct rule_verdict verdict;
        struct json *told = json_object_new();
        struct buf text = BUF_INIT;
        char *shown = strv_quoted(command.argv);
        rules_open(&judged, command.argv);
        rules_judge(ctx->config, &judged, &verdict);
        buf_printf(&text, "command   %s\n", shown);
        policy_add_words(told, "argv", command.argv);
        policy_tell_commands(&judged, told, &text);
        struct telling telling = {json_add_array(told, "matches"), &text};
        rules_matches(ctx->config, &judged, policy_add_match, &telling);
        policy_tell_verdict(&judged, &verdict, told, &text);
        policy_tell_policies(ctx, &judged, told, &text);
        json_add_buf(told, "text", &text);
        rules_close(&judged);
        free(shown);
        request_reply(request, told);
    } else {
        request_fail(request, &err);
    }
    command_fini(&command);
    strv_free(env);
}

static void policy_add_refused(void *arg, int line, const char *why)
{
    struct json *one = json_add_object(arg, NULL);
    json_add_int(one, "line", line);
    json_add_text(one, "reason", why);
}

void cmd_IMPORT_RULES(struct cmd_context *ctx, struct request *request)
{
    const struct tool *tool = &tools[TOOL_IMPORT_RULES];
    const struct json *params = request_params(request);
    const char *name = schema_str(tool, params, "name", NULL);
    struct json *result = json_object_new(), *refused = json_add_array(result, "refused");
    struct buf out = BUF_INIT;
    (void)ctx;
    size_t taken = rules_import(name ? name : "the file", schema_str(tool, params, "input", NULL),
                                &out, policy_add_refused, refused);
    json_add_int(result, "rules", (int64_t)taken);
    if (json_count(refused) == 0 || schema_bool(tool, params, "skip_refused", false))
        json_add_buf(result, "text", &out);
    request_reply(request, result);
    buf_fini(&out);
}
