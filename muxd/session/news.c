/* news: owns who listens for which events, and their way into the ring and out of it. */
#include "session/news.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/internal.h"
#include "session/news_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINGER_NS (10000 * NS_PER_MS) /* a listener that asks again, or that the successor of a dead worker has not heard of yet */

struct news *news_of(const struct registry *registry)
{
    return registry->part[PART_EVENTS];
}

static bool is_listened(const struct news *news, int type, int64_t now)
{
    return news->listeners[type] > 0 || news->until_ns[type] > now;
}

bool news_wants(const struct registry *registry, enum event_type type)
{
    const struct news *news = news_of(registry);
    return (news->active & EVENT_BIT(type)) && is_listened(news, (int)type, loop_now_ns(registry->loop));
}

/* What has been listened for lately is kept with the ring, for a successor. */
static void note_active(struct registry *registry, uint32_t active)
{
    struct news *news = news_of(registry);
    news->active = active;
    if (news->ring)
        news_ring_set_word(news->ring, NEWS_WANTED, active);
}

static void hold(struct registry *registry);

static bool have_ring(struct registry *registry)
{
    struct err err;
    struct news *news = news_of(registry);
    if (news->ring)
        return true;
    if (news_ring_new(&news->ring, (size_t)registry->cfg->limits.events_bytes, &err) < 0) {
        log_warn("%s", err.text);
        return false;
    }
    news_ring_set_word(news->ring, NEWS_WANTED, news->active);
    hold(registry);
    return true;
}

#define READINESS (EVENT_BIT(EVENT_READY) | EVENT_BIT(EVENT_SECRET))

static void look_at_all(struct registry *registry)
{
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next)
        if (session_is_live(LIST_OWNER(at, struct session, order)))
            session_dirty(LIST_OWNER(at, struct session, order));
}

void news_listen(struct registry *registry, uint32_t types)
{
    struct news *news = news_of(registry);
    int64_t now = loop_now_ns(registry->loop);
    if ((types & EVENT_BIT(EVENT_OUTPUT)) && !is_listened(news, EVENT_OUTPUT, now)) {
        news->output_epoch++;
        if (have_ring(registry))
            news_ring_set_word(news->ring, NEWS_OUTPUT_SINCE, news_ring_next(news->ring));
    }
    news->count++;
    for (int i = 0; i < EVENT_COUNT_; i++)
        news->listeners[i] += types >> i & 1;
    uint32_t new = types & ~news->active;
    if (new)
        note_active(registry, news->active | types);
    if (new & READINESS) /* who waits already says so */
        look_at_all(registry);
}

static void on_calm(void *arg)
{
    if (!news_wants(arg, EVENT_READY) && !news_wants(arg, EVENT_SECRET))
        look_at_all(arg);
}

void news_unlisten(struct registry *registry, uint32_t types)
{
    struct news *news = news_of(registry);
    news->count--;
    for (int i = 0; i < EVENT_COUNT_; i++) {
        if (!(types >> i & 1) || --news->listeners[i] > 0)
            continue;
        news->until_ns[i] = loop_now_ns(registry->loop) + LINGER_NS;
    }
    if (types & READINESS)
        loop_timer_set_ns(&news->calm, loop_now_ns(registry->loop) + LINGER_NS + NS_PER_MS);
}

unsigned news_count(const struct registry *registry)
{
    return news_of(registry)->count;
}

void news_watch_set(struct registry *registry, struct news_watch *watch)
{
    if (watch->set)
        return;
    watch->set = true;
    struct news *news = news_of(registry);
    watch->run = news->run;
    watch->next = news->watches;
    news->watches = watch;
}

void news_watch_stop(struct registry *registry, struct news_watch *watch)
{
    struct news_watch **at = &news_of(registry)->watches;
    while (*at && *at != watch)
        at = &(*at)->next;
    if (*at)
        *at = watch->next;
    watch->set = false;
}

/* A watch is off once it was called; its owner sets it again when it wants more. */
static void run_watches(void *arg)
{
    struct registry *registry = arg;
    struct news *news = news_of(registry);
    uint32_t fresh = news->fresh;
    news->fresh = 0;
    if (!fresh)
        return;
    news->run++;
    for (;;) {
        struct news_watch *watch = news->watches;
        while (watch && (watch->run == news->run || !(watch->types & fresh)))
            watch = watch->next;
        if (!watch)
            return;
        news_watch_stop(registry, watch);
        watch->fn(watch->arg);
    }
}

struct json *news_object(struct registry *registry, enum event_type type, struct session *session)
{
    char time[32];
    struct json *object = json_object_new();
    clock_format_iso(clock_real_ms(), time);
    json_add_int(object, "seq", (int64_t)news_next(registry));
    json_add_text(object, "type", event_rows[type].name);
    json_add_text(object, "time", time);
    if (session) {
        json_add_int(object, "session_id", (int64_t)session_number(session));
        json_add_text(object, "name", session_name(session));
    }
    return object;
}

void news_publish(struct registry *registry, enum event_type type, struct session *session, uint64_t from, uint64_t to,
                  struct json *object)
{
    struct buf text = BUF_INIT;
    struct news_record record = {.type = (uint16_t)type, .from = from, .to = to};
    if (have_ring(registry)) {
        json_print(&text, object);
        record.text_size = (uint32_t)text.len;
        if (session) {
            record.session = session_number(session);
            memcpy(record.name, session_name(session), strlen(session_name(session)));
        }
        struct news *news = news_of(registry);
        news_ring_add(news->ring, &record, text.data);
        news->fresh |= EVENT_BIT(type);
        registry_defer(registry, &news->told);
    }
    buf_fini(&text);
    json_free(object);
}

