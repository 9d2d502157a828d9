/* mcp_answer: owns the form of answers, and writes each to standard output, alone or in the array
 * of its batch. */
#include "client/mcp/mcp.h"
#include "base/bug.h"
#include <stdlib.h>
#include <string.h>

static void end_batch(struct mcp *mcp, struct mcp_batch *batch)
{
    BUG_UNLESS(batch->left > 0);
    if (--batch->left > 0)
        return;
    if (batch->out.len > 0) {
        buf_append_text(&batch->out, "]\n");
        mcp_out_add(&mcp->out, batch->out.data, batch->out.len);
    }
    buf_fini(&batch->out);
    free(batch);
}

static void mcp_answer_send_line(struct mcp *mcp, const struct mcp_to *to, struct buf *line)
{
    struct mcp_batch *batch = to->batch;
    BUG_UNLESS(line->len > 0 && line->data[line->len - 1] == '\n');
    if (batch) {
        buf_append_byte(&batch->out, batch->out.len > 0 ? ',' : '[');
        buf_append(&batch->out, line->data, line->len - 1);
        end_batch(mcp, batch);
    } else {
        mcp_out_add(&mcp->out, line->data, line->len);
    }
    buf_fini(line);
}

void mcp_reply(struct mcp *mcp, const struct mcp_to *to, struct json *result)
{
    struct buf line = BUF_INIT;
    BUG_UNLESS(json_type(result) == JSON_OBJECT);
    if (to->round) {
        mcp_rounds_end(to->round, result, false);
        return;
    }
    if (to->version == MCP_2026_07_28)
        mcp_complete(result, json_get(result, "inputRequests") ? "input_required" : "complete");
    msg_reply(&line, &to->id, result);
    json_free(result);
    mcp_answer_send_line(mcp, to, &line);
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

void mcp_fail(struct mcp *mcp, const struct mcp_to *to, int code, const char *text,
              struct json *data)
{
    struct json *error = json_object_new();
    BUG_UNLESS(code < 0 && text);
    json_add_int(error, "code", code);
    json_add_text(error, "message", text);
    if (data)
        json_add(error, "data", data);
    mcp_fail_with(mcp, to, error);
}

void mcp_fail_with(struct mcp *mcp, const struct mcp_to *to, struct json *error)
{
    struct buf line = BUF_INIT;
    if (to->round) {
        mcp_rounds_end(to->round, error, true);
        return;
    }
    struct json *whole = json_object_new();
    json_add_text(whole, "jsonrpc", "2.0");
    json_add(whole, "id", id_json(&to->id));
    json_add(whole, "error", error);
    json_print(&line, whole);
    buf_append_byte(&line, '\n');
    json_free(whole);
    mcp_answer_send_line(mcp, to, &line);
}

void mcp_unanswered(struct mcp *mcp, const struct mcp_to *to)
{
    if (to->batch)
        end_batch(mcp, to->batch);
    if (to->round)
        mcp_rounds_drop(mcp, to->round);
}
