/* registry.c: owns the set of all sessions, the end of a turn, and what is told to others then. */
#include "session/registry.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/value.h"
#include "session/archive.h"
#include "session/internal.h"
#include "session/owner.h"
#include "session/reap.h"
#include "session/recorder.h"
#include "session/view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8 /* at the end of a turn: callbacks that cause new work are followed this often, then a new turn begins */

static void do_nothing(void *arg)
{
    (void)arg; /* the kick only makes a turn happen */
}

void registry_kick(struct registry *registry)
{
    if (!loop_timer_is_set(&registry->kick))
        loop_timer_set_ns(&registry->kick, loop_now_ns(registry->loop));
}

struct note *registry_note(struct registry *registry, enum note_kind kind, uint64_t number)
{
    struct note *note = xcalloc(1, sizeof *note);
    note->kind = kind;
    note->number = number;
    list_append(&registry->notes, &note->link);
    registry_kick(registry);
    return note;
}

static void tell(struct registry *registry, const struct note *note)
{
    const struct registry_events *events = &registry->events;
    struct session *session = registry_by_number(registry, note->number);
    switch (note->kind) {
    case NOTE_CREATED:
        if (events->created && session)
            events->created(events->arg, session);
        break;
    case NOTE_ENDED:
        if (events->ended && session)
            events->ended(events->arg, session);
        break;
    case NOTE_REMOVED:
        if (events->removed)
            events->removed(events->arg, note->number, note->name);
        break;
    case NOTE_SPAWNED: note->spawned.fn(note->spawned.arg, note->number, &note->spawned.err); break;
    case NOTE_KILLED: note->killed.fn(note->killed.arg, &note->killed.result); break;
    case NOTE_ALL_ENDED:
        if (events->all_ended)
            events->all_ended(events->arg);
        break;
    }
}

static void tell_all(struct registry *registry)
{
    while (!list_is_empty(&registry->notes)) {
        struct note *note = LIST_OWNER(registry->notes.next, struct note, link);
        list_remove(&note->link);
        tell(registry, note);
        free(note);
    }
}

static void read_more(struct registry *registry)
{
    struct list batch;
    list_take(&registry->more, &batch);
    while (!list_is_empty(&batch)) {
        struct session *session = LIST_OWNER(batch.next, struct session, more);
        list_remove(&session->more);
        if (session->read_turn == registry->turn) /* it had its share when its descriptor was reported */
            list_append(&registry->more, &session->more);
        else
            session_io_more(session);
    }
    registry->turn++;
}

static void look_at_dirty(struct registry *registry)
{
    struct list batch;
    list_take(&registry->dirty, &batch);
    while (!list_is_empty(&batch)) {
        struct session *session = LIST_OWNER(batch.next, struct session, dirty);
        list_remove(&session->dirty);
        session_look(session);
    }
}

static void bury(struct registry *registry)
{
    while (!list_is_empty(&registry->graveyard)) {
        struct session *session = LIST_OWNER(registry->graveyard.next, struct session, order);
        list_remove(&session->order);
        session_free(session);
    }
}

/* Also when no session was left to end, so that nothing else brings work. */
static bool stop_is_due(const struct registry *registry)
{
    return registry->stopping == STOP_WANTED && registry->live == 0 && list_is_empty(&registry->kills) && archive_is_idle(registry) &&
           recorder_is_idle(registry);
}

static bool has_work(const struct registry *registry)
{
    return !list_is_empty(&registry->dirty) || !list_is_empty(&registry->notes) || !list_is_empty(&registry->fired) ||
           !list_is_empty(&registry->watched) || !list_is_empty(&registry->recorders_told) || registry->news->fresh ||
           !list_is_empty(&registry->owner_told) || !list_is_empty(&registry->owner_turns) ||
           stop_is_due(registry);
}

static void on_turn_end(void *arg)
{
    struct registry *registry = arg;
    /* An exit may be told in the same turn as the hand-over: what its predecessor had on its way must be repaired before anything is
     * read, or those bytes are given to another session. */
    if (registry->handed_over)
        read_more(registry);
    for (int round = 0; round < ROUNDS && has_work(registry); round++) {
        look_at_dirty(registry);
        if (stop_is_due(registry)) {
            registry->stopping = STOP_DONE;
            registry_note(registry, NOTE_ALL_ENDED, 0);
        }
        tell_all(registry);
        waiter_run_fired(registry);
        view_run_watches(registry);
        recorder_tell(registry);
        owner_run(registry);
        news_run_watches(registry);
    }
    bury(registry);
    reap_turn_end(registry);
    if (has_work(registry) || !list_is_empty(&registry->more))
        loop_timer_set_ns(&registry->kick, loop_now_ns(registry->loop));
    else
        loop_timer_stop(&registry->kick);
}

int registry_new(struct registry **out, struct loop *loop, struct link *link, const struct config *cfg, const char *state_dir,
                 const char *socket_path, const struct registry_events *events, struct err *err)
{
    struct registry *registry = xcalloc(1, sizeof *registry);
    int code = number_init(&registry->numbers, loop, state_dir, err);
    registry->loop = loop;
    registry->link = link;
    registry->cfg = cfg;
    registry->socket_path = xstrdup(socket_path);
    snprintf(registry->word, sizeof registry->word, "%016llx", (unsigned long long)table_hash_text(socket_path));
    if (events)
        registry->events = *events;
    registry->turn = 1;
    struct list *heads[] = {&registry->order, &registry->dirty, &registry->more, &registry->graveyard,
                            &registry->fired, &registry->notes, &registry->kills,
                            &registry->views, &registry->watched, &registry->owner_told, &registry->owner_turns,
                            &registry->typed};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        list_init(heads[i]);
    index_init(registry);
    reap_init(registry, state_dir);
    news_init(registry);
    tombs_init(registry);
    loop_timer_init(&registry->kick, loop, do_nothing, registry);
    archive_init(registry, state_dir);
    recorder_init(registry, state_dir);
    described_load(registry);
    parked_init(registry);
    loop_at_turn_end(loop, on_turn_end, registry);
    *out = registry;
    return code;
}

