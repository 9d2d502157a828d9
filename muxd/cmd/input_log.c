/* input_log: read_input: who typed what into a session, at once or as soon as there is an entry. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"
#include "cmd/describe.h"
#include "cmd/failure.h"
#include "cmd/meta.h"
#include "cmd/op.h"
#include "journal/inputlog.h"
#include <stdlib.h>

#define ENTRIES_MAX 1000 /* in one answer; `next` says where to go on */

struct reading { /* a request that waits for an entry */
    struct cmd_context *ctx;
    struct request *request;
    struct keyboard_watch *watch;
    struct wait *exit;
    uint64_t number, since;
    struct loop_timer deadline;
};

static void add_detail(struct json *one, const struct input_event *event)
{
    if (event->kind == INPUT_SIGNAL) {
        const char *name = value_signal_name(event->detail);
        name ? json_add_text(one, "signal", name) : json_add_int(one, "signal", event->detail);
    } else if (event->kind == INPUT_RESIZE) {
        json_add_int(one, "rows", event->detail >> 16);
        json_add_int(one, "cols", event->detail & 0xffff);
    }
}

static void input_log_add_text(struct json *one, const struct input_event *event)
{
    struct buf text = BUF_INIT;
    if (event->text_size == 0)
        return;
    utf8_append_lossy(&text, event->text, event->text_size);
    json_add_buf(one, "text", &text);
    if (event->bytes > event->text_size)
        json_add_bool(one, "cut", true);
}

struct listing {
    struct registry *registry;
    struct json *list;
};

static void add_event(void *arg, const struct input_event *event)
{
    const struct listing *listing = arg;
    struct json *one = json_add_object(listing->list, NULL);
    json_add_int(one, "seq", (int64_t)event->serial);
    describe_time(one, "time", event->real_ms);
    if (event->last_ms != event->real_ms)
        describe_time(one, "last", event->last_ms);
    json_add_text(one, "author", input_who_word(event->who));
    json_add_int(one, "uid", (int64_t)event->uid);
    json_add_int(one, "pid", event->pid);
    describe_from_session(one, listing->registry, inputlog_from_session(event));
    if (event->client[0])
        json_add_text(one, "client", event->client);
    if (event->call_id[0])
        json_add_text(one, "call_id", event->call_id);
    json_add_text(one, "kind", input_kind_word(event->kind));
    json_add_int(one, "from", (int64_t)event->from);
    json_add_int(one, "to", (int64_t)event->to);
    json_add_int(one, "bytes", (int64_t)event->bytes);
    if (event->count > 1)
        json_add_int(one, "writes", (int64_t)event->count);
    json_add_int(one, "output_at", (int64_t)event->output_at);
    input_log_add_text(one, event);
    add_detail(one, event);
}

static void reading_free(struct reading *reading)
{
    keyboard_unwatch(reading->watch);
    wait_cancel(reading->exit);
    loop_timer_stop(&reading->deadline);
    free(reading);
}

static struct json *entries(struct cmd_context *ctx, struct session *session, uint64_t since)
{
    struct journal *journal = session_journal(session);
    struct json *result = json_object_new();
    if (session_is_live(session))
        json_add_int(result, "session_id", (int64_t)session_number(session));
    json_add_int(result, "number", (int64_t)session_number(session));
    json_add_text(result, "name", session_name(session));
    json_add_text(result, "state", session_state_word(session_state(session)));
    uint64_t after = since > 0 ? since - 1 : 0, last = inputlog_last(journal);
    struct listing listing = {ctx->registry, json_add_array(result, "entries")};
    uint64_t lost = inputlog_read(journal, after, ENTRIES_MAX, add_event, &listing);
    uint64_t next = after + lost + ENTRIES_MAX < last ? after + lost + ENTRIES_MAX + 1 : last + 1;
    if (lost > 0)
        json_add_int(result, "lost", (int64_t)lost);
    json_add_int(result, "next", (int64_t)(next > since ? next : since));
    return result;
}

static void input_log_answer(struct reading *reading)
{
    struct session *session = registry_by_number(reading->ctx->registry, reading->number);
    struct request *request = reading->request;
    struct cmd_context *ctx = reading->ctx;
    uint64_t since = reading->since, number = reading->number;
    struct err err;
    request_on_cancel(request, NULL, NULL);
    reading_free(reading);
    if (session) {
        request_reply(request, entries(ctx, session, since));
    } else {
        failure_removed(&err, number);
        request_fail(request, &err);
    }
}

static void on_input(void *arg, unsigned events)
{
    (void)events;
    input_log_answer(arg);
}

static void input_log_on_deadline(void *arg)
{
    input_log_answer(arg);
}

static void on_exit_of(void *arg, const struct wait_result *result)
{
    struct reading *reading = arg;
    (void)result;
    reading->exit = NULL;
    input_log_answer(reading);
}

static void input_log_on_cancel(void *arg)
{
    reading_free(arg);
}

static int park(struct cmd_context *ctx, struct request *request, struct session *session,
                uint64_t since, struct err *err)
{
    const struct wait_spec forever = {
        .quiet_ms = -1, .deadline_ns = INT64_MAX, .from = journal_head(session_journal(session))};
    BUG_UNLESS(session_is_live(session));
    struct reading *reading = xcalloc(1, sizeof *reading);
    *reading = (struct reading){
        .ctx = ctx, .request = request, .number = session_number(session), .since = since};
    loop_timer_init(&reading->deadline, ctx->loop, input_log_on_deadline, reading);
    reading->exit = session_wait(session, &forever, on_exit_of, reading, err);
    if (!reading->exit) {
        free(reading);
        return err->code;
    }
    reading->watch = keyboard_watch(session, KEYBOARD_INPUT, on_input, reading);
    int64_t yield = schema_int(&tools[TOOL_READ_INPUT], request_params(request), "yield_time_ms",
                               0);
    int64_t max = ctx->config->limits.max_wait_ms;
    if (!meta_bool(request, "no_deadline"))
        loop_timer_set_ms(&reading->deadline, yield < max ? yield : max);
    request_on_cancel(request, input_log_on_cancel, reading);
    return 0;
}

void cmd_READ_INPUT(struct cmd_context *ctx, struct request *request)
{
    struct err err = {0};
    const struct json *params = request_params(request);
    uint64_t since = (uint64_t)schema_int(&tools[TOOL_READ_INPUT], params, "since", 0);
    struct session *session = meta_session(ctx, json_get(params, "session_id"), &err);
    int64_t yield_ms = schema_int(&tools[TOOL_READ_INPUT], params, "yield_time_ms", 0);
    bool endless = meta_bool(request, "no_deadline"), wanted = yield_ms > 0 || endless;
    if (!session ||
        (meta_bool(request, "verb") && !endless && op_check_wait(ctx, yield_ms, &err) < 0)) {
        request_fail(request, &err);
        return;
    }
    bool there = inputlog_last(session_journal(session)) >= (since > 0 ? since : 1);
    if (there || !wanted || !session_is_live(session))
        request_reply(request, entries(ctx, session, since));
    else if (park(ctx, request, session, since, &err) < 0)
        request_fail(request, &err);
}
