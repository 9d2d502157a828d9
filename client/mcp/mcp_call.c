/* mcp_call: owns the calls that have no answer yet. As many are in flight as the daemon takes of a
 * connection, the others wait here in order. Each has a request_id, is sent again to the worker's
 * successor, and gets one answer. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/mcp/mcp.h"
#include "client/print/say.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define WINDOW_UNTOLD 32 /* when the daemon doesn't tell its requests_per_connection */

void mcp_flush(struct mcp *mcp)
{
    struct connection *conn = &mcp->ue->conn;
    while (mcp->to_daemon.len > 0 && conn->fd >= 0) {
        ssize_t n = send(conn->fd, mcp->to_daemon.data, mcp->to_daemon.len,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) /* full; or lost, which the next read reports */
            return;
        buf_consume(&mcp->to_daemon, (size_t)n);
    }
}

/* Sends calls up to the window. */
static void send_next(struct mcp *mcp)
{
    BUG_UNLESS(mcp->sent <= mcp->count);
    while (mcp->sent < mcp->count && mcp->sent < mcp->window) {
        const struct buf *line = &mcp->calls[mcp->sent++]->line;
        buf_append(&mcp->to_daemon, line->data, line->len);
    }
    mcp_flush(mcp);
}

/* On a new connection: asks for the window. One call may go meanwhile. */
static void begin_connection(struct mcp *mcp)
{
    BUG_UNLESS(mcp->ue->conn.fd >= 0);
    mcp->hello = mcp->ue->conn.next_id++;
    mcp->window = 1;
    mcp->sent = 0;
    buf_clear(&mcp->to_daemon);
    struct json *params = json_object_new();
    params_meta(mcp->ue, params, META_MCP);
    json_add_bool(params, "policy", true);
    msg_request(&mcp->to_daemon, mcp->hello, "hello", params);
    json_free(params);
}

void mcp_drop(struct mcp *mcp, size_t at)
{
    BUG_UNLESS(at < mcp->count);
    struct mcp_call *call = mcp->calls[at];
    BUG_UNLESS(mcp->bytes >= call->line.len);
    memmove(mcp->calls + at, mcp->calls + at + 1, (--mcp->count - at) * sizeof *mcp->calls);
    mcp->sent -= at < mcp->sent;
    mcp->bytes -= call->line.len;
    mcp_ask_end(mcp, call);
    buf_fini(&call->line);
    json_free(call->token);
    json_free(call->asked);
    mcp_unanswered(mcp, &call->to);
    free(call);
}

/* Removes the call from the list; the caller sends its answer. */
static struct mcp_to mcp_call_settle(struct mcp *mcp, size_t at)
{
    BUG_UNLESS(at < mcp->count);
    struct mcp_to to = mcp->calls[at]->to;
    mcp->calls[at]->to.batch = NULL;
    mcp->calls[at]->to.round = NULL;
    mcp_drop(mcp, at);
    return to;
}

static void mcp_call_reply_text(struct mcp *mcp, const struct mcp_to *to, const char *text,
                                size_t len, const struct json *facts, bool is_error)
{
    struct json *result = json_object_new(),
                *item = json_add_object(json_add_array(result, "content"), NULL);
    json_add_text(item, "type", "text");
    json_add_str(item, "text", text, len);
    const struct json *meta = json_get(facts, "_meta");
    if (meta)
        json_add(result, "_meta", json_copy(meta));
    if (facts && to->version >= MCP_2025_06_18) {
        struct json *structured = json_copy(facts);
        json_free(json_detach(structured, "_meta"));
        /* the text for the model stands in it once: as output, or whole where nothing else is
         * shown */
        bool whole = to->shows_structured && json_get(structured, "content");
        json_free(json_detach(structured, whole ? "output" : "content"));
        json_add(result, "structuredContent", structured);
    }
    json_add_bool(result, "isError", is_error);
    mcp_reply(mcp, to, result);
}

static void reply_wrong(struct mcp *mcp, const struct mcp_to *to, const char *text)
{
    mcp_call_reply_text(mcp, to, text, strlen(text), NULL, true);
}

