/* steps: `ue steps`: lets the daemon do the steps of a JSON array in one call. */
#include "client/rpc/call.h"
#include "client/verbs/run.h"
#include "client/rpc/input.h"
#include <string.h>

#define STEPS_BYTES_MAX (64u << 20) /* the daemon's own cap is lower and says so */

/* A file whose name begins with a bracket has to be given as ./NAME. */
static bool is_json(const char *operand)
{
    const char *first = operand + strspn(operand, " \t\r\n");
    return *first == '[' || *first == '{';
}

static int read_steps(const char *operand, struct buf *text, struct err *err)
{
    if (!operand || strcmp(operand, "-") == 0)
        return input_all(text, err);
    if (is_json(operand)) {
        buf_append_text(text, operand);
        return 0;
    }
    return input_file(operand, text, err);
}

/* 0 when all steps were done, 124 after a wait that did not come true, 123 after one that failed,
 * else that of the step's error. */
static int steps_status_of(struct ue *ue, const struct json *result)
{
    (void)ue;
    const struct json *last = NULL;
    for (const struct json *it = json_first(json_get(result, "steps")); it; it = json_next(it))
        last = it;
    const char *code = json_get_str(last, "code", NULL), *kind = json_get_str(last, "kind", NULL);
    if (!code)
        return 0;
    bool waits = kind && (strcmp(kind, "wait") == 0 || strcmp(kind, "expect") == 0);
    if (waits && strcmp(code, "fail_on") == 0)
        return UE_FAIL_ON;
    bool untrue = waits && (strcmp(code, "deadline") == 0 || strcmp(code, "ended") == 0);
    return untrue ? UE_NOT_TRUE : err_exit_status(err_by_name(code));
}

static int steps_fill(struct ue *ue, struct json *params, struct err *err)
{
    struct buf text;
    const struct args *args = &ue->args;
    buf_init(&text, STEPS_BYTES_MAX);
    struct json *steps = NULL;
    if (read_steps(args->operand_count > 1 ? args->operands[1] : NULL, &text, err) == 0)
        steps = json_parse(text.data ? text.data : "", text.len, err);
    buf_fini(&text);
    if (!steps) {
        err_prefix(err, "the steps");
        return err->code;
    }
    json_add(params, "steps", steps);
    return 0;
}

int verb_STEPS(struct ue *ue)
{
    return run_verb(ue, &(struct run){.call = CALL_WAITS | CALL_ONCE,
                                      .fill = steps_fill,
                                      .status = steps_status_of});
}
