/* play_call: the calls of a script to the daemon. They survive a restart of it: what is typed is
 * typed once, by its request_id, and a wait goes by absolute offsets. */
#include "base/bug.h"
#include "client/play/playing.h"
#include "client/print/say.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include "wire/base64.h"
#include <string.h>

int play_call(struct play *play, const char *tool, struct json *params, int64_t wait_ms,
              unsigned meta, struct msg_answer *answer, struct err *err)
{
    BUG_UNLESS(json_type(params) == JSON_OBJECT);
    *answer = (struct msg_answer){0};
    int code = 0;
    if (!play->held) /* from now on ^C ends a wait, and the script with its sessions */
        code = call_hold_interrupts(&play->ue->conn, err);
    play->held |= code == 0;
    if (wait_ms >= 0)
        params_wait(params, wait_ms);
    params_meta(play->ue, params, META_VERB | meta);
    if (code == 0)
        code = call_run(&play->ue->conn, tool, params, CALL_WAITS, answer, err);
    json_free(params);
    return code;
}

struct json *play_params(const struct played *session)
{
    struct json *params = json_object_new();
    json_add_int(params, "session_id", session->number);
    return params;
}

/* One piece; *from moves to its end. */
static int read_piece(struct play *play, const struct played *session, int64_t *from, int64_t to,
                      struct buf *out, struct err *err)
{
    struct msg_answer answer;
    struct json *params = play_params(session);
    json_add_int(params, "since", *from);
    json_add_int(params, "to", to);
    json_add_text(params, "encoding", "base64");
    int code = play_call(play, "read_output", params, 0, 0, &answer, err);
    const char *text = json_get_str(answer.result, "output_base64", NULL);
    int64_t end = *from;
    json_get_int(answer.result, "to", &end);
    if (code == 0 && text)
        base64_decode(out, text, strlen(text));
    *from = end > *from ? end : to; /* nothing came: it is no longer kept */
    msg_answer_fini(&answer);
    return code;
}

int play_read(struct play *play, const struct played *session, int64_t from, int64_t to,
              struct buf *out, struct err *err)
{
    int code = 0;
    BUG_UNLESS(from <= to);
    if (to - from > PLAY_BEFORE_MAX)
        from = to - PLAY_BEFORE_MAX;
    while (code == 0 && from < to)
        code = read_piece(play, session, &from, to, out, err);
    return code;
}

int play_end_sessions(struct play *play)
{
    struct msg_answer answer = {0};
    struct err err = {0};
    struct json *params = json_object_new(), *list = json_add_array(params, "sessions");
    for (size_t i = 0; i < play->session_count; i++) {
        const struct played *session = &play->sessions[i];
        if (session->own && !session->kept && !session->closed)
            json_add_int(list, NULL, session->number);
    }
    if (!json_first(list)) {
        json_free(params);
        return 0;
    }
    params_meta(play->ue, params, META_VERB);
    int code = call_run(&play->ue->conn, "kill_session", params, CALL_AGAIN, &answer, &err);
    json_free(params);
    msg_answer_fini(&answer);
    if (code == 0 || code == ERR_NO_SUCH_SESSION)
        return 0;
    say_note("%s: its sessions could not be ended: %s", play->script->name, err.text);
    return UE_FAILED;
}
