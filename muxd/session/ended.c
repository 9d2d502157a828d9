/* ended.c: owns ended sessions: how long they stay, and which of them goes first when a new one
 * needs room. */
#include "base/clock.h"
#include "base/limit.h"
#include "base/reserve.h"
#include "session/internal.h"
#include <errno.h>

static void ended_on_expiry(void *arg);

void ended_init(struct registry *registry)
{
    for (int i = 0; i < AGED_COUNT; i++)
        list_init(&registry->aged[i]);
    loop_timer_init(&registry->expiry, registry->loop, ended_on_expiry, registry);
}

static struct session *first_of(struct list *head)
{
    return list_is_empty(head) ? NULL : LIST_OWNER(head->next, struct session, aged);
}

static int64_t read_at(const struct session *session)
{
    return atomic_load(&session->journal->header->end_read_real_ms);
}

static int64_t read_ms_ago(const struct session *session)
{
    int64_t ago = clock_real_ms() - read_at(session);
    return ago < 0 ? 0 : ago; /* the clock was set back */
}

/* One timer for all: the list of those that were read is in the order in which they go. */
static void arm_expiry(struct registry *registry)
{
    const struct session *first = first_of(&registry->aged[AGED_READ]);
    if (first)
        loop_timer_set_ms(&registry->expiry,
                          registry->cfg->limits.keep_ended_ms - read_ms_ago(first));
    else
        loop_timer_stop(&registry->expiry);
}

static bool is_busy(const struct session *session)
{
    return part_holds_leader(session) || !list_is_empty(&session->waits);
}

static void ended_on_expiry(void *arg)
{
    struct registry *registry = arg;
    struct list later;
    list_init(&later);
    struct session *first;
    while ((first = first_of(&registry->aged[AGED_READ])) &&
           read_ms_ago(first) >= registry->cfg->limits.keep_ended_ms) {
        if (is_busy(first)) { /* a call about it is being answered */
            atomic_store(&first->journal->header->end_read_real_ms, clock_real_ms());
            list_remove(&first->aged);
            list_append(&later, &first->aged);
        } else {
            registry_forget(registry, first, true);
        }
    }
    while ((first = first_of(&later)))
        ended_place(first, true);
    arm_expiry(registry);
}

static enum aged ended_kind_of(const struct session *session)
{
    return session_is_open(session) ? AGED_OPEN : read_at(session) ? AGED_READ : AGED_UNREAD;
}

void ended_place(struct session *session, bool used)
{
    struct registry *registry = session->registry;
    enum aged kind = ended_kind_of(session);
    if (session->gone || (!list_is_empty(&session->aged) && session->aged_kind == kind && !used))
        return;
    list_remove(&session->aged);
    struct list *place = registry->aged[kind].prev;
    while (kind == AGED_READ && place != &registry->aged[kind] &&
           read_at(LIST_OWNER(place, struct session, aged)) > read_at(session))
        place = place->prev;
    list_add_after(place, &session->aged);
    session->aged_kind = kind;
    arm_expiry(registry);
}

void ended_reload(struct registry *registry)
{
    arm_expiry(registry);
}

static struct session *pick_victim(struct registry *registry)
{
    for (int kind = 0; kind < AGED_COUNT; kind++)
        for (struct list *at = registry->aged[kind].next; at != &registry->aged[kind];
             at = at->next) {
            struct session *session = LIST_OWNER(at, struct session, aged);
            if (!is_busy(session))
                return session;
        }
    return NULL;
}

/* The session is freed at the end of the turn; its descriptor is needed at once. False: none may
 * go. */
static bool let_one_go(struct registry *registry)
{
    struct session *victim = pick_victim(registry);
    if (!victim)
        return false;
    registry_forget(registry, victim, true);
    journal_close_fd(victim->journal);
    return true;
}

static int make_room_for_descriptors(struct registry *registry, struct err *err)
{
    while (!reserve_has_room())
        if (!let_one_go(registry))
            return limit_err(err, ERR_SYSTEM, LIMIT_SESSION, EMFILE,
                             "a session needs %d free descriptors to outlive a crash of muxd",
                             RESERVE_ROOM);
    link_hurry(registry->link);
    return 0;
}

int ended_make_room(struct registry *registry, uint64_t bytes, struct err *err)
{
    const struct config_limits *limits = &registry->cfg->limits;
    while (registry->count >= (unsigned)limits->max_sessions ||
           registry->reserved_bytes + bytes > (uint64_t)limits->journal_total_bytes) {
        bool by_count = registry->count >= (unsigned)limits->max_sessions;
        if (let_one_go(registry))
            continue;
        if (by_count)
            return err_set(err, ERR_LIMIT,
                           "'max_sessions' is reached: %u sessions are live; end one (ue kill) or "
                           "raise it in [limits]",
                           registry->live);
        return err_set(err, ERR_LIMIT,
                       "'journal_total' is reached: %u sessions hold %llu bytes; end one (ue kill) "
                       "or raise it in [limits]",
                       registry->live, (unsigned long long)registry->reserved_bytes);
    }
    return make_room_for_descriptors(registry, err);
}
