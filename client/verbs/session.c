/* session: the verbs that change what a session is called, how large it is, and whether it is remembered: rename, resize, rm. */
#include "base/value.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "wire/schema.h"
#include <inttypes.h>

static int run(struct ue *ue, const char *method, struct json *params, unsigned flags,
               void (*show)(struct buf *out, const struct json *result))
{
    struct msg_answer answer;
    struct err err = {0};
    int status = 0;
    params_meta(ue, params, META_VERB);
    if (call_run(&ue->conn, method, params, flags, &answer, &err) < 0) {
        status = ue_fail(ue, &err);
    } else if (args_has(&ue->args, "json")) {
        say_json(answer.result);
    } else {
        struct buf out = BUF_INIT;
        show(&out, answer.result);
        say_text(out.data ? out.data : "", out.len);
        buf_fini(&out);
    }
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}

static void append_session(struct buf *out, const struct json *session)
{
    int64_t number = 0;
    const char *name = json_get_str(session, "name", NULL);
    json_get_int(session, "session_id", &number);
    buf_printf(out, "%s (%" PRId64 ")", name ? name : "?", number);
}

static void show_renamed(struct buf *out, const struct json *result)
{
    append_session(out, result);
    buf_append_byte(out, '\n');
}

int verb_RENAME(struct ue *ue)
{
    struct json *params = json_object_new();
    json_add_text(params, "session_id", ue->args.operands[0]);
    json_add_text(params, "name", ue->args.operands[1]);
    return run(ue, "rename_session", params, CALL_ONCE, show_renamed);
}

static void show_resized(struct buf *out, const struct json *result)
{
    int64_t rows = 0, cols = 0;
    append_session(out, result);
    if (json_get_int(result, "rows", &rows) && json_get_int(result, "cols", &cols))
        buf_printf(out, ": %" PRId64 "x%" PRId64, rows, cols);
    const char *policy = json_get_str(result, "size_policy", NULL);
    if (policy)
        buf_printf(out, ", %s", policy);
    buf_append_byte(out, '\n');
}

static bool is_policy(const char *word)
{
    return schema_is_choice(tool_arg_by_name(&tools[TOOL_RESIZE_SESSION], "policy")->choices, word);
}

int verb_RESIZE(struct ue *ue)
{
    int rows, cols;
    const char *size = ue->args.operands[1];
    bool policy = is_policy(size);
    if (!policy && !value_size(size, &rows, &cols)) {
        struct err err;
        err_set(&err, ERR_USAGE, "'%s': no size; give ROWSxCOLS, each from 1 to 1000, such as 24x80, or leader, smallest, largest, fixed "
                                 "or config", size);
        return ue_fail(ue, &err);
    }
    struct json *params = json_object_new();
    json_add_text(params, "session_id", ue->args.operands[0]);
    if (policy) {
        json_add_text(params, "policy", size);
    } else {
        json_add_int(params, "rows", rows);
        json_add_int(params, "cols", cols);
    }
    return run(ue, "resize_session", params, CALL_AGAIN, show_resized);
}

static void show_removed(struct buf *out, const struct json *result)
{
    for (const struct json *it = json_first(json_get(result, "sessions")); it; it = json_next(it)) {
        append_session(out, it);
        buf_append_text(out, ": forgotten\n");
    }
}

int verb_RM(struct ue *ue)
{
    struct json *params = json_object_new();
    params_operands(ue, params, "sessions");
    return run(ue, "remove_session", params, CALL_ONCE, show_removed);
}
