/* screen: `ue screen`: what is on a session's terminal, or the facts about it. */
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include <inttypes.h>
#include <string.h>

static struct json *params_of(const struct ue *ue)
{
    const struct args *args = &ue->args;
    struct json *params = json_object_new();
    int64_t yield_ms = args_int(args, "yield", -1);
    const char *format = args_has(args, "ansi") ? "ansi" : args_has(args, "html") ? "html" : args_has(args, "svg") ? "svg" : NULL;
    json_add_text(params, "session_id", args->operands[0]);
    if (format)
        json_add_text(params, "format", format);
    if (args_has(args, "join"))
        json_add_bool(params, "join", true);
    if (args_has(args, "cursor"))
        json_add_bool(params, "cursor", true);
    if (args_has(args, "history"))
        json_add_int(params, "history", args_int(args, "history", 0));
    if (args_has(args, "wait-change"))
        json_add_text(params, "wait_change", args_get(args, "wait-change"));
    if (args_has(args, "stable"))
        json_add_int(params, "stable_ms", args_int(args, "stable", 1));
    if (yield_ms >= 0 && yield_ms <= JSON_INTEGER_MAX)
        json_add_int(params, "yield_time_ms", yield_ms);
    params_meta(ue, params, META_VERB);
    return params;
}

static void show_facts(const struct ue *ue, const struct json *result, bool cursor)
{
    struct buf out = BUF_INIT;
    int64_t row = 0, col = 0;
    bool visible = true;
    const struct json *place = json_get(result, "cursor");
    json_get_int(place, "row", &row);
    json_get_int(place, "col", &col);
    json_get_bool(place, "visible", &visible);
    if (args_has(&ue->args, "hash"))
        buf_printf(&out, "%s\n", json_get_str(result, "hash", NULL));
    if (cursor)
        buf_printf(&out, "%" PRId64 " %" PRId64 "%s\n", row, col, visible ? "" : " hidden");
    say_buf(&out);
}

static void show(const struct ue *ue, const struct json *result)
{
    const struct args *args = &ue->args;
    bool drawn = args_has(args, "html") || args_has(args, "svg"), cursor = args_has(args, "cursor") && !drawn;
    size_t len = 0;
    const char *screen = json_get_str(result, "screen", &len);
    if (args_next(args, "json", NULL))
        say_json(result);
    else if (args_has(args, "hash") || cursor)
        show_facts(ue, result, cursor);
    else if (args_has(args, "ansi")) /* drawn by the daemon: characters, line ends and colours, nothing else */
        say_out(screen ? screen : "", len);
    else
        say_text(screen ? screen : "", len);
}

/* 124: what was waited for did not come true. */
static int status_of(const struct json *result)
{
    const char *reason = json_get_str(result, "reason", NULL);
    return reason && (strcmp(reason, "deadline") == 0 || strcmp(reason, "exit") == 0) ? UE_NOT_TRUE : 0;
}

int verb_SCREEN(struct ue *ue)
{
    struct msg_answer answer;
    struct err err = {0};
    int status;
    bool object = args_has(&ue->args, "args");
    struct json *params = object ? params_from_args(ue, &err) : params_of(ue);
    if (!params)
        return ue_fail(ue, &err);
    if (object)
        params_meta(ue, params, 0);
    if (call_run(&ue->conn, "read_screen", params, CALL_WAITS, &answer, &err) < 0) {
        status = talk_fail(ue, params, &err);
    } else {
        show(ue, answer.result);
        status = status_of(answer.result);
    }
    msg_answer_fini(&answer);
    json_free(params);
    return status;
}
