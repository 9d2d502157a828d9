/* typing: owns the back pressure from a session's input queue to our standard input. */
#include "client/rpc/typing.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/rpc/input.h"
#include "client/rpc/params.h"
#include <inttypes.h>
#include <string.h>

#define RETRY_MIN_MS 5
#define RETRY_MAX_MS 100
#define ROOM_MS 3600000 /* longest wait for room in one request */
#define SURE_BYTES 8192 /* fit a request at the least [limits] max_request, 64 KiB */
#define LINE_TO_PIECE 8 /* an escaped byte takes six; the rest is for the other arguments */

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
    if (typing->yields)
        json_add_int(params, "since", typing->read_to);
    if (args_next(&typing->ue->args, "steal", NULL))
        json_add_bool(params, "steal", true);
    /* only the first may start the session */
    params_meta(typing->ue, params, META_VERB | META_ID | (typing->typed == 0 ? META_PLACE : 0));
    return params;
}

static bool is_for_later(const struct ue *ue, int result)
{
    return result == ERR_INPUT_FULL ||
           (result == ERR_KEYBOARD_HELD && args_next(&ue->args, "wait-keyboard", NULL));
}

struct patience {
    int64_t give_up_ms; /* CLOCK_MONOTONIC; INT64_MAX: never */
    int pause_ms;       /* before the next try, where no event tells when to try */
    bool yields, full;  /* as in struct typing */
};

/* Lets the daemon wait for room once the queue was found full. */
static bool ask_for_room(const struct patience *patience, struct json *params)
{
    int64_t left_ms = patience->give_up_ms == INT64_MAX ? ROOM_MS
                                                        : patience->give_up_ms - clock_mono_ms();
    if (!patience->full || left_ms <= 0)
        return false;
    params_set(params, "wait_room", json_int_new(left_ms < ROOM_MS ? left_ms : ROOM_MS));
    return true;
}

/* No event tells when the keyboard is released. */
static void pause_for_keyboard(struct patience *patience)
{
    connection_pause(patience->pause_ms);
    patience->pause_ms = patience->pause_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS
                                                               : patience->pause_ms * 2;
}

static int call_patiently(struct ue *ue, const char *tool, struct json *params,
                          struct patience *patience, struct msg_answer *answer, struct err *err)
{
    for (;;) {
        bool asked = ask_for_room(patience, params);
        int result = call_run(&ue->conn, tool, params, CALL_WAITS, answer, err);
        if (!is_for_later(ue, result) || clock_mono_ms() >= patience->give_up_ms)
            return result;
        if (result == ERR_INPUT_FULL && patience->yields && asked)
            return result;
        if (result == ERR_INPUT_FULL)
            patience->full = true;
        else
            pause_for_keyboard(patience);
        msg_answer_fini(answer);
    }
}

static struct patience patience_of(int64_t ms)
{
    int64_t give_up_ms = ms == INT64_MAX ? INT64_MAX : clock_mono_ms() + ms;
    return (struct patience){.give_up_ms = give_up_ms, .pause_ms = RETRY_MIN_MS};
}

int typing_ask(struct ue *ue, const char *tool, struct json *params, struct msg_answer *answer,
               struct err *err)
{
    BUG_UNLESS(ue->patience_ms >= 0);
    struct patience patience = patience_of(ue->patience_ms);
    return call_patiently(ue, tool, params, &patience, answer, err);
}

static int send_whole(struct typing *typing, const char *data, size_t len, bool eof,
                      struct err *err)
{
    struct msg_answer answer;
    bool waits = typing->patient || typing->typed > 0 ||
                 args_next(&typing->ue->args, "wait-keyboard", NULL);
    struct patience patience = patience_of(waits ? typing->patience_ms : 0);
    patience.yields = typing->yields;
    patience.full = typing->full;
    struct json *params = piece_params(typing, data, len, eof);
    int result = call_patiently(typing->ue, "write_stdin", params, &patience, &answer, err);
    typing->full = patience.full;
    msg_answer_fini(&answer);
    json_free(params);
    if (result == 0)
        typing->typed += len;
    return result;
}

/* A piece that is larger than the queue goes in two halves. */
static int send_parts(struct typing *typing, const char *data, size_t len, bool eof,
                      struct err *err)
{
    int result = send_whole(typing, data, len, eof, err);
    if (result != ERR_TOO_LARGE || len < 2)
        return result;
    result = send_parts(typing, data, len / 2, false, err);
    return result ? result : send_parts(typing, data + len / 2, len - len / 2, eof, err);
}

int typing_piece_max(struct ue *ue, size_t len, size_t *max, struct err *err)
{
    *max = ue->piece_max;
    if (*max > 0 || len <= SURE_BYTES) {
        *max = *max > 0 ? *max : SURE_BYTES;
        return 0;
    }
    struct msg_answer answer;
    int64_t line = 0;
    int result = call_run(&ue->conn, "hello", NULL, CALL_AGAIN, &answer, err);
    if (result == 0 && json_get_int(answer.result, "max_request", &line) && line > 0)
        *max = (size_t)line / LINE_TO_PIECE;
    if (*max == 0 || *max > INPUT_PIECE_BYTES)
        *max = INPUT_PIECE_BYTES;
    msg_answer_fini(&answer);
    if (result == 0)
        ue->piece_max = *max;
    return result;
}

int typing_send(struct typing *typing, const char *data, size_t len, bool eof, struct err *err)
{
    size_t most, done = 0;
    BUG_UNLESS(typing->session && (data || len == 0));
    BUG_UNLESS(typing->patience_ms >= 0);
    int result = typing_piece_max(typing->ue, len, &most, err);
    BUG_UNLESS(result != 0 || most > 0);
    for (; result == 0 && len - done > most; done += most)
        result = send_parts(typing, data + done, most, false, err);
    if (result == 0)
        result = send_parts(typing, data ? data + done : NULL, len - done, eof, err);
    if (result != 0 && typing->typed > 0 && result != ERR_CANCELLED)
        err_set(err, result, "%s; %" PRIu64 " bytes before that were typed", err->text,
                typing->typed);
    return result;
}
