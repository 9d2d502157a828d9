/* msg: the daemon's side, which parses requests and writes replies, and the client's writing of
 * requests. The client's reading of replies is in msg_answer.c. */
#include "wire/msg.h"
#include "base/bug.h"
#include <string.h>

static int invalid(struct err *err, const char *what)
{
    return err_set(err, ERR_INVALID_REQUEST, "no valid JSON-RPC 2.0 request: %s", what);
}

static int msg_check_members(const struct json *root, struct err *err)
{
    for (const struct json *it = json_first(root); it != NULL; it = json_next(it)) {
        const char *key = json_key(it);
        if (strcmp(key, "jsonrpc") != 0 && strcmp(key, "id") != 0 && strcmp(key, "method") != 0 &&
            strcmp(key, "params") != 0) {
            struct buf shown = BUF_INIT;
            json_print_str(&shown, key, strnlen(key, 64));
            err_set(err, ERR_INVALID_REQUEST,
                    "no valid JSON-RPC 2.0 request: unknown member %s, expected one of `jsonrpc`, "
                    "`id`, `method`, `params`",
                    shown.data);
            buf_fini(&shown);
            return ERR_INVALID_REQUEST;
        }
    }
    return 0;
}

static int take_members(struct msg *msg, struct err *err)
{
    const struct json *id = json_get(msg->root, "id"), *params = json_get(msg->root, "params");
    size_t len = 0;
    if (id != NULL && !msg_id_from_json(&msg->id, id))
        return invalid(err, "`id` must be an integer or a string of at most 128 bytes");
    const char *version = json_get_str(msg->root, "jsonrpc", NULL);
    if (version == NULL || strcmp(version, "2.0") != 0)
        return invalid(err, "`jsonrpc` must be \"2.0\"");
    msg->method = json_get_str(msg->root, "method", &len);
    if (msg->method == NULL || len == 0)
        return invalid(err, "`method` must be a string");
    if (params != NULL && json_type(params) != JSON_OBJECT)
        return invalid(err, "`params` must be an object");
    int rc = msg_check_members(msg->root, err);
    if (rc < 0)
        return rc;
    msg->params = params != NULL ? (struct json *)(uintptr_t)params
                                 : json_add_object(msg->root, "params");
    msg->notification = id == NULL;
    return 0;
}

int msg_parse(struct msg *msg, const char *line, size_t size, struct err *err)
{
    *msg = (struct msg){0};
    msg->root = json_parse(line, size, err);
    if (msg->root == NULL) {
        msg_id_find(&msg->id, line, size);
        return ERR_PARSE;
    }
    if (json_type(msg->root) == JSON_ARRAY)
        return invalid(err, "batches are not spoken here; send one object per line");
    if (json_type(msg->root) != JSON_OBJECT)
        return invalid(err, "a line must be an object");
    return take_members(msg, err);
}

void msg_fini(struct msg *msg)
{
    json_free(msg->root);
    *msg = (struct msg){0};
}

static bool print_id(struct buf *out, const struct msg_id *id)
{
    switch (id->kind) {
    case MSG_ID_NUMBER: return buf_printf(out, "%lld", (long long)id->number);
    case MSG_ID_STRING: return json_print_str(out, id->text, strlen(id->text));
    case MSG_ID_NONE: break;
    }
    return buf_append_text(out, "null");
}

/* All or nothing: a part of a line would spoil the stream. */
static bool msg_settle(struct buf *out, size_t mark, bool ok)
{
    if (!ok)
        buf_truncate(out, mark);
    return ok;
}

bool msg_reply(struct buf *out, const struct msg_id *id, const struct json *result)
{
    size_t mark = out->len;
    bool ok = buf_append_text(out, "{\"jsonrpc\":\"2.0\",\"id\":") && print_id(out, id) &&
              buf_append_text(out, ",\"result\":") && json_print(out, result) &&
              buf_append(out, "}\n", 2);
    return msg_settle(out, mark, ok);
}

bool msg_error(struct buf *out, const struct msg_id *id, const struct err *err,
               const struct json *more)
{
    size_t mark = out->len;
    BUG_UNLESS(err->code < 0);
    struct json *error = json_object_new();
    json_add_int(error, "code", err_rpc(err->code));
    json_add_text(error, "message", err->text);
    struct json *data = json_add_object(error, "data");
    json_add_text(data, "code", err_name(err->code));
    for (const struct json *it = json_first(more); it != NULL; it = json_next(it)) {
        if (strcmp(json_key(it), "code") != 0)
            json_add(data, json_key(it), json_copy(it));
    }
    bool ok = buf_append_text(out, "{\"jsonrpc\":\"2.0\",\"id\":") && print_id(out, id) &&
              buf_append_text(out, ",\"error\":") && json_print(out, error) &&
              buf_append(out, "}\n", 2);
    json_free(error);
    return msg_settle(out, mark, ok);
}

static bool print_call(struct buf *out, const char *method, const struct json *params)
{
    BUG_UNLESS(params == NULL || json_type(params) == JSON_OBJECT);
    bool ok = buf_append_text(out, "\"method\":") && json_print_str(out, method, strlen(method));
    if (ok && params != NULL)
        ok = buf_append_text(out, ",\"params\":") && json_print(out, params);
    return ok && buf_append(out, "}\n", 2);
}

bool msg_request(struct buf *out, int64_t id, const char *method, const struct json *params)
{
    size_t mark = out->len;
    bool ok = buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%lld,", (long long)id) &&
              print_call(out, method, params);
    return msg_settle(out, mark, ok);
}

bool msg_notification(struct buf *out, const char *method, const struct json *params)
{
    size_t mark = out->len;
    return msg_settle(out, mark,
                      buf_append_text(out, "{\"jsonrpc\":\"2.0\",") &&
                          print_call(out, method, params));
}
