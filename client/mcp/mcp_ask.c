/* mcp_ask: owns what the client hears while a person is asked about a call: progress, and where the
 * daemon lets it, the question itself (elicitation/create). The first answer counts, here or at a
 * terminal. */
#include "base/bug.h"
#include "client/mcp/mcp.h"
#include "client/print/approval.h"
#include <stdio.h>
#include <string.h>

#define ID_PREFIX "approval-" /* our request's id is that and the approval's */

bool mcp_can_elicit(const struct json *capabilities, enum mcp_version version)
{
    const struct json *elicitation = json_get(capabilities, "elicitation");
    return version >= MCP_2025_06_18 && version < MCP_2026_07_28 &&
           json_type(elicitation) == JSON_OBJECT &&
           (!json_first(elicitation) || json_get(elicitation, "form"));
}

static void ask_send(struct mcp *mcp, struct buf *line)
{
    mcp_out_add(&mcp->out, line->data, line->len);
    buf_fini(line);
}

/* One choice of three. */
static struct json *form(void)
{
    static const char *const choices[][2] = {
        {"once", "Run it this once"},
        {"session", "Run it, and the same command here again without asking"},
        {"deny", "Don't run it"}};
    struct json *schema = json_object_new();
    json_add_text(schema, "type", "object");
    struct json *answer = json_add_object(json_add_object(schema, "properties"), "answer"),
                *values = json_array_new(), *names = json_array_new();
    json_add_text(answer, "type", "string");
    json_add_text(answer, "title", "Run it?");
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        json_add_text(values, NULL, choices[i][0]);
        json_add_text(names, NULL, choices[i][1]);
    }
    json_add(answer, "enum", values);
    json_add(answer, "enumNames", names);
    json_add_text(json_add_array(schema, "required"), NULL, "answer");
    return schema;
}

static void ask_elicit(struct mcp *mcp, struct mcp_call *call, const struct json *approval)
{
    struct buf line = BUF_INIT, text = BUF_INIT;
    char id[sizeof ID_PREFIX + MCP_APPROVAL_ROOM];
    snprintf(id, sizeof id, ID_PREFIX "%s", call->approval);
    buf_append_text(&text, "A command waits for your approval.\n");
    approval_append_facts(&text, approval);
    struct json *request = json_object_new();
    json_add_text(request, "jsonrpc", "2.0");
    json_add_text(request, "id", id);
    json_add_text(request, "method", "elicitation/create");
    struct json *params = json_add_object(request, "params");
    json_add_str(params, "message", text.data, text.len);
    json_add(params, "requestedSchema", form());
    json_print(&line, request);
    buf_append_byte(&line, '\n');
    json_free(request);
    buf_fini(&text);
    call->elicits = true;
    ask_send(mcp, &line);
}

void mcp_ask_end(struct mcp *mcp, struct mcp_call *call)
{
    if (call->elicits) {
        struct buf line = BUF_INIT;
        char id[sizeof ID_PREFIX + MCP_APPROVAL_ROOM];
        snprintf(id, sizeof id, ID_PREFIX "%s", call->approval);
        struct json *params = json_object_new();
        json_add_text(params, "requestId", id);
        json_add_text(params, "reason", "it was answered elsewhere, or is not asked any more");
        msg_notification(&line, "notifications/cancelled", params);
        json_free(params);
        ask_send(mcp, &line);
    }
    call->elicits = false;
    call->approval[0] = '\0';
}

void mcp_asked(struct mcp *mcp, const struct json *told)
{
    int64_t number = -1;
    bool elicits = false;
    struct mcp_call *call = NULL;
    const char *id = approval_text(told, "id");
    json_get_int(told, "request", &number);
    for (size_t i = 0; i < mcp->sent; i++)
        if (mcp->calls[i]->number == number)
            call = mcp->calls[i];
    if (!call || strlen(id) >= MCP_APPROVAL_ROOM)
        return;
    mcp_ask_end(mcp, call);
    if (strcmp(approval_text(told, "state"), "asked") == 0) {
        snprintf(call->approval, sizeof call->approval, "%s", id);
        if (json_get_bool(told, "elicits", &elicits) && elicits)
            ask_elicit(mcp, call, told);
    }
    mcp_progress_now(mcp, call);
}

/* The client's person has answered: tells the daemon. answer: a choice of the form. */
static void ask_tell(struct mcp *mcp, struct mcp_call *call, const char *answer)
{
    struct json *params = json_object_new();
    bool deny = strcmp(answer, "deny") == 0;
    json_add_text(params, "approval", call->approval);
    if (strcmp(answer, "session") == 0)
        json_add_text(params, "span", answer);
    call->elicits = false;
    msg_request(&mcp->to_daemon, mcp->ue->conn.next_id++, deny ? "deny" : "approve", params);
    json_free(params);
    mcp_flush(mcp);
}

void mcp_ask_answered(struct mcp *mcp, const struct json *reply)
{
    const char *id = json_get_str(reply, "id", NULL);
    const struct json *result = json_get(reply, "result");
    const char *action = json_get_str(result, "action", NULL),
               *answer = json_get_str(json_get(result, "content"), "answer", NULL);
    size_t prefix = strlen(ID_PREFIX);
    if (!id || strncmp(id, ID_PREFIX, prefix) != 0)
        return;
    for (size_t i = 0; i < mcp->sent; i++) {
        struct mcp_call *call = mcp->calls[i];
        if (!call->elicits || strcmp(call->approval, id + prefix) != 0)
            continue;
        BUG_UNLESS(call->approval[0]);
        if (action && (strcmp(action, "decline") == 0 || strcmp(action, "cancel") == 0))
            ask_tell(mcp, call, "deny");
        else if (action && strcmp(action, "accept") == 0 && answer &&
                 (strcmp(answer, "once") == 0 || strcmp(answer, "session") == 0 ||
                  strcmp(answer, "deny") == 0))
            ask_tell(mcp, call, answer);
        else
            call->elicits = false; /* it can't ask after all: the terminal's question stays */
        return;
    }
}
