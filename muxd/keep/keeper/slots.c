/* slots.c: owns the chains of the keeper's table: by session, by pid, of free places, and of slots
 * with a message for the worker. */
#include "keep/keeper/slots.h"
#include "base/bug.h"
#include "base/fdio.h"

static int32_t *bucket(int32_t *table, uint64_t key)
{
    return &table[(key ^ key >> 12) & (SLOTS_BUCKETS - 1)];
}

int slots_place(const struct slots *slots, const struct slot *slot)
{
    return (int)(slot - slots->all);
}

struct slot *slots_find(struct slots *slots, uint64_t session)
{
    for (int32_t at = *bucket(slots->by_session, session); at != 0;
         at = slots->all[at - 1].next_session)
        if (slots->all[at - 1].session == session)
            return &slots->all[at - 1];
    return NULL;
}

static struct slot *free_place(struct slots *slots)
{
    if (slots->first_free != 0) {
        struct slot *slot = &slots->all[slots->first_free - 1];
        slots->first_free = slot->next_session;
        return slot;
    }
    return slots->top < SLOTS_MAX ? &slots->all[slots->top++] : NULL;
}

struct slot *slots_take(struct slots *slots, uint64_t session)
{
    struct slot *slot = slots_find(slots, session);
    if (slot)
        return slot;
    slot = free_place(slots);
    if (!slot)
        return NULL;
    int32_t *head = bucket(slots->by_session, session);
    *slot = (struct slot){.session = session,
                          .pidfd = -1,
                          .status_fd = -1,
                          .lean_fork = -1,
                          .used = true,
                          .next_session = *head};
    for (int i = 0; i < KEEP_FD_COUNT; i++)
        slot->fds[i] = -1;
    *head = slots_place(slots, slot) + 1;
    slots->count++;
    return slot;
}

static void unchain(struct slots *slots, int32_t *link, const struct slot *slot, bool pid_chain)
{
    while (*link != slots_place(slots, slot) + 1) {
        BUG_UNLESS(*link != 0);
        struct slot *other = &slots->all[*link - 1];
        link = pid_chain ? &other->next_pid : &other->next_session;
    }
    *link = pid_chain ? slot->next_pid : slot->next_session;
}

static void unqueue(struct slots *slots, struct slot *slot)
{
    int32_t *link = &slots->owing_first, last = 0;
    while (*link != slots_place(slots, slot) + 1) {
        BUG_UNLESS(*link != 0);
        last = *link;
        link = &slots->all[*link - 1].next_owing;
    }
    *link = slot->next_owing;
    if (slot->next_owing == 0)
        slots->owing_last = last;
    slot->queued = false;
}

void slot_close_fds(struct slot *slot)
{
    for (int i = 0; i < KEEP_FD_COUNT; i++)
        fd_close(&slot->fds[i]);
}

void slots_release(struct slots *slots, struct slot *slot)
{
    BUG_UNLESS(slot->used && slot->pid == 0);
    slot_close_fds(slot);
    fd_close(&slot->pidfd);
    fd_close(&slot->status_fd);
    if (slot->queued)
        unqueue(slots, slot);
    unchain(slots, bucket(slots->by_session, slot->session), slot, false);
    slot->used = false;
    slot->next_session = slots->first_free;
    slots->first_free = slots_place(slots, slot) + 1;
    slots->count--;
}

struct slot *slots_by_pid(struct slots *slots, pid_t pid)
{
    for (int32_t at = *bucket(slots->by_pid, (uint64_t)pid); at != 0;
         at = slots->all[at - 1].next_pid)
        if (slots->all[at - 1].pid == pid)
            return &slots->all[at - 1];
    return NULL;
}

void slots_set_pid(struct slots *slots, struct slot *slot, pid_t pid)
{
    BUG_UNLESS(slot->used && pid >= 0);
    if (slot->pid != 0)
        unchain(slots, bucket(slots->by_pid, (uint64_t)slot->pid), slot, true);
    slot->pid = pid;
    if (pid == 0)
        return;
    slots->unwatched |= slot->pidfd < 0;
    int32_t *head = bucket(slots->by_pid, (uint64_t)pid);
    slot->next_pid = *head;
    *head = slots_place(slots, slot) + 1;
}

struct slot *slots_next(struct slots *slots, struct slot *after)
{
    for (int at = after ? slots_place(slots, after) + 1 : 0; at < slots->top; at++)
        if (slots->all[at].used)
            return &slots->all[at];
    return NULL;
}

void slots_owe(struct slots *slots, struct slot *slot, int what)
{
    BUG_UNLESS(slot->used && what != 0);
    slot->owes |= (uint8_t)what;
    if (slot->queued)
        return;
    int32_t place = slots_place(slots, slot) + 1;
    slot->queued = true;
    slot->next_owing = 0;
    if (slots->owing_last != 0)
        slots->all[slots->owing_last - 1].next_owing = place;
    else
        slots->owing_first = place;
    slots->owing_last = place;
}

struct slot *slots_first_owing(struct slots *slots)
{
    return slots->owing_first != 0 ? &slots->all[slots->owing_first - 1] : NULL;
}

void slots_paid(struct slots *slots)
{
    struct slot *slot = slots_first_owing(slots);
    BUG_UNLESS(slot);
    slot->owes = 0;
    unqueue(slots, slot);
}

void slots_forgive(struct slots *slots)
{
    while (slots->owing_first != 0)
        slots_paid(slots);
}
