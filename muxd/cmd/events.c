/* events: the method `events`: what has happened since an event number, at once or as soon as
 * there is something. A listener asks again and again, each time with the `next` that it was
 * given. The daemon keeps nothing for it; a listener that falls behind is told how many events
 * it has missed. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cmd/failure.h"
#include "cmd/meta.h"
#include "parts/events/events.h"
#include "wire/schema.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES (1u << 20) /* of events in one answer; the last event may go beyond it */
#define GAP_BYTES 100           /* about what the event of a gap takes */
#define YIELD_DEFAULT_MS 30000

struct listener {
    struct cmd_context *ctx;
    struct request *request;
    uint32_t types;
    size_t max_events, aggregated;
    char *session; /* owned; NULL: all */
    struct events_cursor cursor;
    struct events_watch watch;
    struct loop_timer deadline;
    /* the deadline has come: the answer goes out as soon as there is room for it */
    bool over;
};

static void listener_free(struct listener *listener)
{
    events_watch_stop(listener->ctx->registry, &listener->watch);
    events_unlisten(listener->ctx->registry, listener->types);
    loop_timer_stop(&listener->deadline);
    free(listener->session);
    free(listener);
}

static void cmd_events_on_cancel(void *arg)
{
    listener_free(arg);
}

/* The events that the ring no longer has, as an event without a number of its own. */
static void add_gap(struct buf *out, uint64_t from, uint64_t missed)
{
    if (missed == EVENTS_MISSED_UNKNOWN)
        buf_printf(out, "{\"type\":\"gap\",\"since\":%" PRIu64 ",\"reason\":\"restarted\"}", from);
    else
        buf_printf(out,
                   "{\"type\":\"gap\",\"since\":%" PRIu64 ",\"missed\":%" PRIu64
                   ",\"reason\":\"overwritten\"}",
                   from, missed);
}

/* Parses a rendered event: the answer is a tree. */
static void add_parsed(struct json *list, struct buf *line)
{
    struct err err;
    struct json *event = json_parse_with(line->data, line->len, JSON_ALLOW_NUL, &err);
    if (event)
        json_add(list, NULL, event);
    buf_clear(line);
}

static void cmd_events_collect(struct listener *listener, struct json *list)
{
    struct registry *registry = listener->ctx->registry;
    struct buf line = BUF_INIT;
    size_t count = 0, bytes = 0;
    while (count < listener->max_events && bytes < ANSWER_BYTES) {
        uint64_t missed, asked = listener->cursor.seq;
        const char *text;
        const struct event_record *record = events_read(
            registry, &listener->cursor, listener->types, listener->session, &text, &missed);
        if (missed) {
            add_gap(&line, asked, missed);
            add_parsed(list, &line);
            count++;
        }
        if (!record)
            break;
        events_render(registry, record, text, listener->aggregated, &line);
        bytes += line.len;
        add_parsed(list, &line);
        count++;
    }
    buf_fini(&line);
}

/* About how large the answer gets; 0: there is nothing to tell, and the cursor has passed it. */
static size_t cmd_events_need(struct listener *listener)
{
    struct events_cursor cursor = listener->cursor;
    size_t need = 0;
    for (size_t count = 0; count < listener->max_events && need < ANSWER_BYTES; count++) {
        uint64_t missed;
        const char *text;
        const struct event_record *record = events_read(
            listener->ctx->registry, &cursor, listener->types, listener->session, &text, &missed);
        need += missed ? GAP_BYTES : 0;
        if (!record)
            break;
        uint64_t output = record->type == EVENT_END ? record->to : record->to - record->from;
        size_t most = record->type == EVENT_END ? listener->aggregated : EVENTS_TEXT_MAX;
        need += record->size + (output < most ? (size_t)output : most);
    }
    if (need == 0)
        listener->cursor = cursor;
    return need;
}

