/* raw: owns the waits of --raw: more bytes than one answer holds, printed as they come. */
#include "client/rpc/talk.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/value.h"
#include "client/rpc/call.h"
#include "client/rpc/params.h"
#include <inttypes.h>
#include <string.h>

#define MAX_WAIT_LEAST_MS 1000 /* [limits] max_wait is never less */
#define FIRST_LOOK_MS 200      /* a command that ends within it takes one request */
#define EXEC_YIELD_MS 10000    /* the default of exec's -y */

static struct json *raw_read_params(struct ue *ue, int64_t number, int64_t at, int64_t yield_ms,
                                    bool print)
{
    struct json *params = json_object_new();
    json_add_int(params, "session_id", number);
    json_add_int(params, "since", at);
    json_add_bool(params, "ready", false);
    if (yield_ms > 0)
        json_add_text(params, "until", "(?s).");
    if (!print || args_next(&ue->args, "peek", NULL))
        json_add_bool(params, "peek", true);
    json_add_bool(params, "follow", true);
    raw_ask(params);
    params_meta(ue, params, META_VERB);
    params_wait(params, yield_ms);
    return params;
}

int raw_read(struct ue *ue, int64_t number, int64_t *at, int64_t yield_ms, bool print,
             struct msg_answer *answer, struct err *err)
{
    return raw_read_fed(ue, number, at, yield_ms, print, CALL_WAITS, answer, err);
}

int raw_read_fed(struct ue *ue, int64_t number, int64_t *at, int64_t yield_ms, bool print,
                 unsigned flags, struct msg_answer *answer, struct err *err)
{
    struct msg_answer fresh;
    BUG_UNLESS(flags & CALL_WAITS); /* ^C has to end it */
    struct json *params = raw_read_params(ue, number, *at, yield_ms, print);
    int result = call_run(&ue->conn, "read_output", params, flags, &fresh, err);
    json_free(params);
    if (result == CALL_FED) { /* the previous answer stays */
        msg_answer_fini(&fresh);
        return result;
    }
    msg_answer_fini(answer);
    *answer = fresh;
    if (result < 0)
        return result;
    if (print)
        ue->lost |= !raw_print(answer->result);
    json_get_int(answer->result, "to", at);
    return 0;
}

static bool raw_is_running(const struct json *result)
{
    const char *state = json_get_str(result, "state", NULL);
    return state && strcmp(state, "running") == 0;
}

int raw_follow(struct ue *ue, int64_t number, int64_t *at, int64_t deadline_ms,
               struct msg_answer *answer, struct err *err)
{
    while (raw_is_running(answer->result)) {
        int64_t left_ms = deadline_ms == INT64_MAX ? INT64_MAX : deadline_ms - clock_mono_ms();
        if (left_ms <= 0)
            return 0;
        int result = raw_read(ue, number, at, left_ms, true, answer, err);
        if (result < 0)
            return result;
    }
    while (raw_is_full(answer->result)) {
        int result = raw_read(ue, number, at, 0, true, answer, err);
        if (result < 0)
            return result;
    }
    return 0;
}

/* The end of the output at the time of the first answer: what a program that floods prints later
 * does not belong to this call. */
static int64_t raw_head_of(struct ue *ue, int64_t number)
{
    struct msg_answer answer;
    struct err err = {0};
    int64_t head = INT64_MAX;
    struct json *params = json_object_new();
    json_add_int(json_add_array(params, "names"), NULL, number);
    /* as a verb: [tools] may hide list_sessions from models */
    params_meta(ue, params, META_VERB);
    if (call_run(&ue->conn, "list_sessions", params, CALL_AGAIN, &answer, &err) == 0)
        json_get_int(json_first(json_get(answer.result, "sessions")), "output_bytes", &head);
    msg_answer_fini(&answer);
    json_free(params);
    return head;
}

/* Prints the rest of what the wait yielded; the wait's own answer still decides the exit status. */
static int fetch_rest(struct ue *ue, const struct json *first, struct err *err)
{
    int64_t number = 0, at = 0;
    struct msg_answer answer = {0};
    int result = 0;
    json_get_int(first, "number", &number);
    json_get_int(first, "to", &at);
    if (!raw_is_full(first))
        return 0;
    int64_t head = raw_head_of(ue, number);
    do
        result = raw_read(ue, number, &at, 0, true, &answer, err);
    while (result == 0 && at < head && raw_is_full(answer.result));
    msg_answer_fini(&answer);
    return result;
}

