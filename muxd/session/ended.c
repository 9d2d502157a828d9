/* ended.c: owns ended sessions: how long they stay, and which of them goes first when a new one
 * needs room. */
#include "base/clock.h"
#include "base/limit.h"
#include "base/reserve.h"
#include "session/internal.h"
#include <errno.h>
#include <stdio.h>

#define OWED_MS 3600000 /* at least so long the end of a session waits for who reads it */

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

/* By CLOCK_BOOTTIME. Of one that was read before a reboot, or by an older worker, only the time of
 * day is known. */
static int64_t read_boot_ms(const struct session *session)
{
    struct journal_header *header = session->journal->header;
    int64_t boot_ms = atomic_load(&header->end_read_boot_ms);
    if (boot_ms != 0 || read_at(session) == 0)
        return boot_ms;
    int64_t ago = clock_real_ms() - read_at(session);
    boot_ms = clock_boot_ms() - (ago < 0 ? 0 : ago);
    atomic_store(&header->end_read_boot_ms, boot_ms ? boot_ms : -1);
    return boot_ms ? boot_ms : -1;
}

static int64_t read_ms_ago(const struct session *session)
{
    return clock_boot_ms() - read_boot_ms(session);
}

void ended_note_read(struct session *session)
{
    atomic_store(&session->journal->header->end_read_real_ms, clock_real_ms());
    atomic_store(&session->journal->header->end_read_boot_ms, clock_boot_ms());
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
    return part_holds_leader(session) || !list_is_empty(&session->waits) ||
           session->followers > 0 || session_is_awaiting(session);
}

/* Somebody may still ask how it ended. Nobody can be meant when it was ended on request, when muxd
 * started it by itself, or when it is from before a restart; and a program may have been forgotten
 * by who started it, so this lasts for a time. */
static bool is_owed(const struct session *session)
{
    const struct journal_header *header = session->journal->header;
    int64_t keep_ms = session->registry->cfg->limits.keep_ended_ms;
    return read_at(session) == 0 && !session->from_disk && !header->declared &&
           atomic_load(&header->killed_by) != KILLER_REQUEST &&
           clock_boot_ms() - session->owed_since_ms < (keep_ms > OWED_MS ? keep_ms : OWED_MS);
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
            ended_note_read(first);
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
    if (session->owed_since_ms == 0)
        session->owed_since_ms = clock_boot_ms();
    list_remove(&session->aged);
    struct list *place = registry->aged[kind].prev;
    while (kind == AGED_READ && place != &registry->aged[kind] &&
           read_boot_ms(LIST_OWNER(place, struct session, aged)) > read_boot_ms(session))
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
            if (!is_busy(session) && !is_owed(session))
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

static int no_room(const struct registry *registry, bool by_count, struct err *err)
{
    char unread[80] = "";
    unsigned ended = registry->count - registry->live;
    if (ended > 0)
        snprintf(unread, sizeof unread,
                 ", and nobody has read the end of %u more (ue poll, ue rm)", ended);
    if (by_count)
        return err_set(err, ERR_LIMIT,
                       "'max_sessions' is reached: %u sessions are live%s; end one (ue kill) or "
                       "raise it in [limits]",
                       registry->live, unread);
    return err_set(err, ERR_LIMIT,
                   "'journal_total' is reached: %u sessions hold %llu bytes%s; end one (ue kill) "
                   "or raise it in [limits]",
                   registry->count, (unsigned long long)registry->reserved_bytes, unread);
}

int ended_make_room(struct registry *registry, uint64_t bytes, struct err *err)
{
    const struct config_limits *limits = &registry->cfg->limits;
    while (registry->count >= (unsigned)limits->max_sessions ||
           registry->reserved_bytes + bytes > (uint64_t)limits->journal_total_bytes) {
        bool by_count = registry->count >= (unsigned)limits->max_sessions;
        if (let_one_go(registry))
            continue;
        return no_room(registry, by_count, err);
    }
    return make_room_for_descriptors(registry, err);
}
