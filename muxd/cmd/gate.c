/* gate: owns the way from the arguments of a call to running, asking and refusing. */
#include "cmd/gate.h"
#include "cmd/additional.h"
#include "base/bug.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/approvals.h"
#include "cmd/failure.h"
#include "cmd/failure_words.h"
#include "cmd/hidden.h"
#include "cmd/meta.h"
#include "cmd/recorded.h"
#include "cmd/retry.h"
#include "parts/audit/audit.h"
#include "wire/schema.h"
#include <stdlib.h>
#include <string.h>

#define ESCALATED "require_escalated"

static const char *gate_permissions(struct request *request, const struct tool *tool)
{
    return schema_str(tool, request_params(request), "sandbox_permissions", NULL);
}

/* NULL, or the text of a refusal, the caller's. */
static char *refusal_of_arguments(const struct config_policy *policy, struct request *request,
                                  const struct tool *tool)
{
    const char *wish = gate_permissions(request, tool);
    bool more = strcmp(wish, "use_default") != 0, unified = tool == &tools[TOOL_EXEC_COMMAND];
    const struct json *additional = json_get(request_params(request), "additional_permissions");
    struct buf name = BUF_INIT;
    char *text = NULL;
    policy_name(policy, &name);
    if (additional_wanted(request, tool) && policy_sandbox(policy) != CONFINE_FULL_ACCESS)
        text = policy_lets_add(policy)
                   ? additional_refusal(additional)
                   : xasprintf("approval policy is %s; reject command \xe2\x80\x94 you cannot "
                               "request additional permissions unless the approval policy is "
                               "OnRequest",
                               name.data);
    else if (more && !policy_lets_escalate(policy))
        text = xasprintf("approval policy is %s; reject command \xe2\x80\x94 you %s ask for "
                         "escalated permissions if the approval policy is %s",
                         name.data, unified ? "cannot" : "should not", name.data);
    else if (additional_wanted(request, tool))
        text = xstrdup("additional permissions are disabled; enable "
                       "`features.exec_permission_approvals` before using "
                       "`" ADDITIONAL_WORD "`");
    else if (json_count(additional) > 0)
        text = xstrdup("`additional_permissions` requires `sandbox_permissions` set to "
                       "`" ADDITIONAL_WORD "`");
    buf_fini(&name);
    return text;
}

/* No command was made of them yet. */
static void gate_record_arguments(struct cmd_context *ctx, struct request *request,
                                  const struct tool *tool, const char *policy, const char *reason)
{
    static const char *const names[] = {"cmd", "command"};
    if (!audit_wants(ctx->registry, true))
        return;
    struct json *facts = recorded_asker(ctx, request, tool, policy);
    struct strv words = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json *given = json_get(request_params(request), names[i]);
        if (json_str(given, NULL))
            strv_add(&words, json_str(given, NULL));
        for (const struct json *it = json_first(given); it; it = json_next(it))
            strv_add(&words, json_str(it, NULL));
    }
    audit_add_command(facts, words.items);
    strv_fini(&words);
    recorded_refused(ctx, facts, reason);
}

bool gate_refuses_arguments(struct cmd_context *ctx, struct request *request,
                            const struct tool *tool)
{
    struct err err;
    const char *name;
    const struct config_policy *policy = gate_policy(ctx, request, &name, &err);
    if (err.code < 0) {
        failure_reply(request, tool, &err);
        return true;
    }
    char *text = refusal_of_arguments(policy, request, tool);
    if (!text)
        return false;
    struct json *data = json_object_new();
    err_set(&err, ERR_NOT_AVAILABLE, "%s", text);
    gate_record_arguments(ctx, request, tool, name, text);
    json_add_text(data, "content", text);
    request_fail_with(request, &err, data);
    free(text);
    return true;
}

static char *gate_sandbox(const struct gate *gate)
{
    struct buf text = BUF_INIT;
    sandboxing_words(&gate->sandboxing, &text);
    return buf_take(&text);
}

/* Variables and shells of the call's own may be, or name, programs that it has made before. */
static bool gate_brings_programs(const struct gate *gate)
{
    const struct json *params = request_params(gate->request);
    return json_count(json_get(params, "env")) > 0 || schema_has(params, "shell");
}

/* Without its policy's sandbox (CODEX.md 15.3): after a person's yes to that, or where rules allow
 * all of the command. What the call itself has asked for stays. */