/* -y is split into several short waits, which the daemon would all allow, so its limit is asked for
 * before anything is done. */
int raw_check_wait(struct ue *ue, struct err *err)
{
    struct msg_answer answer;
    int64_t yield_ms = args_int(&ue->args, "yield", -1), max_ms = 0;
    if (yield_ms <= MAX_WAIT_LEAST_MS || yield_ms == INT64_MAX)
        return 0;
    int result = call_run(&ue->conn, "status", NULL, CALL_AGAIN, &answer, err);
    const char *limit = result == 0
                            ? json_get_str(json_get(answer.result, "limits"), "max_wait", NULL)
                            : NULL;
    if (limit && value_ms(limit, &max_ms) && yield_ms > max_ms)
        result = err_set(err, ERR_ARGUMENTS,
                         "'-y %" PRId64 "': longer than [limits] max_wait (%" PRId64
                         " ms) allows; give less or `inf`, "
                         "or raise it",
                         yield_ms, max_ms);
    msg_answer_fini(&answer);
    return result;
}

/* Whether the call waits for the program's end: then -y is the deadline of the whole call and
 * output is printed as it comes. */
static bool is_followed(const struct ue *ue, const char *tool, const struct json *params)
{
    bool exec = strcmp(tool, "exec_command") == 0, exit = false, tty = false;
    json_get_bool(params, "exit", &exit);
    json_get_bool(params, "tty", &tty);
    if (args_next(&ue->args, "args", NULL) || json_get(params, "until") ||
        json_get(params, "fail_on") ||
        json_get(params, "ready") || json_get(params, "quiet_ms"))
        return false;
    return exit || (exec && !tty && json_get(params, "cmd"));
}

int64_t raw_deadline(const struct ue *ue, const struct json *params)
{
    bool exit = false;
    int64_t yield_ms = args_int(&ue->args, "yield", -1);
    json_get_bool(params, "exit", &exit);
    if (yield_ms < 0)
        yield_ms = exit ? INT64_MAX : EXEC_YIELD_MS;
    return yield_ms == INT64_MAX ? INT64_MAX : clock_mono_ms() + yield_ms;
}

static int talk_followed(struct ue *ue, const char *tool, struct json *params,
                         struct msg_answer *answer, struct err *err)
{
    if (raw_check_wait(ue, err) < 0 || call_hold_interrupts(&ue->conn, err) < 0) {
        *answer = (struct msg_answer){0};
        return err->code;
    }
    int64_t deadline_ms = raw_deadline(ue, params), number = 0, at = 0, now_ms = clock_mono_ms();
    struct json *first = json_copy(params);
    int64_t left_ms = deadline_ms == INT64_MAX ? FIRST_LOOK_MS : deadline_ms - now_ms;
    if (left_ms > FIRST_LOOK_MS)
        left_ms = FIRST_LOOK_MS;
    params_wait(first, left_ms > 0 ? left_ms : 0); /* with -y 0 the time is over already */
    if (strcmp(tool, "exec_command") == 0)
        json_add_bool(first, "follow", true); /* all of its output is wanted */
    int result = call_run(&ue->conn, tool, first, CALL_WAITS, answer, err);
    json_free(first);
    if (result < 0)
        return result;
    ue->lost |= !raw_print(answer->result);
    json_get_int(answer->result, "number", &number);
    json_get_int(answer->result, "to", &at);
    return raw_follow(ue, number, &at, deadline_ms, answer, err);
}

int raw_talk(struct ue *ue, const char *tool, struct json *params, talk_ask_fn *ask)
{
    struct msg_answer answer = {0};
    struct err err = {0};
    int result, status;
    raw_ask(params);
    if (strcmp(tool, "read_output") == 0)
        params_set(params, "follow", json_bool_new(true));
    if (is_followed(ue, tool, params)) {
        result = talk_followed(ue, tool, params, &answer, &err);
    } else {
        result = ask(ue, tool, params, &answer, &err);
        if (result == 0) {
            ue->lost |= !raw_print(answer.result);
            result = fetch_rest(ue, answer.result, &err);
        }
    }
    status = result < 0 ? talk_fail(ue, params, &err) : talk_status(ue, params, answer.result);
    msg_answer_fini(&answer);
    return raw_status(ue, status);
}