uint64_t news_next(struct registry *registry)
{
    return have_ring(registry) ? news_ring_next(news_of(registry)->ring) : 1;
}

uint64_t news_handed(struct registry *registry)
{
    const struct news *news = news_of(registry);
    return news->ring ? news_ring_word(news->ring, NEWS_HANDED) : 0;
}

void news_set_handed(struct registry *registry, uint64_t seq)
{
    if (news_of(registry)->ring)
        news_ring_set_word(news_of(registry)->ring, NEWS_HANDED, seq);
}

static bool is_of(const struct news_record *record, const char *session)
{
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)record->session);
    return strcmp(record->name, session) == 0 || strcmp(number, session) == 0;
}

const struct news_record *news_read(struct registry *registry, struct news_cursor *cursor, uint32_t types, const char *session,
                                    const char **text, uint64_t *missed)
{
    struct news *news = news_of(registry);
    const struct news_record *record = NULL;
    uint64_t gone;
    *missed = 0;
    do {
        record = news->ring ? news_ring_read(news->ring, cursor, text, &gone) : NULL;
        if (news->ring && gone)
            *missed = gone;
    } while (record && (record->type >= EVENT_COUNT_ || !(types & EVENT_BIT(record->type)) || (session && !is_of(record, session))));
    return record;
}

static void init(struct registry *registry)
{
    struct news *news = xcalloc(1, sizeof *news);
    news->told = (struct deferred){.fn = run_watches, .arg = registry};
    loop_timer_init(&news->calm, registry->loop, on_calm, registry);
    registry->part[PART_EVENTS] = news;
}

static void fini(struct registry *registry)
{
    struct news *news = news_of(registry);
    defer_cancel(&news->told);
    loop_timer_stop(&news->calm);
    news_ring_free(news->ring);
    free(news);
    registry->part[PART_EVENTS] = NULL;
}

static void hold(struct registry *registry)
{
    int fds[KEEP_FD_COUNT] = KEEP_NO_FDS;
    if (!news_of(registry)->ring || !registry->link)
        return;
    fds[KEEP_FD_JOURNAL] = news_ring_fd(news_of(registry)->ring);
    link_hold(registry->link, NEWS_SLOT, fds);
}

static void take_ring(struct registry *registry, int fds[])
{
    struct err err;
    struct news *news = news_of(registry);
    if (news->ring || fds[KEEP_FD_JOURNAL] < 0 || news_ring_adopt(&news->ring, fds[KEEP_FD_JOURNAL], &err) < 0) {
        if (!news->ring && fds[KEEP_FD_JOURNAL] >= 0)
            log_error("%s", err.text);
    } else {
        fds[KEEP_FD_JOURNAL] = -1;
        news->adopted = true;
        news->active = (uint32_t)news_ring_word(news->ring, NEWS_WANTED) & EVENT_ALL;
        for (int i = 0; i < EVENT_COUNT_; i++)
            if (news->active >> i & 1)
                news->until_ns[i] = loop_now_ns(registry->loop) + LINGER_NS;
        news->output_epoch = 1;
    }
    for (int i = 0; i < KEEP_FD_COUNT; i++)
        fd_close(&fds[i]);
}

/* The ring knows what was told even when the worker died before it could say so in the journal. */
static void scan(struct registry *registry, const struct session *only)
{
    struct news *news = news_of(registry);
    struct news_cursor cursor = {0};
    const char *text;
    uint64_t missed;
    const struct news_record *record;
    while (news->ring && (record = news_ring_read(news->ring, &cursor, &text, &missed))) {
        struct session *session = record->session ? registry_by_number(registry, record->session) : NULL;
        if (!session || (only && session != only))
            continue;
        struct journal_header *header = session->journal->header;
        if (record->type == EVENT_BEGIN)
            header->flags |= NEWS_TOLD_BEGIN;
        else if (record->type == EVENT_END)
            header->flags |= NEWS_TOLD_END;
        bool heard = record->type == EVENT_BEGIN && record->seq >= news_ring_word(news->ring, NEWS_OUTPUT_SINCE);
        if (record->type != EVENT_OUTPUT && !heard)
            continue;
        news_of_session(session)->epoch = news->output_epoch;
        news_of_session(session)->told_to = record->to; /* of a begin: 0 */
    }
}

static bool mark_scanned(void *arg, struct session *session)
{
    (void)arg;
    news_of_session(session)->scanned = true;
    return true;
}

/* In one pass for all that the hand-over has brought; who comes later is looked for alone. */
static void scan_for(struct session *session)
{
    struct registry *registry = session->registry;
    struct news *news = news_of(registry);
    if (!news->scanned) {
        scan(registry, NULL);
        registry_each(registry, false, mark_scanned, NULL);
        news->scanned = true;
    } else if (!news_of_session(session)->scanned) {
        scan(registry, session);
    }
}

/* What the predecessor had not told. An ended session from before there was a ring has nothing to be told any more. */
static void adopt(struct session *session)
{
    scan_for(session);
    if (session->finished && (!news_of(session->registry)->adopted || session->from_disk))
        session->journal->header->flags |= NEWS_TOLD_BEGIN | NEWS_TOLD_END;
    if (session_pid(session) > 0)
        news_began(session);
    if (session->finished)
        news_ended(session);
}

const struct part events_part = {
    .init = init, .fini = fini, .slot = NEWS_SLOT, .take_slot = take_ring, .hold = hold, .began = news_began, .adopt = adopt, .look = news_look,
    .ended = news_ended, .forget = news_forget, .free = news_free, .input = news_input, .resized = news_resized, .renamed = news_renamed,
    .killed = news_killed};