static void cmd_events_answer(struct listener *listener, struct json *events)
{
    struct request *request = listener->request;
    struct registry *registry = listener->ctx->registry;
    struct json *result = json_object_new();
    uint64_t next = listener->cursor.seq ? listener->cursor.seq : events_next(registry);
    json_add(result, "events", events);
    json_add_int(result, "next", (int64_t)next);
    request_on_cancel(request, NULL, NULL);
    request_reply(request, result);
    listener_free(listener);
}

/* Answers when there are events or the deadline has come. Else waits: for events, or for room on
 * the connection. */
static void cmd_events_look(void *arg)
{
    struct listener *listener = arg;
    struct registry *registry = listener->ctx->registry;
    size_t need = cmd_events_need(listener);
    if (need == 0 && !listener->over) {
        events_watch_set(registry, &listener->watch);
        return;
    }
    if (!request_take_room(listener->request, need)) {
        events_watch_stop(registry, &listener->watch);
        request_when_room(listener->request, need, cmd_events_look, listener);
        return;
    }
    struct json *events = json_array_new();
    cmd_events_collect(listener, events);
    cmd_events_answer(listener, events);
}

static void cmd_events_on_deadline(void *arg)
{
    struct listener *listener = arg;
    listener->over = true;
    cmd_events_look(listener);
}

/* 0, or ERR_ARGUMENTS for a word that is not a type. No words: all types but output, which has
 * to be asked for by name. */
static int types_of(const struct json *words, uint32_t *types, struct err *err)
{
    *types = words ? 0 : EVENT_ALL & ~EVENT_BIT(EVENT_OUTPUT);
    for (const struct json *it = json_first(words); it; it = json_next(it)) {
        const char *word = json_str(it, NULL), *nearest = event_nearest(word);
        int type = event_by_name(word);
        if (strcmp(word, "all") == 0)
            *types = EVENT_ALL;
        else if (type >= 0)
            *types |= EVENT_BIT(type);
        else
            return err_set(
                err, ERR_ARGUMENTS,
                "failed to parse function arguments: unknown variant `%.64s` for `types`%s%s", word,
                nearest ? "; did you mean " : "; `ue help events` lists them",
                nearest ? nearest : "");
    }
    return 0;
}

void cmd_EVENTS(struct cmd_context *ctx, struct request *request)
{
    const struct tool *tool = &tools[TOOL_EVENTS];
    const struct json *params = request_params(request), *id = json_get(params, "session_id");
    struct err err;
    char room[SCHEMA_SESSION_ROOM];
    uint32_t types;
    if (types_of(json_get(params, "types"), &types, &err) < 0) {
        failure_reply(request, tool, &err);
        return;
    }
    struct listener *listener = xcalloc(1, sizeof *listener);
    *listener = (struct listener){.ctx = ctx, .request = request, .types = types};
    listener->max_events = (size_t)schema_int(tool, params, "max_events", 0);
    listener->aggregated = (size_t)schema_int(tool, params, "max_bytes", 0);
    listener->session = id ? xstrdup(schema_session(id, room)) : NULL;
    listener->cursor.seq = schema_has(params, "since")
                               ? (uint64_t)schema_int(tool, params, "since", 0)
                               : events_next(ctx->registry);
    listener->watch = (struct events_watch){.types = types, .fn = cmd_events_look, .arg = listener};
    loop_timer_init(&listener->deadline, ctx->loop, cmd_events_on_deadline, listener);
    events_listen(ctx->registry, types);
    request_on_cancel(request, cmd_events_on_cancel, listener);
    int64_t yield_ms = schema_int(tool, params, "yield_time_ms", YIELD_DEFAULT_MS);
    if (!meta_bool(request, "no_deadline"))
        loop_timer_set_ms(&listener->deadline, yield_ms < ctx->config->limits.max_wait_ms
                                                   ? yield_ms
                                                   : ctx->config->limits.max_wait_ms);
    cmd_events_look(listener); /* last: it may answer, and free the listener */
}
