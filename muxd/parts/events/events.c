/* events: owns who listens for which events, and the way of events into the ring and out of it. */
#include "parts/events/events.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "parts/events/events_internal.h"
#include "session/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long events are made for a listener that asks again, or that the successor of a dead
 * worker has not heard of yet. */
#define LINGER_NS (10000 * NS_PER_MS)

struct events *events_of(const struct registry *registry)
{
    return registry->part[PART_EVENTS];
}

static bool is_listened(const struct events *events, int type, int64_t now)
{
    return events->listeners[type] > 0 || events->until_ns[type] > now;
}

bool events_wants(const struct registry *registry, enum event_type type)
{
    const struct events *events = events_of(registry);
    return (events->active & EVENT_BIT(type)) &&
           is_listened(events, (int)type, loop_now_ns(registry->loop));
}

/* The types that someone listens for are kept with the ring, for a successor. */
static void note_active(struct registry *registry, uint32_t active)
{
    struct events *events = events_of(registry);
    events->active = active;
    if (events->ring)
        events_ring_set_word(events->ring, EVENTS_WANTED, active);
}

static void events_hold(struct registry *registry);

static bool have_ring(struct registry *registry)
{
    struct err err;
    struct events *events = events_of(registry);
    if (events->ring)
        return true;
    if (events_ring_new(&events->ring, (size_t)registry->cfg->limits.events_bytes, &err) < 0) {
        log_warn("%s", err.text);
        return false;
    }
    events_ring_set_word(events->ring, EVENTS_WANTED, events->active);
    events_hold(registry);
    return true;
}

#define READINESS (EVENT_BIT(EVENT_READY) | EVENT_BIT(EVENT_SECRET))

static void look_at_all(struct registry *registry)
{
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next)
        if (session_is_live(LIST_OWNER(at, struct session, order)))
            session_dirty(LIST_OWNER(at, struct session, order));
}

void events_listen(struct registry *registry, uint32_t types)
{
    struct events *events = events_of(registry);
    int64_t now = loop_now_ns(registry->loop);
    BUG_UNLESS(events && !(types & ~EVENT_ALL));
    if ((types & EVENT_BIT(EVENT_OUTPUT)) && !is_listened(events, EVENT_OUTPUT, now)) {
        events->output_epoch++;
        if (have_ring(registry))
            events_ring_set_word(events->ring, EVENTS_OUTPUT_SINCE, events_ring_next(events->ring));
    }
    events->count++;
    for (int i = 0; i < EVENT_COUNT_; i++)
        events->listeners[i] += types >> i & 1;
    uint32_t new = types & ~events->active;
    if (new)
        note_active(registry, events->active | types);
    if (new & READINESS) /* a program that waits already is told now */
        look_at_all(registry);
}

static void on_calm(void *arg)
{
    if (!events_wants(arg, EVENT_READY) && !events_wants(arg, EVENT_SECRET))
        look_at_all(arg);
}

void events_unlisten(struct registry *registry, uint32_t types)
{
    struct events *events = events_of(registry);
    BUG_UNLESS(events->count > 0);
    events->count--;
    for (int i = 0; i < EVENT_COUNT_; i++) {
        if (!(types >> i & 1))
            continue;
        BUG_UNLESS(events->listeners[i] > 0);
        if (--events->listeners[i] > 0)
            continue;
        events->until_ns[i] = loop_now_ns(registry->loop) + LINGER_NS;
    }
    if (types & READINESS)
        loop_timer_set_ns(&events->calm, loop_now_ns(registry->loop) + LINGER_NS + NS_PER_MS);
}

unsigned events_count(const struct registry *registry)
{
    return events_of(registry)->count;
}

void events_watch_set(struct registry *registry, struct events_watch *watch)
{
    if (watch->set)
        return;
    BUG_UNLESS(watch->fn);
    watch->set = true;
    struct events *events = events_of(registry);
    watch->run = events->run;
    watch->next = events->watches;
    events->watches = watch;
}

