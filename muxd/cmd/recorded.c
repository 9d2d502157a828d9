/* recorded: owns the facts of the records that calls make. */
#include "cmd/recorded.h"
#include "base/utf8.h"
#include "cmd/meta.h"
#include "cmd/people.h"
#include "parts/audit/audit.h"
#include "wire/schema.h"
#include <string.h>

#define REASON_MAX 8192 /* bytes */

static void recorded_add(struct json *facts, const char *key, const char *text)
{
    if (text)
        json_add_text(facts, key, text);
}

/* It may hold the whole command. */
static void recorded_add_reason(struct json *facts, const char *text)
{
    if (text)
        json_add_str(facts, "reason", text, utf8_cut(text, strlen(text), REASON_MAX));
}

struct json *recorded_asker(struct cmd_context *ctx, struct request *request,
                            const struct tool *tool, const char *policy)
{
    struct json *facts = json_object_new();
    struct peer *peer = request_peer(request);
    const struct approval *granted = approvals_granted(ctx, request);
    struct session *own = registry_of_process(ctx->registry, peer_pid(peer));
    json_add_int(facts, "uid", peer_uid(peer));
    json_add_int(facts, "pid", peer_pid(peer));
    recorded_add(facts, "client", meta_str(request, "client"));
    json_add_text(facts, "kind", meta_bool(request, "verb") ? "verb" : "tool");
    json_add_text(facts, "tool", tool->name);
    /* its terminal can be looked at once, when the call comes: later it is closed */
    const struct json *known = granted ? json_get(granted->record, "person") : NULL;
    if (known)
        json_add(facts, "person", json_copy(known));
    else if (!granted && !request_is_marked(request))
        json_add_bool(facts, "person", people_is_person(ctx, request));
    recorded_add(facts, "call_id", meta_str(request, "call_id"));
    if (own)
        json_add_int(facts, "from_session", (int64_t)session_number(own));
    recorded_add(facts, "policy", policy);
    return facts;
}

struct json *recorded_command(const struct gate *gate, const struct config_rule *rule)
{
    struct json *facts = recorded_asker(gate->ctx, gate->request, gate->tool, gate->policy);
    audit_add_command(facts, gate->argv);
    json_add_text(facts, "cwd", gate->cwd);
    recorded_add(facts, "rule", rule ? rule->name : NULL);
    return facts;
}

static void recorded_add_approver(struct json *facts, const struct approval *approval)
{
    if (approval->approver_pid == 0) /* nobody answered */
        return;
    struct json *one = json_add_object(facts, "approver");
    json_add_int(one, "uid", approval->approver_uid);
    json_add_int(one, "pid", approval->approver_pid);
    json_add_text(one, "evidence", approval->elicited ? CONFIG_ASK_ELICITATION : "terminal");
}

void recorded_add_grant(struct json *facts, const struct approval *granted)
{
    if (!granted)
        return;
    json_add_text(facts, "approval", granted->id);
    recorded_add_approver(facts, granted);
}

void recorded_allowed(struct gate *gate, const struct config_rule *rule, const char *by)
{
    const struct approval *granted = approvals_take(gate->ctx, gate->request);
    gate->judged = by || granted;
    if (!audit_wants(gate->ctx->registry, gate->judged))
        return;
    gate->record = recorded_command(gate, rule);
    recorded_add(gate->record, "by", granted ? "person" : by);
    recorded_add_grant(gate->record, granted);
}

void recorded_refused(struct cmd_context *ctx, struct json *facts, const char *reason)
{
    struct err unused; /* the log has it */
    recorded_add_reason(facts, reason);
    audit_write(ctx->registry, "refused", NULL, facts, &unused);
    json_free(facts);
}

int recorded_question(const struct approval *approval, struct err *err)
{
    if (!audit_wants(approval->ctx->registry, true))
        return 0;
    struct json *facts = json_copy(approval->record);
    json_add_text(facts, "approval", approval->id);
    json_add_text(facts, "permissions", approval->permissions);
    json_add_text(facts, "asked_sandbox", approval->sandbox);
    recorded_add_reason(facts, approval->reason);
    int code = audit_write(approval->ctx->registry, "asked", NULL, facts, err);
    json_free(facts);
    return code;
}

int recorded_answer(const struct approval *approval, const char *what, const char *text,
                    struct err *err)
{
    if (!audit_wants(approval->ctx->registry, true))
        return 0;
    bool yes = strcmp(what, "answered") == 0;
    struct json *facts = json_copy(approval->record);
    json_add_text(facts, "approval", approval->id);
    recorded_add_approver(facts, approval);
    if (yes && *text == 'a') { /* always: what the rule allows that is added */
        struct json *words = json_add_array(facts, "always");
        for (char *const *at = approval->prefix; *at; at++)
            json_add_text(words, NULL, *at);
    }
    if (yes)
        json_add_text(facts, "span", text);
    else
        recorded_add_reason(facts, text);
    int code = audit_write(approval->ctx->registry, what, NULL, facts, err);
    json_free(facts);
    return code;
}