static int gate_set_free(struct gate *gate, struct err *err)
{
    sandboxing_fini(&gate->sandboxing);
    int code = sandboxing_read(&gate->sandboxing, gate->tool, request_params(gate->request),
                               gate->cwd, err);
    hidden_give(gate->ctx, gate->request, &gate->sandboxing);
    return code;
}

/* A variable may name another program, or make a safe one run another (PATH, LD_PRELOAD,
 * GIT_EXTERNAL_DIFF …): with variables of the call's own nothing is known to be safe. */
static void gate_distrust_env(const struct gate *gate, const struct config_policy *policy,
                              struct policy_verdict *verdict)
{
    if (verdict->answer == POLICY_RUN && policy && policy->approval == CONFIG_APPROVAL_UNTRUSTED &&
        json_count(json_get(request_params(gate->request), "env")) > 0)
        verdict->answer = POLICY_ASK;
}

static void gate_decide(const struct gate *gate, const struct config_policy *policy,
                        const struct rule_case *judged, bool escalated,
                        struct policy_verdict *verdict)
{
    bool confined = policy_sandbox(policy) != CONFINE_FULL_ACCESS;
    policy_decide(gate->ctx->config, policy, judged, confined, escalated, verdict);
    if (retry_is_on(gate->request) && verdict->answer == POLICY_RUN)
        verdict->answer = POLICY_ASK;
    gate_distrust_env(gate, policy, verdict);
    /* what is hidden stays so: CODEX.md 15.3 */
    if (confined && verdict->rules.decision == RULE_ALLOW &&
        (policy->hidden.count > 0 || gate_brings_programs(gate))) {
        verdict->rules.decision = RULE_NONE;
        if (escalated && verdict->answer == POLICY_RUN)
            verdict->answer = POLICY_ASK;
    }
}

/* What a yes would give, as it is found again by. */
static const char *gate_asks_for(const struct gate *gate)
{
    return retry_is_on(gate->request) ? RETRY_PERMISSIONS
                                      : gate_permissions(gate->request, gate->tool);
}

static char **gate_wish(struct request *request)
{
    struct strv words = {0};
    const struct json *given = json_get(request_params(request), "prefix_rule");
    for (const struct json *it = json_first(given); it; it = json_next(it))
        strv_add(&words, json_str(it, NULL));
    return strv_take(&words);
}

bool gate_elicits(struct cmd_context *ctx, struct request *request,
                  const struct config_policy *policy)
{
    bool allowed = false;
    for (size_t i = 0; i < policy->ask.count; i++)
        allowed |= strcmp(policy->ask.items[i], CONFIG_ASK_ELICITATION) == 0;
    return allowed && meta_bool(request, "elicits") &&
           !registry_of_process(ctx->registry, peer_pid(request_peer(request)));
}

/* Makes the question; the request is parked later. */
static int gate_ask(const struct gate *gate, const struct config_policy *policy,
                    const struct rule_case *judged, const struct policy_verdict *verdict,
                    const char *shown, const char *reason, const char *sandbox, struct err *err)
{
    const struct json *params = request_params(gate->request);
    char **wish = gate_wish(gate->request);
    const char *justification = schema_str(gate->tool, params, "justification", NULL);
    struct json *record = recorded_command(gate, verdict->rules.why.rule);
    int result = approvals_ask(
        gate->ctx, gate->request,
        &(struct approval_question){
            .tool = gate->tool,
            .again = gate->again,
            .argv = gate->argv,
            .env = gate->env,
            .cwd = gate->cwd,
            .tty = gate->tty,
            .elicits = gate_elicits(gate->ctx, gate->request, policy),
            .shown = shown,
            .reason = justification && !retry_is_on(gate->request) ? justification : reason,
            .policy = policy->name,
            .sandbox = sandbox,
            .permissions = gate_asks_for(gate),
            .record = record,
            .canonical = policy_canonical(judged),
            /* a rule would let it run without any sandbox */
            .prefix = additional_wanted(gate->request, gate->tool)
                          ? NULL
                          : policy_offer(gate->ctx->config, judged, verdict, wish),
            .timeout_ms = policy->ask_timeout_ms},
        err);
    strv_free(wish);
    if (result < 0 && result != ERR_AUDIT && audit_wants(gate->ctx->registry, true))
        recorded_refused(gate->ctx, json_copy(record), err->text);
    json_free(record);
    return result < 0 ? result : GATE_ASKED;
}

