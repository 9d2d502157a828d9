/* mcp_ask: owns what the client hears while a person is asked about a call: progress, and where the
 * daemon lets it, the question itself (elicitation/create). The first answer counts, here or at a
 * terminal. */
#include "base/bug.h"
#include "client/mcp/mcp.h"
#include "client/print/approval.h"
#include <stdio.h>
#include <string.h>

#define ID_PREFIX "approval-" /* our request's id is that and the approval's */
#define MCP_ASK_ID_ROOM (sizeof ID_PREFIX + MCP_APPROVAL_ROOM)

static const char *const choices[][2] = {
    {"once", "Run it this once"},
    {"session", "Run it, and the same command here again without asking"},
    {"deny", "Don't run it"}};
#define CHOICES (sizeof choices / sizeof *choices)

bool mcp_can_elicit(const struct json *capabilities, enum mcp_version version)
{
    const struct json *elicitation = json_get(capabilities, "elicitation");
    return version >= MCP_2025_06_18 && json_type(elicitation) == JSON_OBJECT &&
           (!json_first(elicitation) || json_get(elicitation, "form"));
}

static void ask_send(struct mcp *mcp, struct buf *line)
{
    mcp_out_add(&mcp->out, line->data, line->len);
    buf_fini(line);
}

/* A choice and its title stand together since 2025-11-25; older clients know two lists. */
static void form_choices(struct json *answer, enum mcp_version version)
{
    if (version >= MCP_2026_07_28) {
        struct json *list = json_add_array(answer, "oneOf");
        for (size_t i = 0; i < CHOICES; i++) {
            struct json *one = json_add_object(list, NULL);
            json_add_text(one, "const", choices[i][0]);
            json_add_text(one, "title", choices[i][1]);
        }
        return;
    }
    struct json *values = json_add_array(answer, "enum"),
                *names = json_add_array(answer, "enumNames");
    for (size_t i = 0; i < CHOICES; i++) {
        json_add_text(values, NULL, choices[i][0]);
        json_add_text(names, NULL, choices[i][1]);
    }
}

/* One choice of three. */
static struct json *form(enum mcp_version version)
{
    struct json *schema = json_object_new();
    json_add_text(schema, "type", "object");
    struct json *answer = json_add_object(json_add_object(schema, "properties"), "answer");
    json_add_text(answer, "type", "string");
    json_add_text(answer, "title", "Run it?");
    form_choices(answer, version);
    json_add_text(json_add_array(schema, "required"), NULL, "answer");
    return schema;
}

static void add_question(struct json *into, const struct mcp_call *call)
{
    struct buf text = BUF_INIT;
    BUG_UNLESS(call->question);
    buf_append_text(&text, "A command waits for your approval.\n");
    approval_append_facts(&text, call->question);
    json_add_text(into, "method", "elicitation/create");
    struct json *params = json_add_object(into, "params");
    if (call->to.version >= MCP_2026_07_28)
        json_add_text(params, "mode", "form");
    json_add_buf(params, "message", &text);
    json_add(params, "requestedSchema", form(call->to.version));
    buf_fini(&text);
}

static void ask_id(char id[MCP_ASK_ID_ROOM], const struct mcp_call *call)
{
    snprintf(id, MCP_ASK_ID_ROOM, ID_PREFIX "%s", call->approval);
}

static void ask_elicit(struct mcp *mcp, struct mcp_call *call)
{
    struct buf line = BUF_INIT;
    char id[MCP_ASK_ID_ROOM];
    struct json *request = json_object_new();
    ask_id(id, call);
    json_add_text(request, "jsonrpc", "2.0");
    json_add_text(request, "id", id);
    add_question(request, call);
    json_print(&line, request);
    buf_append_byte(&line, '\n');
    json_free(request);
    call->elicits = true;
    ask_send(mcp, &line);
}

