/* approvals_told: owns how an approval is described, and who is told of it. */
#include "cmd/approvals_told.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cmd/approvals.h"
#include "cmd/attachment.h"
#include "cmd/meta.h"
#include "parts/events/events.h"
#include <string.h>

/* What a person reads: one line, nothing in it that a terminal would obey or turn round. */
static void approvals_add_safe(struct json *into, const char *key, const char *text)
{
    struct buf shown = BUF_INIT;
    utf8_append_escaped(&shown, text, strlen(text), false);
    json_add_buf(into, key, &shown);
    buf_fini(&shown);
}

void approvals_describe(const struct approval *approval, struct json *into)
{
    json_add_text(into, "id", approval->id);
    approvals_add_safe(into, "command", approval->shown);
    approvals_add_safe(into, "cwd", approval->cwd);
    approvals_add_safe(into, "reason", approval->reason);
    json_add_bool(into, "tty", approval->tty);
    approvals_add_safe(into, "sandbox", approval->sandbox);
    json_add_text(into, "permissions", approval->permissions);
    json_add_text(into, "policy", approval->policy);
    if (approval->added)
        approvals_add_safe(into, "env", approval->added);
    if (approval->prefix) {
        struct json *list = json_add_array(into, "always");
        for (char *const *at = approval->prefix; *at; at++)
            json_add_text(list, NULL, *at);
    }
    if (approval->client)
        approvals_add_safe(into, "client", approval->client);
    if (approval->from_session)
        json_add_int(into, "from_session", (int64_t)approval->from_session);
    json_add_int(into, "uid", approval->uid);
    json_add_int(into, "pid", approval->pid);
    json_add_int(into, "asked_ms", approval->asked_ms);
    json_add_int(into, "timeout_ms", approval->timeout_ms);
}

static void tell_terminals(const struct approval *approval)
{
    for (struct attachment *at = approval->ctx->attachments; at; at = at->next)
        if (!at->read_only)
            attach_notice_asked(at);
}

void approvals_notify(const struct approval *approval, const char *state)
{
    struct json *facts;
    if (!approval->request || !meta_bool(approval->request, "notify"))
        return;
    facts = json_object_new();
    json_add_text(facts, "state", state);
    approvals_describe(approval, facts);
    json_add_bool(facts, "elicits", approval->elicits);
    request_notify(approval->request, "approval", facts);
}

void approvals_tell(const struct approval *approval, const char *state, const char *span)
{
    struct json *facts = json_object_new();
    json_add_text(facts, "state", state);
    if (span)
        json_add_text(facts, "span", span);
    if (approval->elicited)
        json_add_text(facts, "by", CONFIG_ASK_ELICITATION);
    approvals_describe(approval, facts);
    events_approval(approval->ctx->registry, facts);
    json_free(facts);
    log_info("approval %s: %s: %s", approval->id, state, approval->shown);
    if (strcmp(state, "asked") == 0)
        tell_terminals(approval);
}