/* Refused; the text is policy_words'. */
static int gate_refuse(const struct policy_verdict *verdict, const char *text, struct err *err)
{
    const struct config_rule *rule = verdict->rules.why.rule;
    log_info("refused by %s%s: %s", rule ? "rule " : "policy", rule ? rule->name : "", text);
    return err_set(err, ERR_DENIED, "%s", text);
}

/* Who lets it run. */
static const char *gate_decider(const struct gate *gate, const struct policy_verdict *verdict)
{
    if (verdict->answer == POLICY_ASK)
        return "person";
    return verdict->rules.decision == RULE_ALLOW ? "rule" : gate->policy ? "policy" : NULL;
}

/* What the verdict comes to: the sandbox is that in which the command will run. */
static int gate_settle(struct gate *gate, const struct config_policy *policy,
                       const struct rule_case *judged, const struct policy_verdict *verdict,
                       struct err *err)
{
    struct buf text = BUF_INIT;
    char *shown = failure_words_joined(gate->argv);
    int result = 0;
    if (verdict->answer == POLICY_ASK && retry_is_on(gate->request))
        buf_append_text(&text, RETRY_REASON);
    else if (verdict->answer != POLICY_RUN)
        policy_words(policy, judged, verdict, shown, &text);
    if (verdict->answer == POLICY_REFUSE) {
        result = gate_refuse(verdict, text.data, err);
        if (audit_wants(gate->ctx->registry, true))
            recorded_refused(gate->ctx, recorded_command(gate, verdict->rules.why.rule), text.data);
    } else if (verdict->answer == POLICY_ASK) {
        char **canonical = policy_canonical(judged), *sandbox = gate_sandbox(gate);
        const struct approval_key key = {canonical, gate->env, gate->cwd, gate->tty,
                                         gate_asks_for(gate), sandbox};
        if (!approvals_has_yes(gate->ctx, gate->request, gate->argv, &key))
            result = gate_ask(gate, policy, judged, verdict, shown, text.data, sandbox, err);
        strv_free(canonical);
        free(sandbox);
    }
    if (result == 0)
        recorded_allowed(gate, verdict->rules.why.rule, gate_decider(gate, verdict));
    free(shown);
    buf_fini(&text);
    return result;
}

int gate_command(struct gate *gate, struct err *err)
{
    const char *name;
    const struct config_policy *policy = gate_policy(gate->ctx, gate->request, &name, err);
    bool escalated = strcmp(gate_permissions(gate->request, gate->tool), ESCALATED) == 0,
         confined = policy_sandbox(policy) != CONFINE_FULL_ACCESS;
    struct rule_case judged;
    struct policy_verdict verdict;
    if (err->code < 0)
        return err->code;
    config_bounds(gate->ctx->config, policy, &gate->limits);
    gate->policy = confined || policy_is_on(policy) ? name : NULL;
    int result = sandboxing_decide(&gate->sandboxing, escalated ? NULL : policy, gate->request,
                                   gate->tool, gate->cwd, err);
    hidden_give(gate->ctx, gate->request, &gate->sandboxing);
    if (result == ERR_DENIED && audit_wants(gate->ctx->registry, true))
        recorded_refused(gate->ctx, recorded_command(gate, NULL), err->text);
    bool more = result == 0 && gate->sandboxing.by_policy &&
                additional_wanted(gate->request, gate->tool);
    if (more)
        result = additional_widen(&gate->sandboxing, gate->ctx, gate->request, gate->cwd,
                                  gate->env, err);
    if (result < 0) {
        gate->policy = NULL; /* nothing was decided about the command itself */
        return result;
    }
    if (!gate->policy && gate->ctx->config->nrules == 0) {
        recorded_allowed(gate, NULL, NULL);
        return 0;
    }
    rules_open(&judged, gate->argv);
    gate_decide(gate, policy, &judged, escalated || more, &verdict);
    if (gate->sandboxing.by_policy &&
        (verdict.rules.decision == RULE_ALLOW || retry_is_on(gate->request)))
        result = gate_set_free(gate, err);
    if (!result)
        result = gate_settle(gate, policy, &judged, &verdict, err);
    rules_close(&judged);
    return result;
}

void gate_end(struct gate *gate, int result, const struct err *err)
{
    if (gate->record && gate->judged && result < 0 && result != ERR_AUDIT)
        recorded_refused(gate->ctx, gate->record, err->text);
    else
        json_free(gate->record);
    gate->record = NULL;
}

void gate_park(struct cmd_context *ctx, struct request *request)
{
    approvals_park(ctx, request);
}