/* Takes params. given: the params of the client's request, or NULL. */
static void mcp_call_ask(struct mcp *mcp, const struct tool *tool, struct json *params,
                         const struct json *given, const struct mcp_to *to)
{
    struct err err;
    struct connection *conn = &mcp->ue->conn;
    bool connected = conn->fd >= 0;
    if (mcp->count >= MCP_CALLS_MAX || mcp->bytes >= MCP_CALLS_BYTES_MAX) {
        reply_wrong(mcp, to,
                    "not done: too many calls are unanswered already; wait for some of their "
                    "answers, then call again");
    } else if (connection_open(conn, &err) < 0) {
        mcp_fail(mcp, to, MCP_INTERNAL, err.text, NULL);
    } else {
        if (!connected)
            begin_connection(mcp);
        mcp->calls = xreallocarray(mcp->calls, mcp->count + 1, sizeof *mcp->calls);
        struct mcp_call *call = mcp->calls[mcp->count++] = xcalloc(1, sizeof *call);
        *call = (struct mcp_call){
            .number = conn->next_id++, .to = *to, .tool = tool, .line = BUF_INIT,
            .begun_ms = clock_mono_ms()};
        char client[MCP_CLIENT_ROOM];
        mcp_client_of(mcp, given, client);
        call->to.shows_structured = mcp_shows_structured(client);
        call->once = tool == &tools[TOOL_APPLY_PATCH] || tool == &tools[TOOL_RUN_STEPS] ||
                     tool == &tools[TOOL_RUN_COMMAND];
        if (to->elicits && to->version >= MCP_2026_07_28)
            call->asked = mcp_rounds_facts(given);
        mcp_progress_begin(call, given);
        msg_request(&call->line, call->number, tool->name, params);
        mcp->bytes += call->line.len;
        send_next(mcp);
    }
    json_free(params);
}

void mcp_list(struct mcp *mcp, const struct mcp_to *to)
{
    BUG_UNLESS(to->version != MCP_NONE);
    struct json *params = json_object_new();
    params_meta(mcp->ue, params, META_MCP);
    mcp_call_ask(mcp, &tools[TOOL_TOOLS], params, NULL, to);
}

/* Adds who types, for the input log of a session. */
static void add_author(const struct mcp *mcp, const struct json *params, struct json *arguments,
                       const struct mcp_to *to)
{
    struct json *meta = json_add_object(arguments, "_meta");
    char word[32], client[MCP_CLIENT_ROOM];
    mcp_client_of(mcp, params, client);
    if (client[0])
        json_add_text(meta, "client", client);
    if (to->elicits)
        json_add_bool(meta, "elicits", true);
    if (to->id.kind == MSG_ID_NUMBER) {
        snprintf(word, sizeof word, "%" PRId64, to->id.number);
        json_add_text(meta, "call_id", word);
    } else if (to->id.kind == MSG_ID_STRING) {
        json_add_text(meta, "call_id", to->id.text);
    }
}

void mcp_call(struct mcp *mcp, const struct json *params, const struct mcp_to *to)
{
    BUG_UNLESS(to->version != MCP_NONE);
    const struct json *given = json_get(params, "arguments");
    const char *name = json_get_str(params, "name", NULL);
    const struct tool *tool = name ? tool_by_name(name) : NULL;
    if (!tool || tool->kind != TOOL_MODEL) {
        struct buf text = BUF_INIT;
        buf_printf(&text, "Unknown tool: %.128s", name ? name : "(`name` must be a string)");
        mcp_fail(mcp, to, MCP_INVALID_PARAMS, text.data, NULL);
        buf_fini(&text);
        return;
    }
    if (given && json_type(given) != JSON_OBJECT && json_type(given) != JSON_NULL) {
        mcp_fail(mcp, to, MCP_INVALID_PARAMS, "`arguments` must be an object", NULL);
        return;
    }
    if (json_get(given, "_meta")) { /* set by ue, never by a model */
        reply_wrong(mcp, to, "failed to parse function arguments: unknown field `_meta`");
        return;
    }
    struct json *arguments = json_type(given) == JSON_OBJECT ? json_copy(given) : json_object_new();
    mcp_coerce(tool, arguments);
    add_author(mcp, params, arguments, to);
    params_meta(mcp->ue, arguments, META_PLACE | META_ID | META_MCP);
    mcp_call_ask(mcp, tool, arguments, params, to);
}

bool mcp_is_in_flight(const struct mcp *mcp, const struct msg_id *id)
{
    for (size_t i = 0; i < mcp->count; i++)
        if (msg_id_equal(&mcp->calls[i]->to.id, id))
            return true;
    return false;
}

void mcp_cancel_at(struct mcp *mcp, size_t at)
{
    BUG_UNLESS(at < mcp->count);
    if (at < mcp->sent) {
        struct json *params = json_object_new();
        json_add_int(params, "id", mcp->calls[at]->number);
        msg_request(&mcp->to_daemon, mcp->ue->conn.next_id++, "cancel", params);
        json_free(params);
    }
    mcp_drop(mcp, at);
    send_next(mcp);
}

void mcp_cancel(struct mcp *mcp, const struct msg_id *id)
{
    for (size_t i = 0; i < mcp->count; i++)
        if (msg_id_equal(&mcp->calls[i]->to.id, id)) {
            mcp_cancel_at(mcp, i);
            return;
        }
}

