/* approve: list_approvals, approve and deny: what a person does about commands that wait. */
#include "base/buf.h"
#include "base/log.h"
#include "base/strv.h"
#include "cmd/always.h"
#include "cmd/approvals.h"
#include "cmd/meta.h"
#include "cmd/people.h"
#include "cmd/recorded.h"
#include "wire/schema.h"
#include <inttypes.h>
#include <stdlib.h>

static void approve_list_one(void *arg, const struct approval *approval)
{
    approvals_describe(approval, json_add_object(arg, NULL));
}

void cmd_LIST_APPROVALS(struct cmd_context *ctx, struct request *request)
{
    struct err err;
    if (schema_bool(&tools[TOOL_LIST_APPROVALS], request_params(request), "to_answer", false) &&
        people_check_evidence(ctx, request, tools[TOOL_APPROVE].name, &err) < 0) {
        request_fail(request, &err);
        return;
    }
    struct json *told = json_object_new();
    approvals_each(ctx, approve_list_one, json_add_array(told, "approvals"));
    request_reply(request, told);
}

static struct approval *approve_by(struct approval *approval, struct request *request,
                                   bool elicited)
{
    approval->elicited = elicited;
    approval->approver_uid = peer_uid(request_peer(request));
    approval->approver_pid = peer_pid(request_peer(request));
    return approval;
}

/* The approval that the request names, when a person asks, or the client that waits may ask its
 * own. NULL: the request was refused. */
static struct approval *approve_find(struct cmd_context *ctx, struct request *request,
                                     const struct tool *tool)
{
    const char *id = schema_str(tool, request_params(request), "approval", NULL);
    struct err err;
    struct approval *approval = approvals_find(ctx, id);
    if (approval && approvals_is_elicited(approval, request)) {
        return approve_by(approval, request, true);
    }
    if (people_check_evidence(ctx, request, tool->name, &err) < 0)
        approval = NULL;
    else if (!approval)
        err_set(&err, ERR_NO_SUCH_APPROVAL,
                "'%s': nothing of that id waits; ue approvals lists what does", id);
    if (!approval)
        request_fail(request, &err);
    return approval ? approve_by(approval, request, false) : NULL;
}

/* Puts the yes on record. False and the request refused: it can't be, or there can be no such
 * yes. */
static bool approve_record(struct request *request, struct approval *approval, const char *span)
{
    struct err err;
    if (*span == 'a' && approval->elicited) {
        err_set(&err, ERR_DENIED, "'always' is for a person at a terminal: ue approve --always %s",
                approval->id);
    } else if (*span == 'a' && !approval->prefix) {
        err_set(&err, ERR_NOT_AVAILABLE,
                "no rule can stand for this command; approve it once or for the session");
    } else if (recorded_answer(approval, "answered", span, &err) == 0) {
        return true;
    }
    request_fail(request, &err);
    return false;
}

/* The rule for --always, in words; false and the request refused: it can't be kept. */
static bool approve_always(struct cmd_context *ctx, struct request *request,
                           struct approval *approval, struct json *told)
{
    struct err err, unused_too;
    if (always_add(ctx, approval->prefix, &err) == 0) {
        struct json *unused = json_object_new();
        char *words = strv_quoted(approval->prefix);
        if (ctx->ops->reload(ctx->server, unused, &err) < 0)
            json_add_text(told, "warning", err.text);
        json_add_text(told, "rule", words);
        json_add_text(told, "file", ctx->config->rules_path ? ctx->config->rules_path : "");
        json_free(unused);
        free(words);
        return true;
    }
    recorded_answer(approval, "failed", err.text, &unused_too);
    request_fail(request, &err);
    return false;
}

void cmd_APPROVE(struct cmd_context *ctx, struct request *request)
{
    const struct tool *tool = &tools[TOOL_APPROVE];
    const char *span = schema_str(tool, request_params(request), "span", NULL);
    struct approval *approval = approve_find(ctx, request, tool);
    struct json *told = json_object_new();
    if (!approval || !approve_record(request, approval, span) ||
        (*span == 'a' && !approve_always(ctx, request, approval, told))) {
        json_free(told);
        return;
    }
    log_info("approval %s: yes (%s) by process %d%s", approval->id, span,
             (int)peer_pid(request_peer(request)),
             approval->elicited ? ", which asked for it" : "");
    json_add_text(told, "id", approval->id);
    json_add_text(told, "span", span);
    approvals_describe(approval, json_add_object(told, "approval"));
    approvals_grant(approval, *span == 's' ? APPROVAL_SESSION : APPROVAL_ONCE);
    request_reply(request, told);
}

void cmd_DENY(struct cmd_context *ctx, struct request *request)
{
    const struct tool *tool = &tools[TOOL_DENY];
    struct approval *approval = approve_find(ctx, request, tool);
    if (!approval)
        return;
    struct json *told = json_object_new();
    json_add_text(told, "id", approval->id);
    approvals_deny(approval, schema_str(tool, request_params(request), "because", NULL));
    request_reply(request, told);
}