void mcp_ask_end(struct mcp *mcp, struct mcp_call *call)
{
    if (call->elicits) {
        struct buf line = BUF_INIT;
        char id[MCP_ASK_ID_ROOM];
        ask_id(id, call);
        struct json *params = json_object_new();
        json_add_text(params, "requestId", id);
        json_add_text(params, "reason", "it was answered elsewhere, or is not asked any more");
        msg_notification(&line, "notifications/cancelled", params);
        json_free(params);
        ask_send(mcp, &line);
    }
    json_free(call->question);
    call->question = NULL;
    call->elicits = false;
    call->approval[0] = '\0';
}

static struct mcp_call *call_of(struct mcp *mcp, const struct json *told)
{
    int64_t number = -1;
    json_get_int(told, "request", &number);
    for (size_t i = 0; i < mcp->sent; i++)
        if (mcp->calls[i]->number == number)
            return mcp->calls[i];
    return NULL;
}

void mcp_asked(struct mcp *mcp, const struct json *told)
{
    bool elicits = false;
    struct mcp_call *call = call_of(mcp, told);
    const char *id = approval_text(told, "id");
    if (!call || strlen(id) >= MCP_APPROVAL_ROOM)
        return;
    mcp_ask_end(mcp, call);
    if (strcmp(approval_text(told, "state"), "asked") == 0) {
        snprintf(call->approval, sizeof call->approval, "%s", id);
        if (json_get_bool(told, "elicits", &elicits) && elicits)
            call->question = json_copy(told);
    }
    if (call->question && call->to.version >= MCP_2026_07_28)
        mcp_rounds_ask(mcp, call);
    else if (call->question)
        ask_elicit(mcp, call);
    mcp_progress_now(mcp, call);
}

void mcp_ask_form(struct json *into, const struct mcp_call *call)
{
    char id[MCP_ASK_ID_ROOM];
    ask_id(id, call);
    add_question(json_add_object(into, id), call);
}

static const char *ask_choice(const struct json *result)
{
    const char *action = json_get_str(result, "action", NULL),
               *answer = json_get_str(json_get(result, "content"), "answer", NULL);
    if (action && (strcmp(action, "decline") == 0 || strcmp(action, "cancel") == 0))
        return "deny";
    if (!action || strcmp(action, "accept") != 0 || !answer)
        return NULL;
    for (size_t i = 0; i < CHOICES; i++)
        if (strcmp(answer, choices[i][0]) == 0)
            return choices[i][0];
    return NULL;
}

/* False: result makes no choice. */
static bool ask_tell(struct mcp *mcp, struct mcp_call *call, const struct json *result)
{
    const char *choice = ask_choice(result);
    if (!choice)
        return false;
    BUG_UNLESS(call->approval[0]);
    struct json *params = json_object_new();
    bool deny = strcmp(choice, "deny") == 0;
    json_add_text(params, "approval", call->approval);
    if (strcmp(choice, "session") == 0)
        json_add_text(params, "span", choice);
    msg_request(&mcp->to_daemon, mcp->ue->conn.next_id++, deny ? "deny" : "approve", params);
    json_free(params);
    mcp_flush(mcp);
    return true;
}

bool mcp_ask_take(struct mcp *mcp, struct mcp_call *call, const struct json *responses)
{
    char id[MCP_ASK_ID_ROOM];
    ask_id(id, call);
    return call->question && ask_tell(mcp, call, json_get(responses, id));
}

void mcp_ask_answered(struct mcp *mcp, const struct json *reply)
{
    const char *id = json_get_str(reply, "id", NULL);
    size_t prefix = strlen(ID_PREFIX);
    if (!id || strncmp(id, ID_PREFIX, prefix) != 0)
        return;
    for (size_t i = 0; i < mcp->sent; i++) {
        struct mcp_call *call = mcp->calls[i];
        if (!call->elicits || strcmp(call->approval, id + prefix) != 0)
            continue;
        call->elicits = false; /* it makes no choice: the terminal's question stays */
        ask_tell(mcp, call, json_get(reply, "result"));
        return;
    }
}
