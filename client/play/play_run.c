/* play_run: `run`: a command typed into a shell or REPL, and what it printed. */
#include "base/mem.h"
#include "client/play/play_watch.h"
#include "client/rpc/input.h"
#include "client/rpc/params.h"
#include <string.h>

static struct json *run_params_of(const struct play_step *step)
{
    struct json *params = play_params(step->session), *keys;
    const struct buf *command = &step->values[0];
    input_add_chars(params, command->data, command->len);
    keys = json_add_array(params, "keys");
    json_add_text(keys, NULL, "Enter");
    json_add_int(params, "since", step->session->place);
    json_add_bool(params, "peek", true);
    json_add_bool(params, "ready", true);
    json_add_bool(params, "text", true);
    if (step->session->fail_on)
        json_add(params, "fail_on", json_copy(step->session->fail_on));
    return params;
}

/* ${output}: whole lines; what stands behind the last one is the prompt. */
static void note_output(struct play *play, const struct json *result)
{
    size_t len = 0;
    const char *output = json_get_str(result, "output", &len);
    const char *newline = output ? memrchr(output, '\n', len) : NULL;
    len = newline ? (size_t)(newline - output) : 0;
    play_set(play, "output", output, len);
    if (!play->report)
        return;
    json_add_text(play->report, "reason", json_get_str(result, "reason", NULL));
    json_add(play->report, "from", json_copy(json_get(result, "from")));
    json_add(play->report, "to", json_copy(json_get(result, "to")));
    json_add_str(play->report, "output", output ? output : "", len);
}

enum play_flow play_RUN(struct play *play, const struct play_step *step)
{
    struct play_watch watch = {.ready = true};
    struct play_seen seen;
    struct msg_answer answer;
    struct err err = {0};
    if (play_timeout_of(play, step->node, &watch.timeout_ms, &err) < 0)
        return play_fail_err(play, &err);
    struct json *report = play->report;
    play->report = NULL; /* it tells of the command, not of what is looked at around it */
    enum play_flow flow = play_SKIP(play, step);
    if (flow != PLAY_NEXT) {
        play->report = report;
        return flow;
    }
    int code = play_call(play, "write_stdin", run_params_of(step), watch.timeout_ms, META_ID,
                         &answer, &err);
    if (code == 0)
        code = play_take_result(play, step->session, answer.result, &seen, &err);
    play->report = report;
    if (code == 0)
        note_output(play, answer.result);
    msg_answer_fini(&answer);
    if (code < 0)
        return play_fail_err(play, &err);
    if (seen.reason != PLAY_READY && seen.reason != PLAY_ENDED)
        return play_not_true(play, step->session, &seen, &watch);
    step->session->place = seen.to;
    return PLAY_NEXT;
}
