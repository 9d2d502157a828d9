/* kill: `ue kill`: ends sessions, or signals them, and says how each one ended. */
#include "base/value.h"
#include "client/call.h"
#include "client/params.h"
#include "client/render.h"
#include "client/say.h"
#include <inttypes.h>

static struct json *params_of(const struct ue *ue)
{
    const struct args *args = &ue->args;
    struct json *params = json_object_new();
    if (args->operand_count > 0)
        params_operands(ue, params, "sessions");
    if (args_has(args, "all"))
        json_add_bool(params, "all", true);
    if (args_has(args, "signal"))
        json_add_text(params, "signal", args_get(args, "signal"));
    if (args_has(args, "self"))
        json_add_bool(params, "self", true);
    params_meta(ue, params, META_VERB);
    return params;
}

static void show_survivors(struct buf *out, const struct json *processes, int64_t count)
{
    int64_t pid = 0;
    buf_printf(out, ", %" PRId64 " process%s could not be ended:", count, count == 1 ? "" : "es");
    for (const struct json *it = json_first(processes); it; it = json_next(it), count--) {
        const char *command = json_get_str(it, "command", NULL);
        json_get_int(it, "pid", &pid);
        buf_printf(out, " %" PRId64 " (%s)", pid, command ? command : "?");
    }
    if (count > 0)
        buf_printf(out, " and %" PRId64 " more", count);
}

static void show_one(struct buf *out, const struct json *one, const char *signal)
{
    int64_t number = 0, code = 0, survivors = 0;
    const char *name = json_get_str(one, "name", NULL), *state = json_get_str(one, "state", NULL);
    const char *ended_by = json_get_str(one, "ended_by", NULL);
    json_get_int(one, "session_id", &number);
    buf_printf(out, "%s (%" PRId64 "): ", name ? name : "?", number);
    if (signal && !ended_by && !json_get_int(one, "exit_code", &code))
        buf_printf(out, "signal %s sent", signal);
    else if (ended_by)
        buf_printf(out, "ended by %s", ended_by);
    else
        buf_append_text(out, state ? state : "ended");
    if (json_get_int(one, "exit_code", &code))
        buf_printf(out, ", exit status %" PRId64, code);
    if (json_get_int(one, "survivors", &survivors) && survivors > 0)
        show_survivors(out, json_get(one, "survivor_processes"), survivors);
    buf_append_byte(out, '\n');
}

static int show(struct ue *ue, const struct json *result, const char *signal)
{
    struct buf out = BUF_INIT;
    int64_t survivors = 0, all = 0;
    for (const struct json *it = json_first(json_get(result, "sessions")); it; it = json_next(it)) {
        show_one(&out, it, signal);
        if (json_get_int(it, "survivors", &survivors))
            all += survivors;
    }
    if (args_has(&ue->args, "json"))
        say_json(result);
    else
        say_out(out.data, out.len);
    buf_fini(&out);
    return all > 0 ? UE_FAILED : 0;
}

int verb_KILL(struct ue *ue)
{
    struct msg_answer answer = {0};
    struct err err = {0};
    bool object = args_has(&ue->args, "args");
    struct json *params = object ? params_from_args(ue, &err) : params_of(ue);
    if (!params)
        return ue_fail(ue, &err);
    if (object)
        params_meta(ue, params, 0);
    const char *signal = json_get_str(params, "signal", NULL);
    /* A signal that is sent twice may mean something else than once. */
    int status, result = call_run(&ue->conn, "kill_session", params, CALL_WAITS | (signal ? CALL_ONCE : CALL_AGAIN), &answer, &err);
    if (result == ERR_CANCELLED) {
        say_note("interrupted; the sessions are being ended all the same, `ue list` shows which are left");
        status = UE_INTERRUPTED;
    } else {
        status = result < 0 ? ue_fail(ue, &err) : show(ue, answer.result, signal);
    }
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}
