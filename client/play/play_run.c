/* play_run: `run`: a command in a shell or REPL, with what it printed and how it ended. */
#include "client/play/play_watch.h"
#include "client/rpc/params.h"
#include <inttypes.h>
#include <string.h>

/* As a shell's $(…), without the line ends behind it. */
static void note_output(struct play *play, const struct json *result)
{
    size_t len = 0;
    const char *output = json_get_str(result, "output", &len);
    while (len > 0 && (output[len - 1] == '\n' || output[len - 1] == '\r'))
        len--;
    play_set(play, "output", output, len);
    play_unset(play, "status"); /* it is not known of every program */
    int64_t status;
    if (json_get_int(result, "status", &status))
        play_set_number(play, "status", status);
}

static void report_run(struct play *play, const struct json *result)
{
    static const char *const told[] = {"reason", "by", "status", "from", "to", "output"};
    for (size_t i = 0; play->report && i < sizeof told / sizeof *told; i++)
        if (json_get(result, told[i]))
            json_add(play->report, told[i], json_copy(json_get(result, told[i])));
}

/* What the command has printed must not match fail-on. */
static enum play_flow check_fail_on(struct play *play, struct played *session)
{
    struct err err = {0};
    struct play_seen seen = {0};
    const struct play_watch nothing = {.timeout_ms = 0};
    if (!session->fail_on)
        return PLAY_NEXT;
    struct json *report = play->report; /* it tells of the command */
    play->report = NULL;
    int code = play_watch(play, session, &nothing, &seen, &err);
    play->report = report;
    if (code < 0)
        return play_fail_err(play, &err);
    return seen.reason == PLAY_FAILED_ON ? play_not_true(play, session, &seen, &nothing)
                                         : PLAY_NEXT;
}

static enum play_flow not_ended(struct play *play, const char *reason, int64_t timeout_ms)
{
    if (strcmp(reason, "incomplete") == 0)
        return play_fail(play, UE_NOT_TRUE,
                         "the program waits for the rest of the command, as after an open quote");
    return play_fail(play, UE_NOT_TRUE, "it did not end in %" PRId64 " ms", timeout_ms);
}

enum play_flow play_RUN(struct play *play, const struct play_step *step)
{
    struct msg_answer answer;
    struct err err = {0};
    int64_t timeout_ms, to = 0;
    struct json *params = play_params(step->session);
    json_add_str(params, "command", play_text(step, 0), step->values[0].len);
    if (play_timeout_of(play, step->node, &timeout_ms, &err) < 0) {
        json_free(params);
        return play_fail_err(play, &err);
    }
    enum play_flow flow = PLAY_NEXT;
    int code = play_call(play, "run_command", params, timeout_ms, META_ID, &answer, &err);
    const char *reason = json_get_str(answer.result, "reason", NULL);
    if (code == 0) {
        note_output(play, answer.result);
        report_run(play, answer.result);
    }
    if (code < 0)
        flow = play_fail_err(play, &err);
    else if (reason && (strcmp(reason, "deadline") == 0 || strcmp(reason, "incomplete") == 0))
        flow = not_ended(play, reason, timeout_ms);
    else
        flow = check_fail_on(play, step->session);
    if (code == 0 && json_get_int(answer.result, "to", &to) && to > step->session->place)
        step->session->place = to;
    msg_answer_fini(&answer);
    return flow;
}
