/* mcp_message: owns the way of a client's message to who answers it, and of every answer to standard output. */
#include "base/mem.h"
#include "client/mcp.h"
#include "client/say.h"
#include <stdlib.h>
#include <string.h>

static void end_batch(struct mcp_batch *batch)
{
    if (--batch->left > 0)
        return;
    if (batch->out.len > 0) {
        buf_append_text(&batch->out, "]\n");
        say_out(batch->out.data, batch->out.len);
    }
    buf_fini(&batch->out);
    free(batch);
}

static void send_line(const struct mcp_to *to, struct buf *line)
{
    struct mcp_batch *batch = to->batch;
    if (!batch) {
        say_buf(line);
        return;
    }
    buf_append_byte(&batch->out, batch->out.len > 0 ? ',' : '[');
    buf_append(&batch->out, line->data, line->len - 1);
    buf_fini(line);
    end_batch(batch);
}

void mcp_reply(struct mcp *mcp, const struct mcp_to *to, struct json *result)
{
    struct buf line = BUF_INIT;
    (void)mcp;
    if (to->version == MCP_2026_07_28)
        mcp_complete(result);
    msg_reply(&line, &to->id, result);
    json_free(result);
    send_line(to, &line);
}

static struct json *id_json(const struct msg_id *id)
{
    switch (id->kind) {
    case MSG_ID_NUMBER: return json_int_new(id->number);
    case MSG_ID_STRING: return json_string_new(id->text, strlen(id->text));
    case MSG_ID_NONE: break;
    }
    return json_null_new();
}

void mcp_fail(struct mcp *mcp, const struct mcp_to *to, int code, const char *text, struct json *data)
{
    struct buf line = BUF_INIT;
    struct json *whole = json_object_new();
    (void)mcp;
    json_add_text(whole, "jsonrpc", "2.0");
    json_add(whole, "id", id_json(&to->id));
    struct json *error = json_add_object(whole, "error");
    json_add_int(error, "code", code);
    json_add_text(error, "message", text);
    if (data)
        json_add(error, "data", data);
    json_print(&line, whole);
    buf_append_byte(&line, '\n');
    json_free(whole);
    send_line(to, &line);
}

void mcp_unanswered(const struct mcp_to *to)
{
    if (to->batch)
        end_batch(to->batch);
}

static void notified(struct mcp *mcp, const char *method, const struct json *params)
{
    struct msg_id id;
    if (strcmp(method, "notifications/cancelled") == 0 && msg_id_from_json(&id, json_get(params, "requestId")))
        mcp_cancel(mcp, &id);
}

static void dispatch(struct mcp *mcp, const char *method, const struct json *params, struct mcp_to *to)
{
    bool legacy = mcp->version != MCP_NONE;
    if (strcmp(method, "initialize") == 0) {
        mcp_reply(mcp, to, mcp_initialize(mcp, params));
        return;
    }
    if (strcmp(method, "ping") == 0 && !json_get(json_get(params, "_meta"), "io.modelcontextprotocol/protocolVersion")) {
        mcp_reply(mcp, to, json_object_new());
        return;
    }
    to->version = mcp_version_of(mcp, params, to);
    if (to->version == MCP_NONE)
        return;
    if (strcmp(method, "tools/list") == 0)
        mcp_list(mcp, to);
    else if (strcmp(method, "tools/call") == 0)
        mcp_call(mcp, params, to);
    else if (strcmp(method, "server/discover") == 0 && (to->version == MCP_2026_07_28 || !legacy))
        mcp_reply(mcp, to, mcp_discover());
    else
        mcp_fail(mcp, to, MCP_NO_METHOD, "method not found", NULL);
}

/* batch: it is counted there already when it is to be answered. */
static void take(struct mcp *mcp, const struct json *root, struct mcp_batch *batch)
{
    struct mcp_to to = {.version = mcp->version, .batch = batch};
    const struct json *id = json_get(root, "id"), *params = json_get(root, "params");
    const char *method = json_get_str(root, "method", NULL), *version = json_get_str(root, "jsonrpc", NULL);
    if (!method && (json_get(root, "result") || json_get(root, "error"))) { /* we ask nothing, so it answers nothing */
        mcp_unanswered(&to);
    } else if (!method || !version || strcmp(version, "2.0") != 0) {
        msg_id_from_json(&to.id, id);
        mcp_fail(mcp, &to, MCP_INVALID_REQUEST, "no valid JSON-RPC 2.0 request", NULL);
    } else if (!id) {
        notified(mcp, method, params);
        mcp_unanswered(&to);
    } else if (!msg_id_from_json(&to.id, id)) {
        mcp_fail(mcp, &to, MCP_INVALID_REQUEST, "`id` must be an integer or a string of at most 128 bytes", NULL);
    } else if (params && json_type(params) != JSON_OBJECT) {
        mcp_fail(mcp, &to, MCP_INVALID_PARAMS, "`params` must be an object", NULL);
    } else if (mcp_is_in_flight(mcp, &to.id)) {
        mcp_fail(mcp, &to, MCP_INVALID_REQUEST, "a request with this `id` is in flight; give each its own", NULL);
    } else {
        dispatch(mcp, method, params, &to);
    }
}

/* Only one revision knows arrays. */
static void take_batch(struct mcp *mcp, const struct json *root)
{
    struct mcp_to nobody = {.id = {.kind = MSG_ID_NONE}};
    if (mcp->version != MCP_2025_03_26 || !json_first(root)) {
        mcp_fail(mcp, &nobody, MCP_INVALID_REQUEST, "batches are not part of this revision; send one message per line", NULL);
        return;
    }
    struct mcp_batch *batch = xcalloc(1, sizeof *batch);
    *batch = (struct mcp_batch){.out = BUF_INIT, .left = 1};
    for (const struct json *it = json_first(root); it; it = json_next(it)) {
        batch->left++;
        take(mcp, it, batch);
    }
    end_batch(batch);
}

void mcp_message(struct mcp *mcp, const char *line, size_t size)
{
    struct err err;
    struct mcp_to nobody = {.id = {.kind = MSG_ID_NONE}};
    struct json *root = json_parse(line, size, &err);
    if (!root)
        mcp_fail(mcp, &nobody, MCP_PARSE, err.text, NULL);
    else if (json_type(root) == JSON_ARRAY)
        take_batch(mcp, root);
    else
        take(mcp, root, NULL);
    json_free(root);
}
