/* play_watch: owns the place of a script in a session's output: what an expect looks at, and where
 * the next one goes on. */
#include "client/play/play_watch.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAIL_BYTES 160 /* of the output, in a message */

static void add_patterns(struct json *params, const struct play_watch *watch)
{
    if (watch->pattern_count == 0)
        return;
    struct json *list = json_add_array(params, "until");
    for (size_t i = 0; i < watch->pattern_count; i++)
        json_add_str(list, NULL, watch->patterns[i]->data ? watch->patterns[i]->data : "",
                     watch->patterns[i]->len);
}

struct json *play_watch_params(const struct played *session, const struct play_watch *watch)
{
    struct json *params = play_params(session);
    json_add_int(params, "since", session->place);
    json_add_bool(params, "peek", true);
    json_add_int(params, "max_output_tokens", 0);
    add_patterns(params, watch);
    if (session->fail_on)
        json_add(params, "fail_on", json_copy(session->fail_on));
    if (watch->ready)
        json_add_bool(params, "ready", true);
    if (watch->quiet_ms > 0)
        json_add_int(params, "quiet_ms", watch->quiet_ms);
    if (watch->exit)
        json_add_bool(params, "exit", true);
    return params;
}

static int reason_of(const struct json *result, enum play_reason *reason, struct err *err)
{
    static const struct {
        const char *word;
        enum play_reason reason;
    } words[] = {{"until", PLAY_MATCHED}, {"fail_on", PLAY_FAILED_ON}, {"exit", PLAY_ENDED},
                 {"ready", PLAY_READY},   {"quiet", PLAY_QUIET},       {"deadline", PLAY_LATE}};
    const char *word = json_get_str(result, "reason", NULL);
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0) {
            *reason = words[i].reason;
            return 0;
        }
    return err_set(err, ERR_INTERNAL, "the wait ended for a reason that ue does not know: '%.40s'",
                   word ? word : "none");
}

/* What lies between the place and the match, for ${before} and the report. */
static int note_before(struct play *play, const struct played *session, int64_t from, int64_t to,
                       struct err *err)
{
    struct buf bytes = BUF_INIT;
    int code = 0;
    if (!play->report && !play->script->uses_before)
        return 0;
    code = play_read(play, session, from, to, &bytes, err);
    if (code == 0)
        play_set(play, "before", bytes.data, bytes.len);
    if (code == 0 && play->report) {
        json_add_int(play->report, "from", from);
        json_add_int(play->report, "to", to);
        json_add_str(play->report, "output", bytes.data ? bytes.data : "", bytes.len);
    }
    buf_fini(&bytes);
    return code;
}

void play_note_end(struct play *play, const struct json *result)
{
    int64_t status = 0;
    if (json_get_int(result, "exit_code", &status))
        play_set_number(play, "status", status);
}

static int take_match(struct play *play, const struct json *match, struct play_seen *seen,
                      struct err *err)
{
    int64_t index = 0;
    if (!json_get_int(match, "from", &seen->from) || !json_get_int(match, "to", &seen->to))
        return err_set(err, ERR_INTERNAL, "the daemon does not say where the match is");
    json_get_int(match, "index", &index);
    seen->which = (size_t)index;
    play_set_match(play, match);
    if (play->report)
        json_add(play->report, "match", json_copy(match));
    return 0;
}

int play_take_result(struct play *play, struct played *session, const struct json *result,
                     struct play_seen *seen, struct err *err)
{
    int64_t from = seen->place = session->place;
    int code = reason_of(result, &seen->reason, err);
    bool matched = seen->reason == PLAY_MATCHED || seen->reason == PLAY_FAILED_ON;
    if (code == 0 && matched)
        code = take_match(play, json_get(result, "match"), seen, err);
    else if (code == 0 && json_get_int(result, "to", &seen->to))
        seen->from = seen->to;
    if (code < 0)
        return code;
    const char *reason = json_get_str(result, "reason", NULL);
    play_set(play, "reason", reason, strlen(reason));
    if (play->report)
        json_add_text(play->report, "reason", reason);
    if (seen->reason == PLAY_ENDED)
        play_unset(play, "status"); /* it may be unknown */
    play_note_end(play, result);
    if (seen->from < from) /* the match begins before the place: by a lookbehind, or not at all */
        from = seen->from;
    code = note_before(play, session, from, seen->from, err);
    bool moves = seen->reason != PLAY_LATE && seen->reason != PLAY_READY;
    if (code == 0 && moves && seen->to > session->place)
        session->place = seen->to;
    return code;
}

int play_watch(struct play *play, struct played *session, const struct play_watch *watch,
               struct play_seen *seen, struct err *err)
{
    struct msg_answer answer;
    BUG_UNLESS(watch->pattern_count <= SCRIPT_ARMS_MAX && session->place >= 0);
    *seen = (struct play_seen){0};
    int code = play_call(play, "read_output", play_watch_params(session, watch), watch->timeout_ms,
                         0, &answer, err);
    if (code == 0)
        code = play_take_result(play, session, answer.result, seen, err);
    msg_answer_fini(&answer);
    return code;
}

/* The last of the output behind the place, for a person; "" when there is none. The caller's. */
static char *tail_of(struct play *play, const struct played *session, int64_t from, int64_t to)
{
    struct buf bytes = BUF_INIT, text = BUF_INIT;
    struct err err = {0};
    if (to - from > TAIL_BYTES)
        from = to - TAIL_BYTES;
    if (from < to && play_read(play, session, from, to, &bytes, &err) == 0)
        script_show_value(&text, bytes.data ? bytes.data : "", bytes.len);
    buf_fini(&bytes);
    return buf_take(&text);
}

static enum play_flow fail_on_came(struct play *play, const struct played *session,
                                   const struct play_seen *seen)
{
    struct buf bytes = BUF_INIT, text = BUF_INIT;
    struct err err = {0};
    int64_t to = seen->to - seen->from > TAIL_BYTES ? seen->from + TAIL_BYTES : seen->to;
    if (play_read(play, session, seen->from, to, &bytes, &err) == 0)
        script_show_value(&text, bytes.data ? bytes.data : "", bytes.len);
    enum play_flow flow = play_fail(play, UE_FAIL_ON,
                                    "a pattern of fail-on has matched %s in the output of '%s'",
                                    text.data ? text.data : "", session->name);
    buf_fini(&bytes);
    buf_fini(&text);
    return flow;
}

enum play_flow play_not_true(struct play *play, const struct played *session,
                             const struct play_seen *seen, const struct play_watch *watch)
{
    if (seen->reason == PLAY_FAILED_ON)
        return fail_on_came(play, session, seen);
    char *tail = tail_of(play, session, seen->place, seen->to), ms[40];
    snprintf(ms, sizeof ms, "%" PRId64 " ms", watch->timeout_ms);
    enum play_flow flow = play_fail(
        play, UE_NOT_TRUE, "%s%s; %s%s",
        seen->reason == PLAY_ENDED ? "the session has ended before it came" : "it did not come in ",
        seen->reason == PLAY_ENDED ? "" : ms,
        *tail ? "the output behind the last match ends with "
              : "there is no output behind the "
                "last match",
        tail);
    free(tail);
    return flow;
}
