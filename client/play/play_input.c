/* play_input: what a script types. */
#include "base/mem.h"
#include "client/play/playing.h"
#include "client/rpc/input.h"
#include "client/rpc/params.h"
#include "client/rpc/typing.h"
#include <string.h>

#define PIECE_BYTES 8192  /* fits one request, however it is encoded */
#define PATIENCE_MS 30000 /* for room in the session's input queue */

/* What is longer goes in pieces, but its end, which is typed with the keys. */
static int type_ahead_of(struct play *play, const struct played *session, const char *data,
                         size_t *done, size_t len, struct err *err)
{
    if (len <= PIECE_BYTES)
        return 0;
    struct json *id = json_int_new(session->number);
    struct typing typing = {
        .ue = play->ue, .session = id, .patience_ms = PATIENCE_MS, .patient = true};
    *done = len - PIECE_BYTES;
    int code = typing_send(&typing, data, *done, false, err);
    json_free(id);
    return code;
}

static enum play_flow type(struct play *play, const struct play_step *step, const struct buf *text,
                           struct json *keys)
{
    struct msg_answer answer;
    struct err err = {0};
    size_t done = 0;
    const char *data = text && text->data ? text->data : "";
    int code = text ? type_ahead_of(play, step->session, data, &done, text->len, &err) : 0;
    if (code < 0) {
        json_free(keys);
        return play_fail_err(play, &err);
    }
    struct json *params = play_params(step->session);
    if (text && text->len > done)
        input_add_chars(params, data + done, text->len - done);
    if (keys)
        json_add(params, "keys", keys);
    json_add_bool(params, "ready", false);
    json_add_bool(params, "peek", true);
    json_add_int(params, "max_output_tokens", 0);
    if (done > 0)
        json_add_int(params, "wait_room", PATIENCE_MS);
    code = play_call(play, "write_stdin", params, 0, META_ID, &answer, &err);
    msg_answer_fini(&answer);
    return code < 0 ? play_fail_err(play, &err) : PLAY_NEXT;
}

enum play_flow play_SEND(struct play *play, const struct play_step *step)
{
    return step->values[0].len == 0 ? PLAY_NEXT : type(play, step, &step->values[0], NULL);
}

enum play_flow play_LINE(struct play *play, const struct play_step *step)
{
    struct json *keys = json_array_new();
    json_add_text(keys, NULL, "Enter");
    return type(play, step, step->count > 0 ? &step->values[0] : NULL, keys);
}

enum play_flow play_KEYS(struct play *play, const struct play_step *step)
{
    struct json *keys = json_array_new();
    for (size_t i = 0; i < step->count; i++)
        json_add_text(keys, NULL, play_text(step, i));
    return type(play, step, NULL, keys);
}
