/* logs: `ue logs`: prints a session's output as lines, and with --follow also what comes later; or
 * who typed into it. */
#include "client/follow/logs.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/value.h"
#include "client/rpc/call.h"
#include "client/print/lines.h"
#include "client/rpc/params.h"
#include "client/print/render.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "client/follow/when.h"
#include "wire/base64.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES (1 << 20)
#define REST_MS 500 /* a line without an end is shown after that time */

struct logs {
    struct ue *ue;
    const char *session;
    int64_t number; /* of the session, once known: its name may go to another one; 0: not yet */
    bool follow, raw, json;
    int64_t at, since_ms; /* since_ms: the time to begin at, 0: none */
    struct lines lines;
    struct msg_answer answer;
};

static void logs_show_line(void *arg, const char *text, size_t size)
{
    const struct logs *logs = arg;
    struct buf out = BUF_INIT;
    if (logs->json) {
        struct json *line = json_object_new();
        json_add_int(line, "session_id", logs->number);
        json_add_str(line, "line", text, size);
        say_json(line);
        json_free(line);
        return;
    }
    buf_append(&out, text, size);
    buf_append_byte(&out, '\n');
    say_buf(&out);
}

/* yield_ms 0: reads what there is; INT64_MAX: waits until there is something. */
static struct json *logs_read_params(const struct logs *logs, int64_t yield_ms)
{
    struct json *params = json_object_new();
    if (logs->number)
        json_add_int(params, "session_id", logs->number);
    else
        json_add_text(params, "session_id", logs->session);
    if (logs->since_ms)
        json_add_int(params, "since_ms", logs->since_ms);
    else
        json_add_int(params, "since", logs->at);
    json_add_bool(params, "peek", true);
    json_add_bool(params, "ready", false);
    json_add_text(params, "encoding", "base64");
    json_add_int(params, "max_bytes", PIECE_BYTES);
    json_add_bool(params, "streams", true);
    if (yield_ms > 0)
        json_add_text(params, "until", "(?s).");
    params_meta(logs->ue, params, META_VERB);
    params_wait(params, yield_ms);
    return params;
}

static void logs_show(struct logs *logs)
{
    size_t len = 0;
    int64_t omitted = 0;
    struct buf bytes = BUF_INIT;
    const struct json *result = logs->answer.result;
    if (logs->raw) {
        raw_print(result);
        return;
    }
    const char *encoded = json_get_str(result, "output_base64", &len);
    if (json_get_int(result, "omitted_bytes", &omitted) && omitted > 0) {
        lines_end(&logs->lines);
        say_note("'%s': %" PRId64
                 " bytes of its output are no longer kept; read sooner or raise [limits] journal",
                 logs->session, omitted);
    }
    if (encoded && base64_decode(&bytes, encoded, len))
        lines_feed(&logs->lines, bytes.data ? bytes.data : "", bytes.len);
    buf_fini(&bytes);
}

static int logs_read_once(struct logs *logs, int64_t yield_ms, struct err *err)
{
    BUG_UNLESS(logs->follow || yield_ms == 0); /* only --follow waits */
    struct json *params = logs_read_params(logs, yield_ms);
    msg_answer_fini(&logs->answer);
    int result = call_run(&logs->ue->conn, "read_output", params, CALL_WAITS, &logs->answer, err);
    json_free(params);
    if (result < 0)
        return result;
    logs->since_ms = 0;
    json_get_int(logs->answer.result, "number", &logs->number);
    json_get_int(logs->answer.result, "to", &logs->at);
    logs_show(logs);
    return 0;
}

static bool logs_is_running(const struct logs *logs)
{
    const char *state = json_get_str(logs->answer.result, "state", NULL);
    return state && strcmp(state, "running") == 0;
}

/* The end of the output at the time of the first answer: what a program that floods prints later
 * does not belong to this call. */
static int64_t logs_head_of(struct logs *logs)
{
    struct msg_answer answer;
    struct err err = {0};
    int64_t head = INT64_MAX;
    struct json *params = json_object_new();
    json_add_int(json_add_array(params, "names"), NULL, logs->number);
    params_meta(logs->ue, params, META_VERB);
    if (call_run(&logs->ue->conn, "list_sessions", params, CALL_AGAIN, &answer, &err) == 0)
        json_get_int(json_first(json_get(answer.result, "sessions")), "output_bytes", &head);
    msg_answer_fini(&answer);
    json_free(params);
    return head;
}

/* Reads all there is, and with --follow waits for more. A line without an end is shown when nothing
 * more comes for a while. */
static int read_all(struct logs *logs, struct err *err)
{
    int result = logs_read_once(logs, 0, err);
    int64_t head = result == 0 && raw_is_full(logs->answer.result) ? logs_head_of(logs) : 0;
    while (result == 0 && logs->at < head)
        result = logs_read_once(logs, 0, err);
    while (result == 0 && logs->follow &&
           (logs_is_running(logs) || raw_is_full(logs->answer.result))) {
        bool rest = !logs->raw && lines_has_rest(&logs->lines);
        int64_t before = logs->at;
        result = logs_read_once(logs, rest ? REST_MS : INT64_MAX, err);
        if (result == 0 && rest && logs->at == before)
            lines_emit_rest(&logs->lines);
    }
    if (!logs->raw)
        lines_end(&logs->lines);
    return result;
}

static int read_since(struct logs *logs, struct err *err)
{
    const char *text = args_get(&logs->ue->args, "since");
    if (!text ||
        (text[strspn(text, "0123456789")] == 0 && value_int(text, 0, JSON_INTEGER_MAX, &logs->at)))
        return 0;
    if (when_read(text, clock_real_ms(), &logs->since_ms))
        return 0;
    return err_set(err, ERR_USAGE,
                   "'--since %s': is neither an offset nor a time; give one such as 4096, 10m, "
                   "14:05 or 2026-08-30T14:05",
                   text);
}

int verb_LOGS(struct ue *ue)
{
    struct logs logs = {.ue = ue, .session = ue->args.operands[0]};
    struct err err = {0};
    const struct args *args = &ue->args;
    if (args_has(args, "input"))
        return logs_input(ue);
    logs.follow = args_has(args, "follow");
    logs.raw = args_next(args, "raw", NULL);
    logs.json = args_next(args, "json", NULL);
    logs.lines = (struct lines){.fn = logs_show_line,
                                .arg = &logs,
                                .colors = !logs.json && say_is_tty(STDOUT_FILENO) &&
                                          render_wants_colors()};
    int result = read_since(&logs, &err);
    if (result == 0)
        result = read_all(&logs, &err);
    int status = result == 0 ? 0 : err.code == ERR_CANCELLED ? UE_INTERRUPTED : ue_fail(ue, &err);
    msg_answer_fini(&logs.answer);
    lines_fini(&logs.lines);
    return status;
}
