/* steps: `ue steps`: the steps of a JSON array, done by the daemon in one call. */
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/input.h"
#include <string.h>

#define STEPS_BYTES_MAX (64u << 20) /* the daemon's own cap is lower and says so */

/* A file whose name begins like an array is given as ./NAME. */
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

/* 0 when all were done; of the one that failed: 124 when it was a wait, else as its error says. */
static int status_of(const struct json *result)
{
    const struct json *last = NULL;
    for (const struct json *it = json_first(json_get(result, "steps")); it; it = json_next(it))
        last = it;
    const char *code = json_get_str(last, "code", NULL), *kind = json_get_str(last, "kind", NULL);
    if (!code)
        return 0;
    bool untrue = strcmp(kind, "wait") == 0 && (strcmp(code, "deadline") == 0 || strcmp(code, "ended") == 0);
    return untrue ? UE_NOT_TRUE : err_exit_status(err_by_name(code));
}

static int run(struct ue *ue, struct json *params)
{
    struct msg_answer answer = {0};
    struct err err = {0};
    size_t len = 0;
    int status;
    if (call_run(&ue->conn, "run_steps", params, CALL_WAITS | CALL_ONCE, &answer, &err) < 0) {
        status = ue_fail(ue, &err);
    } else {
        const char *content = json_get_str(answer.result, "content", &len);
        if (args_has(&ue->args, "json"))
            say_json(answer.result);
        else
            say_text(content ? content : "", len);
        status = status_of(answer.result);
    }
    msg_answer_fini(&answer);
    return status;
}

int verb_STEPS(struct ue *ue)
{
    struct err err = {0};
    struct buf text;
    const struct args *args = &ue->args;
    buf_init(&text, STEPS_BYTES_MAX);
    struct json *steps = NULL;
    if (read_steps(args->operand_count > 1 ? args->operands[1] : NULL, &text, &err) == 0)
        steps = json_parse(text.data ? text.data : "", text.len, &err);
    buf_fini(&text);
    if (!steps) {
        err_prefix(&err, "the steps");
        return ue_fail(ue, &err);
    }
    struct json *params = json_object_new();
    json_add_text(params, "session_id", args->operands[0]);
    json_add(params, "steps", steps);
    params_meta(ue, params, META_VERB);
    int status = run(ue, params);
    json_free(params);
    return status;
}