void events_watch_stop(struct registry *registry, struct events_watch *watch)
{
    struct events_watch **at = &events_of(registry)->watches;
    while (*at && *at != watch)
        at = &(*at)->next;
    if (*at)
        *at = watch->next;
    watch->set = false;
}

/* A watch is taken off before it is called; its owner sets it again when it wants more. */
static void run_watches(void *arg)
{
    struct registry *registry = arg;
    struct events *events = events_of(registry);
    uint32_t fresh = events->fresh;
    events->fresh = 0;
    if (!fresh)
        return;
    events->run++;
    for (;;) {
        struct events_watch *watch = events->watches;
        while (watch && (watch->run == events->run || !(watch->types & fresh)))
            watch = watch->next;
        if (!watch)
            return;
        events_watch_stop(registry, watch);
        watch->fn(watch->arg);
    }
}

struct json *events_object(struct registry *registry, enum event_type type, struct session *session)
{
    char time[32];
    struct json *object = json_object_new();
    clock_format_iso(clock_real_ms(), time);
    json_add_int(object, "seq", (int64_t)events_next(registry));
    json_add_text(object, "type", event_rows[type].name);
    json_add_text(object, "time", time);
    if (session) {
        json_add_int(object, "session_id", (int64_t)session_number(session));
        json_add_text(object, "name", session_name(session));
    }
    return object;
}

void events_publish(struct registry *registry, enum event_type type, struct session *session,
                    uint64_t from, uint64_t to, struct json *object)
{
    struct buf text = BUF_INIT;
    struct event_record record = {.type = (uint16_t)type, .from = from, .to = to};
    BUG_UNLESS(type < EVENT_COUNT_ && from <= to);
    if (have_ring(registry)) {
        json_print(&text, object);
        record.text_size = (uint32_t)text.len;
        if (session) {
            record.session = session_number(session);
            BUG_UNLESS(strlen(session_name(session)) < sizeof record.name);
            memcpy(record.name, session_name(session), strlen(session_name(session)));
        }
        struct events *events = events_of(registry);
        events_ring_add(events->ring, &record, text.data);
        events->fresh |= EVENT_BIT(type);
        registry_defer(registry, &events->told);
    }
    buf_fini(&text);
    json_free(object);
}

uint64_t events_next(struct registry *registry)
{
    return have_ring(registry) ? events_ring_next(events_of(registry)->ring) : 1;
}

uint64_t events_handed(struct registry *registry)
{
    const struct events *events = events_of(registry);
    return events->ring ? events_ring_word(events->ring, EVENTS_HANDED) : 0;
}

void events_set_handed(struct registry *registry, uint64_t seq)
{
    if (events_of(registry)->ring)
        events_ring_set_word(events_of(registry)->ring, EVENTS_HANDED, seq);
}

static bool events_record_is_of(const struct event_record *record, const char *session)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)record->session);
    return strcmp(record->name, session) == 0 || strcmp(number, session) == 0;
}

const struct event_record *events_read(struct registry *registry, struct events_cursor *cursor,
                                       uint32_t types, const char *session, const char **text,
                                       uint64_t *missed)
{
    struct events *events = events_of(registry);
    const struct event_record *record = NULL;
    uint64_t gone;
    *missed = 0;
    do {
        record = events->ring ? events_ring_read(events->ring, cursor, text, &gone) : NULL;
        if (events->ring && gone)
            *missed = gone;
    } while (record && (record->type >= EVENT_COUNT_ || !(types & EVENT_BIT(record->type)) ||
                        (session && !events_record_is_of(record, session))));
    return record;
}

static void events_init(struct registry *registry)
{
    struct events *events = xcalloc(1, sizeof *events);
    events->told = (struct deferred){.fn = run_watches, .arg = registry};
    loop_timer_init(&events->calm, registry->loop, on_calm, registry);
    registry->part[PART_EVENTS] = events;
}

static void events_fini(struct registry *registry)
{
    struct events *events = events_of(registry);
    BUG_UNLESS(!events->watches);
    defer_cancel(&events->told);
    loop_timer_stop(&events->calm);
    events_ring_free(events->ring);
    free(events);
    registry->part[PART_EVENTS] = NULL;
}

