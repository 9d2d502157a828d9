/* mcp_message: owns the checks of a client's messages, and their dispatch. */
#include "base/mem.h"
#include "client/mcp/mcp.h"
#include <stdlib.h>
#include <string.h>

static void notified(struct mcp *mcp, const char *method, const struct json *params)
{
    struct msg_id id;
    if (strcmp(method, "notifications/cancelled") == 0 &&
        msg_id_from_json(&id, json_get(params, "requestId")))
        mcp_cancel(mcp, &id);
}

static void mcp_message_dispatch(struct mcp *mcp, const char *method, const struct json *params,
                                 struct mcp_to *to)
{
    bool legacy = mcp->version != MCP_NONE;
    if (strcmp(method, "initialize") == 0) {
        mcp_reply(mcp, to, mcp_initialize(mcp, params));
        return;
    }
    if (strcmp(method, "ping") == 0 &&
        !json_get(json_get(params, "_meta"), "io.modelcontextprotocol/protocolVersion")) {
        mcp_reply(mcp, to, json_object_new());
        return;
    }
    struct mcp_problem problem;
    to->version = mcp_version_of(mcp, params, &problem);
    if (to->version == MCP_NONE) {
        mcp_fail(mcp, to, problem.code, problem.text, problem.data);
        return;
    }
    to->elicits = mcp_elicits(mcp, params, to->version);
    bool is_call = strcmp(method, "tools/call") == 0;
    if (strcmp(method, "tools/list") == 0)
        mcp_list(mcp, to);
    else if (is_call && !mcp_rounds_back(mcp, params, to))
        mcp_call(mcp, params, to);
    else if (is_call)
        return;
    else if (strcmp(method, "server/discover") == 0 && (to->version == MCP_2026_07_28 || !legacy))
        mcp_reply(mcp, to, mcp_discover());
    else
        mcp_fail(mcp, to, MCP_NO_METHOD, "method not found", NULL);
}

/* batch: NULL, or it counts an answer to this message already. */
static void mcp_message_take(struct mcp *mcp, const struct json *root, struct mcp_batch *batch)
{
    struct mcp_to to = {.version = mcp->version, .batch = batch};
    const struct json *id = json_get(root, "id"), *params = json_get(root, "params");
    const char *method = json_get_str(root, "method", NULL),
               *version = json_get_str(root, "jsonrpc", NULL);
    if (!method && (json_get(root, "result") || json_get(root, "error"))) {
        mcp_ask_answered(mcp, root);
        mcp_unanswered(mcp, &to);
    } else if (!method || !version || strcmp(version, "2.0") != 0) {
        msg_id_from_json(&to.id, id);
        mcp_fail(mcp, &to, MCP_INVALID_REQUEST, "no valid JSON-RPC 2.0 request", NULL);
    } else if (!id) {
        notified(mcp, method, params);
        mcp_unanswered(mcp, &to);
    } else if (!msg_id_from_json(&to.id, id)) {
        mcp_fail(mcp, &to, MCP_INVALID_REQUEST,
                 "`id` must be an integer or a string of at most 128 bytes", NULL);
    } else if (params && json_type(params) != JSON_OBJECT) {
        mcp_fail(mcp, &to, MCP_INVALID_PARAMS, "`params` must be an object", NULL);
    } else if (mcp_is_in_flight(mcp, &to.id)) {
        mcp_fail(mcp, &to, MCP_INVALID_REQUEST,
                 "a request with this `id` is in flight; give each its own", NULL);
    } else {
        mcp_message_dispatch(mcp, method, params, &to);
    }
}

/* Only one revision has batches. */
static void take_batch(struct mcp *mcp, const struct json *root)
{
    struct mcp_to to = {.id = {.kind = MSG_ID_NONE}};
    if (mcp->version != MCP_2025_03_26 || !json_first(root)) {
        mcp_fail(mcp, &to, MCP_INVALID_REQUEST,
                 "batches are not part of this revision; send one message per line", NULL);
        return;
    }
    struct mcp_batch *batch = xcalloc(1, sizeof *batch);
    *batch = (struct mcp_batch){.out = BUF_INIT, .left = 1};
    for (const struct json *it = json_first(root); it; it = json_next(it)) {
        batch->left++;
        mcp_message_take(mcp, it, batch);
    }
    mcp_unanswered(mcp, &(struct mcp_to){.batch = batch}); /* the array was read */
}

void mcp_message_unread(struct mcp *mcp, const char *line, size_t size, int code, const char *why)
{
    struct mcp_to to = {.version = mcp->version};
    msg_id_find(&to.id, line, size);
    if (mcp_is_in_flight(mcp, &to.id)) /* that one's answer is still to come */
        to.id = (struct msg_id){.kind = MSG_ID_NONE};
    mcp_fail(mcp, &to, code, why, NULL);
}

void mcp_message(struct mcp *mcp, const char *line, size_t size)
{
    struct err err;
    struct json *root = json_parse(line, size, &err);
    if (!root)
        mcp_message_unread(mcp, line, size, MCP_PARSE, err.text);
    else if (json_type(root) == JSON_ARRAY)
        take_batch(mcp, root);
    else
        mcp_message_take(mcp, root, NULL);
    json_free(root);
}
