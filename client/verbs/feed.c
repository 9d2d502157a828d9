/* feed: owns `exec --stdin`: starts a command, feeds it, and waits for what was asked for. */
#include "client/verbs/feed.h"
#include "base/bug.h"
#include "base/clock.h"
#include "client/rpc/call.h"
#include "client/rpc/input.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "client/rpc/typing.h"
#include <inttypes.h>
#include <string.h>

#define START_LOOK_MS 50 /* wait of the first call, which is made for the session's number */

struct feed {
    struct ue *ue;
    struct json *wanted; /* arguments from the command line; borrowed */
    struct typing typing;
    int64_t number, at, deadline_ms;
    bool raw, running;
    bool ended; /* all of standard input was fed */
    struct msg_answer answer;
};

/* the first ones can come true before the end */
static const char *const conditions[] = {"until", "quiet_ms", "fail_on", "exit",
                                         "ready", "count",    "line"};

static void feed_take(struct feed *feed)
{
    const char *state = json_get_str(feed->answer.result, "state", NULL);
    feed->running = state && strcmp(state, "running") == 0;
}

static bool feed_is_early(const struct feed *feed)
{
    return json_get(feed->wanted, "until") || json_get(feed->wanted, "quiet_ms") ||
           json_get(feed->wanted, "fail_on");
}

static int feed_begin(struct feed *feed, struct err *err)
{
    struct json *params = json_copy(feed->wanted);
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        json_free(json_detach(params, conditions[i]));
    params_wait(params, START_LOOK_MS);
    if (feed->raw)
        raw_ask(params);
    if (feed->raw && !feed_is_early(feed))
        json_add_bool(params, "follow", true);
    int result = call_run(&feed->ue->conn, "exec_command", params, CALL_WAITS, &feed->answer, err);
    json_free(params);
    if (result < 0)
        return result;
    if (feed->raw)
        feed->ue->lost |= !raw_print(feed->answer.result);
    json_get_int(feed->answer.result, "number", &feed->number);
    json_get_int(feed->answer.result, "to", &feed->at);
    feed_take(feed);
    return 0;
}

static bool feed_is_over(const struct feed *feed)
{
    return !feed->running || feed->ended ||
           (feed->deadline_ms != INT64_MAX && clock_mono_ms() >= feed->deadline_ms);
}

static int feed_look(struct feed *feed, int64_t yield_ms, struct err *err)
{
    int result = raw_read(feed->ue, feed->number, &feed->at, yield_ms, feed->raw, &feed->answer,
                          err);
    if (result == 0)
        feed_take(feed);
    return result;
}

static int64_t left_ms(const struct feed *feed)
{
    int64_t left = feed->deadline_ms == INT64_MAX ? INT64_MAX : feed->deadline_ms - clock_mono_ms();
    return left > 0 ? left : 0;
}

/* While standard input has nothing: waits for the program's end, with --raw also for its output,
 * until standard input can be read or the deadline. */
static int wait_for_input(struct feed *feed, struct err *err)
{
    int64_t left = left_ms(feed);
    int result;
    if (feed->raw) {
        result = raw_read_fed(feed->ue, feed->number, &feed->at, left, true,
                              CALL_WAITS | CALL_FEEDS, &feed->answer, err);
    } else {
        struct msg_answer fresh;
        struct json *params = json_object_new();
        json_add_int(params, "session_id", feed->number);
        json_add_int(params, "since", feed->at);
        json_add_bool(params, "exit", true);
        json_add_bool(params, "peek", true);
        params_meta(feed->ue, params, META_VERB);
        params_wait(params, left);
        result = call_run(&feed->ue->conn, "read_output", params, CALL_WAITS | CALL_FEEDS, &fresh,
                          err);
        json_free(params);
        if (result == 0) {
            msg_answer_fini(&feed->answer);
            feed->answer = fresh;
        } else {
            msg_answer_fini(&fresh);
        }
    }
    if (result == 0)
        feed_take(feed);
    return result == CALL_FED ? 0 : result;
}

/* Waits for room in a full queue up to the command's deadline. With --raw it takes output
 * meanwhile, so that the program can go on. */