static void events_hold(struct registry *registry)
{
    int fds[KEEP_FD_COUNT] = KEEP_NO_FDS;
    if (!events_of(registry)->ring || !registry->link)
        return;
    fds[KEEP_FD_EVENTS] = events_ring_fd(events_of(registry)->ring);
    link_hold(registry->link, EVENTS_SLOT, fds);
}

static void events_take_ring(struct registry *registry, int fds[])
{
    struct err err;
    struct events *events = events_of(registry);
    if (events->ring || fds[KEEP_FD_EVENTS] < 0 ||
        events_ring_adopt(&events->ring, fds[KEEP_FD_EVENTS], &err) < 0) {
        if (!events->ring && fds[KEEP_FD_EVENTS] >= 0)
            log_error("%s", err.text);
    } else {
        fds[KEEP_FD_EVENTS] = -1;
        events->adopted = true;
        events->active = (uint32_t)events_ring_word(events->ring, EVENTS_WANTED) & EVENT_ALL;
        for (int i = 0; i < EVENT_COUNT_; i++)
            if (events->active >> i & 1)
                events->until_ns[i] = loop_now_ns(registry->loop) + LINGER_NS;
        events->output_epoch = 1;
    }
    for (int i = 0; i < KEEP_FD_COUNT; i++)
        fd_close(&fds[i]);
}

/* The ring has what was told, even when the worker died before it could note that in the
 * journal. */
static void events_scan(struct registry *registry, const struct session *only)
{
    struct events *events = events_of(registry);
    struct events_cursor cursor = {0};
    const char *text;
    uint64_t missed;
    const struct event_record *record;
    while (events->ring && (record = events_ring_read(events->ring, &cursor, &text, &missed))) {
        struct session *session = record->session ? registry_by_number(registry, record->session)
                                                  : NULL;
        if (!session || (only && session != only))
            continue;
        struct journal_header *header = session->journal->header;
        if (record->type == EVENT_BEGIN)
            header->told_begin = 1;
        else if (record->type == EVENT_END)
            header->told_end = 1;
        bool heard = record->type == EVENT_BEGIN &&
                     record->seq >= events_ring_word(events->ring, EVENTS_OUTPUT_SINCE);
        if (record->type != EVENT_OUTPUT && !heard)
            continue;
        events_of_session(session)->epoch = events->output_epoch;
        events_of_session(session)->told_to = record->to; /* 0 for a begin */
    }
}

static bool mark_scanned(void *arg, struct session *session)
{
    (void)arg;
    events_of_session(session)->scanned = true;
    return true;
}

/* One pass for all sessions of the hand-over; a session that comes later is searched for alone. */
static void events_scan_for(struct session *session)
{
    struct registry *registry = session->registry;
    struct events *events = events_of(registry);
    if (!events->scanned) {
        events_scan(registry, NULL);
        registry_each(registry, false, mark_scanned, NULL);
        events->scanned = true;
    } else if (!events_of_session(session)->scanned) {
        events_scan(registry, session);
    }
}

/* Tells what the predecessor had not told. A session that ended before there was a ring is not
 * told any more. */
static void events_adopt(struct session *session)
{
    events_scan_for(session);
    if (session->finished && (!events_of(session->registry)->adopted || session->from_disk))
        session->journal->header->told_begin = session->journal->header->told_end = 1;
    if (session_pid(session) > 0)
        events_began(session);
    if (session->finished)
        events_ended(session);
}

const struct part events_part = {
    .init = events_init,
    .fini = events_fini,
    .slot = EVENTS_SLOT,
    .take_slot = events_take_ring,
    .hold = events_hold,
    .began = events_began,
    .adopt = events_adopt,
    .look = events_look,
    .ended = events_ended,
    .forget = events_forget,
    .free = events_free,
    .input = events_input,
    .resized = events_resized,
    .renamed = events_renamed,
    .killed = events_killed,
};