void registry_free(struct registry *registry)
{
    if (!registry)
        return;
    loop_drop_turn_end(registry->loop, registry);
    archive_fini(registry);
    recorder_fini(registry);
    described_free(registry);
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next)
        LIST_OWNER(at, struct session, order)->gone = true; /* from here on the keeper is told nothing */
    bury(registry);
    while (!list_is_empty(&registry->order)) {
        struct session *session = LIST_OWNER(registry->order.next, struct session, order);
        index_remove(registry, session);
        session_free(session);
    }
    waiter_run_fired(registry);
    view_run_watches(registry);
    owner_run(registry);
    reap_fini(registry);
    tell_all(registry);
    index_fini(registry);
    news_fini(registry);
    loop_timer_stop(&registry->kick);
    loop_timer_stop(&registry->expiry);
    parked_fini(registry);
    transfer_free(registry->transfer);
    number_fini(&registry->numbers);
    free(registry->socket_path);
    free(registry);
}

void registry_reload(struct registry *registry, const struct config *cfg)
{
    registry->cfg = cfg;
    described_load(registry);
    tombs_reload(registry);
    archive_all(registry);
    if (registry->handed_over && registry->stopping == STOP_NOT)
        registry_boot(registry);
}

void registry_forget(struct registry *registry, struct session *session, bool to_tell)
{
    if (session->gone)
        return;
    if (to_tell) {
        struct note *note = registry_note(registry, NOTE_REMOVED, session_number(session));
        memcpy(note->name, session_name(session), sizeof note->name);
        news_removed(session);
    }
    if (!session->finished)
        registry->live--;
    reap_removed(session);
    archive_forget(session);
    parked_forget(session);
    session->gone = true;
    registry->attached -= session->attached; /* those who leave it from now on don't find it any more */
    session->attached = 0;
    index_remove(registry, session);
    list_remove(&session->dirty);
    list_remove(&session->more);
    list_remove(&session->aged);
    if (registry->link)
        link_drop(registry->link, session_number(session));
    list_append(&registry->graveyard, &session->order);
    registry_kick(registry);
}

struct session *registry_by_number(struct registry *registry, uint64_t number)
{
    struct table *table = &registry->tables[TABLE_NUMBER];
    struct session *at = table_first(table, table_hash_number(number));
    while (at && session_number(at) != number)
        at = table_next(table, at);
    return at;
}

struct session *registry_by_request(struct registry *registry, uint64_t request_hash)
{
    return request_hash ? table_first(&registry->tables[TABLE_REQUEST], request_hash) : NULL;
}

static int not_found(struct registry *registry, const char *word, struct err *err)
{
    const char **names = xcalloc(registry->count + 1, sizeof *names);
    size_t count = 0;
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        const char *name = session_name(LIST_OWNER(at, struct session, order));
        if (index_by_name(registry, name)) /* not one that a newer session has taken */
            names[count++] = name;
    }
    const char *nearest = value_nearest(word, names, count);
    if (nearest)
        err_set(err, ERR_NO_SUCH_SESSION, "no session '%.80s'; did you mean '%s'?", word, nearest);
    else
        err_set(err, ERR_NO_SUCH_SESSION, "no session '%.80s'; 'ue list --all' shows them", word);
    free(names);
    return ERR_NO_SUCH_SESSION;
}

struct session *registry_find(struct registry *registry, const char *word, struct err *err)
{
    int64_t number;
    struct session *session =
        value_int(word, 0, INT64_MAX, &number) ? registry_by_number(registry, (uint64_t)number) : index_by_name(registry, word);
    if (!session && !parked_is_meant(registry, word, err))
        not_found(registry, word, err);
    return session;
}

void registry_each(struct registry *registry, bool live_only, bool (*fn)(void *arg, struct session *session), void *arg)
{
    struct list *next;
    for (struct list *at = registry->order.next; at != &registry->order; at = next) {
        next = at->next;
        struct session *session = LIST_OWNER(at, struct session, order);
        if ((!live_only || session_is_live(session)) && !fn(arg, session))
            return;
    }
}

int registry_remove(struct registry *registry, struct session *session, struct err *err)
{
    if (session_is_live(session) || session->kill)
        return err_set(err, ERR_NOT_ENDED, "'%s' (session %llu) still runs; end it first (ue kill)", session_name(session),
                       (unsigned long long)session_number(session));
    registry_forget(registry, session, true);
    return 0;
}

void registry_stats(const struct registry *registry, struct registry_stats *stats)
{
    *stats = (struct registry_stats){.live = registry->live,
                                     .ended = registry->count - registry->live,
                                     .next_number = registry->numbers.next,
                                     .passes = reap_passes(registry),
                                     .waits = registry->waits,
                                     .parked = registry->nparked,
                                     .unheld = registry->nunheld};
    for (const struct list *at = registry->order.next; at != &registry->order; at = at->next)
        stats->journal_bytes += journal_memory(LIST_OWNER(at, struct session, order)->journal);
}
