/* session: the verbs rename, resize and rm. */
#include "base/bug.h"
#include "base/value.h"
#include "client/rpc/call.h"
#include "client/verbs/run.h"
#include "client/print/say.h"
#include "wire/schema.h"
#include <inttypes.h>

/* Finishes out. */
static void say_lines(struct buf *out)
{
    say_text(out->data ? out->data : "", out->len);
    buf_fini(out);
}

static void print_renamed(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    struct buf out = BUF_INIT;
    (void)ue;
    run_append_session(&out, result);
    buf_append_byte(&out, '\n');
    say_lines(&out);
}

int verb_RENAME(struct ue *ue)
{
    return run_verb(ue, &(struct run){.call = CALL_ONCE, .print = print_renamed});
}

static void print_resized(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    struct buf out = BUF_INIT;
    int64_t rows = 0, cols = 0;
    (void)ue;
    run_append_session(&out, result);
    if (json_get_int(result, "rows", &rows) && json_get_int(result, "cols", &cols))
        buf_printf(&out, ": %" PRId64 "x%" PRId64, rows, cols);
    const char *policy = json_get_str(result, "size_policy", NULL);
    if (policy)
        buf_printf(&out, ", %s", policy);
    buf_append_byte(&out, '\n');
    say_lines(&out);
}

/* ROWSxCOLS, or one of the policies. */
static int fill_size(struct ue *ue, struct json *params, struct err *err)
{
    int rows, cols;
    const char *size = ue->args.operands[1];
    const struct tool_arg *policy = verb_argument(ue->args.verb, "policy");
    BUG_UNLESS(policy);
    if (schema_is_choice(policy->choices, size)) {
        json_add_text(params, "policy", size);
        return 0;
    }
    if (!value_size(size, &rows, &cols))
        return err_set(
            err, ERR_USAGE,
            "'%s': no size; give ROWSxCOLS, each from 1 to 1000, such as 24x80, or leader, "
            "smallest, largest, fixed or config",
            size);
    json_add_int(params, "rows", rows);
    json_add_int(params, "cols", cols);
    return 0;
}

int verb_RESIZE(struct ue *ue)
{
    ue->conn.shows_person = true; /* who has the keyboard may resize */
    return run_verb(ue,
                    &(struct run){.call = CALL_AGAIN, .fill = fill_size, .print = print_resized});
}

static void print_removed(struct ue *ue, const struct json *params, const struct json *result)
{
    (void)params;
    struct buf out = BUF_INIT;
    (void)ue;
    for (const struct json *it = json_first(json_get(result, "sessions")); it; it = json_next(it)) {
        run_append_session(&out, it);
        buf_append_text(&out, json_get(it, "survivors") ? ": ended" : ": forgotten");
        run_append_survivors(&out, it);
        buf_append_byte(&out, '\n');
    }
    say_lines(&out);
}

int verb_RM(struct ue *ue)
{
    return run_verb(ue, &(struct run){.call = CALL_WAITS | CALL_ONCE,
                                      .print = print_removed,
                                      .status = run_survivors_status});
}
