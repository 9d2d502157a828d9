/* typing: owns the back pressure between our standard input and a session's queue. */
#include "client/typing.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/input.h"
#include "client/params.h"
#include <inttypes.h>

#define RETRY_MIN_MS 5
#define RETRY_MAX_MS 100

static struct json *piece_params(struct typing *typing, const char *data, size_t len, bool eof)
{
    struct json *params = json_object_new();
    json_add(params, "session_id", json_copy(typing->session));
    input_add_chars(params, data, len);
    json_add_int(params, "yield_time_ms", 0);
    json_add_bool(params, "ready", false);
    json_add_bool(params, "peek", true);
    if (eof)
        json_add_bool(params, "eof", true);
    params_meta(typing->ue, params, META_VERB | META_ID | (typing->typed == 0 ? META_PLACE : 0)); /* only the first may start the session */
    return params;
}

int typing_call(struct ue *ue, const char *tool, struct json *params, int64_t patience_ms, struct msg_answer *answer, struct err *err)
{
    int64_t give_up_ms = patience_ms == INT64_MAX ? INT64_MAX : clock_mono_ms() + patience_ms;
    int result, pause_ms = RETRY_MIN_MS;
    while ((result = call_run(&ue->conn, tool, params, CALL_WAITS, answer, err)) == ERR_INPUT_FULL && clock_mono_ms() < give_up_ms) {
        msg_answer_fini(answer);
        connection_pause(pause_ms);
        pause_ms = pause_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : pause_ms * 2;
    }
    return result;
}

int typing_send(struct typing *typing, const char *data, size_t len, bool eof, struct err *err)
{
    struct msg_answer answer;
    struct json *params = piece_params(typing, data, len, eof);
    int result = typing_call(typing->ue, "write_stdin", params, typing->typed > 0 ? typing->patience_ms : 0, &answer, err);
    msg_answer_fini(&answer);
    json_free(params);
    if (result == 0)
        typing->typed += len;
    else if (typing->typed > 0 && result != ERR_CANCELLED)
        err_set(err, result, "%s; %" PRIu64 " bytes before that were typed", err->text, typing->typed);
    return result;
}