/* A failure that the model can act on is a result; one for the client's programmer is an error. */
static void refused(struct mcp *mcp, const struct mcp_to *to, const struct msg_answer *answer)
{
    size_t len = 0;
    const char *content = json_get_str(answer->data, "content", &len);
    if (answer->err.code == ERR_NO_SUCH_METHOD)
        mcp_fail(mcp, to, MCP_INVALID_PARAMS, answer->err.text, NULL);
    else if (content)
        mcp_call_reply_text(mcp, to, content, len, NULL, true);
    else
        reply_wrong(mcp, to, answer->err.text);
}

static void mcp_call_done(struct mcp *mcp, const struct mcp_to *to, const struct json *result)
{
    size_t len = 0;
    const char *content = json_get_str(result, "content", &len);
    /* present where a status other than 0 is a failure: in one-shot tools and patches */
    bool success = true;
    json_get_bool(result, "success", &success);
    struct buf text = BUF_INIT;
    if (!content) {
        json_print(&text, result);
        content = text.data;
        len = text.len;
    }
    mcp_call_reply_text(mcp, to, content, len, result, !success);
    buf_fini(&text);
}

static void take_window(struct mcp *mcp, const struct json *hello)
{
    int64_t most = 0;
    bool told = json_get_int(hello, "requests_per_connection", &most) && most > 0;
    const char *policy = json_get_str(hello, "policy", NULL);
    if (policy && !mcp->told_policy)
        say_note("commands of this client: %s", policy);
    mcp->told_policy = true;
    mcp->window = told ? (size_t)most : WINDOW_UNTOLD;
    mcp->hello = 0;
}

void mcp_answered(struct mcp *mcp, const char *line, size_t size)
{
    struct msg_answer answer;
    struct err err;
    size_t at = 0;
    bool parsed = msg_parse_answer(&answer, line, size, &err) == 0,
         readable = parsed && !answer.method && answer.id.kind == MSG_ID_NUMBER;
    if (parsed && answer.method && strcmp(answer.method, "approval") == 0)
        mcp_asked(mcp, answer.data);
    while (at < mcp->sent && !(readable && mcp->calls[at]->number == answer.id.number))
        at++;
    if (readable && mcp->hello && answer.id.number == mcp->hello) {
        take_window(mcp, answer.result);
    } else if (at < mcp->sent) { /* else the call was cancelled */
        const struct tool *tool = mcp->calls[at]->tool;
        struct mcp_to to = mcp_call_settle(mcp, at);
        if (answer.err.code < 0 && tool == &tools[TOOL_TOOLS])
            mcp_fail(mcp, &to, MCP_INTERNAL, answer.err.text, NULL);
        else if (answer.err.code < 0)
            refused(mcp, &to, &answer);
        else if (tool == &tools[TOOL_TOOLS])
            mcp_reply(mcp, &to, mcp_tools(answer.result, to.version));
        else
            mcp_call_done(mcp, &to, answer.result);
    }
    msg_answer_fini(&answer);
    send_next(mcp);
}

void mcp_give_up(struct mcp *mcp)
{
    while (mcp->count > 0) {
        bool sent = mcp->sent > 0;
        struct mcp_to to = mcp_call_settle(mcp, 0);
        reply_wrong(mcp, &to,
                    sent ? "standard input was closed before this call was answered; list_sessions "
                           "shows what became of it"
                         : "not done: standard input was closed before it was this call's turn");
    }
}

static void give_up_once(struct mcp *mcp)
{
    for (size_t i = mcp->sent; i-- > 0;) {
        if (!mcp->calls[i]->once)
            continue;
        struct mcp_to to = mcp_call_settle(mcp, i);
        reply_wrong(mcp, &to,
                    "the daemon went away before it answered; look at the files, or at the "
                    "session, to see what was done");
    }
}

void mcp_lost(struct mcp *mcp)
{
    struct connection *conn = &mcp->ue->conn;
    struct err err;
    connection_close(conn);
    buf_clear(&mcp->to_daemon);
    give_up_once(mcp);
    for (size_t i = 0; i < mcp->sent; i++) {
        struct mcp_call *call = mcp->calls[i];
        mcp->bytes -= call->line.len;
        mcp_ask_end(mcp, call); /* the worker's successor asks anew */
        call_again(&call->line, call->begun_ms);
        mcp->bytes += call->line.len;
    }
    mcp->sent = 0;
    if (mcp->count == 0)
        return;
    if (connection_reopen(conn, clock_mono_ms() + CONNECTION_RESTART_MS, &err) < 0) {
        while (mcp->count > 0) {
            struct mcp_to to = mcp_call_settle(mcp, 0);
            reply_wrong(mcp, &to,
                        "the daemon went away before it answered; list_sessions shows what became "
                        "of the session");
        }
        return;
    }
    begin_connection(mcp);
    send_next(mcp);
}