static int send_piece(struct feed *feed, const struct buf *piece, bool last, struct err *err)
{
    struct typing *typing = &feed->typing;
    uint64_t begin = typing->typed;
    typing->yields = feed->raw;
    for (;;) {
        size_t done = (size_t)(typing->typed - begin);
        BUG_UNLESS(done <= piece->len);
        typing->read_to = feed->at;
        typing->patience_ms = left_ms(feed);
        int result = typing_send(typing, piece->data ? piece->data + done : NULL, piece->len - done,
                                 last, err);
        if (result != ERR_INPUT_FULL || feed_is_over(feed))
            return result;
        result = feed_look(feed, 0, err);
        if (result < 0)
            return result;
        typing->yields = feed->at != typing->read_to; /* without new output reading doesn't help */
    }
}

/* A program that reads no further is no error, as in a shell's pipeline. */
static int feed_all(struct feed *feed, struct err *err)
{
    struct buf piece = BUF_INIT;
    bool last = false;
    int result = 0;
    while (result == 0 && !feed_is_over(feed)) {
        if (!input_is_ready()) {
            result = wait_for_input(feed, err);
            continue;
        }
        result = input_piece(&piece, &last, err);
        if (result == 0)
            result = send_piece(feed, &piece, last, err);
        if (result == 0 && feed->raw) /* output must not pile up while it is fed */
            result = feed_look(feed, 0, err);
        feed->ended = last && result == 0;
    }
    buf_fini(&piece);
    if (result == ERR_INPUT_FULL || (result == 0 && feed->running && !feed->ended))
        say_note("standard input: the wait was over after %" PRIu64 " bytes; `ue write %" PRId64
                 " -` feeds more",
                 feed->typing.typed, feed->number);
    return result == ERR_STDIN_CLOSED || result == ERR_ENDED || result == ERR_INPUT_FULL ? 0
                                                                                         : result;
}

/* Waits in the time that is left for what the command line asks for, or else for the end. */
static int feed_finish(struct feed *feed, struct err *err)
{
    struct json *params = json_object_new();
    bool any = false;
    json_add_int(params, "session_id", feed->number);
    json_add_int(params, "since", 0);
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        const struct json *value = json_get(feed->wanted, conditions[i]);
        if (value)
            json_add(params, conditions[i], json_copy(value));
        any |= value && (i < 2 || i == 3);
    }
    if (!any)
        json_add_bool(params, "exit", true);
    if (json_get(feed->wanted, "max_output_tokens"))
        json_add(params, "max_output_tokens",
                 json_copy(json_get(feed->wanted, "max_output_tokens")));
    if (talk_format(feed->ue) == TALK_TEXT)
        params_set(params, "text", json_bool_new(true));
    params_meta(feed->ue, params, META_VERB);
    params_wait(params, left_ms(feed));
    msg_answer_fini(&feed->answer);
    int result = call_run(&feed->ue->conn, "read_output", params, CALL_WAITS, &feed->answer, err);
    json_free(params);
    return result;
}

static int finish_raw(struct feed *feed, struct err *err)
{
    if (!feed_is_early(feed))
        return raw_follow(feed->ue, feed->number, &feed->at, feed->deadline_ms, &feed->answer, err);
    /* this call only waits; the bytes come by further reads */
    int result = feed_finish(feed, err);
    if (result < 0)
        return result;
    struct msg_answer bytes = {0};
    do
        result = raw_read(feed->ue, feed->number, &feed->at, 0, true, &bytes, err);
    while (result == 0 && raw_is_full(bytes.result));
    msg_answer_fini(&bytes);
    return result;
}

int feed_talk(struct ue *ue, struct json *params)
{
    struct feed feed = {.ue = ue,
                        .wanted = params,
                        .raw = talk_format(ue) == TALK_RAW,
                        .deadline_ms = raw_deadline(ue, params)};
    struct err err = {0};
    int status = 0, result = raw_check_wait(ue, &err);
    if (result == 0)
        result = call_hold_interrupts(&ue->conn, &err);
    if (result == 0)
        result = feed_begin(&feed, &err);
    if (result == 0) {
        struct json *session = json_int_new(feed.number);
        feed.typing = (struct typing){.ue = ue, .session = session, .patient = true};
        result = feed_all(&feed, &err);
        json_free(session);
    }
    if (result == 0)
        result = feed.raw ? finish_raw(&feed, &err) : feed_finish(&feed, &err);
    if (result < 0)
        status = talk_fail(ue, params, &err);
    else
        status = feed.raw ? raw_status(ue, talk_status(ue, params, feed.answer.result))
                          : talk_show(ue, params, feed.answer.result);
    msg_answer_fini(&feed.answer);
    return status;
}
