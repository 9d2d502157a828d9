/* turn.c: owns the making and unmaking of the registry, and the order of the work at the end of a
 * turn. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "session/descendants.h"
#include "session/internal.h"
#include "session/nonce.h"
#include "session/sandbox.h"
#include <stdio.h>
#include <stdlib.h>

/* Callbacks at the end of a turn cause new work. It is done in at most so many rounds; then a new
 * turn begins. */
#define ROUNDS 8

static void do_nothing(void *arg)
{
    (void)arg; /* the kick only makes a turn happen */
}

static void read_more(struct registry *registry)
{
    struct list batch;
    list_take(&registry->more, &batch);
    while (!list_is_empty(&batch)) {
        struct session *session = LIST_OWNER(batch.next, struct session, more);
        list_remove(&session->more);
        /* it had its share when its descriptor was reported */
        if (session->read_turn == registry->turn)
            list_append(&registry->more, &session->more);
        else
            session_io_more(session);
    }
    registry->turn++;
}

static void turn_look(struct session *session)
{
    uint64_t head = journal_head(session->journal);
    BUG_UNLESS(!session->gone && head >= session->seen_head);
    uint64_t seen_head = session->seen_head;
    bool output = head != seen_head;
    session->seen_head = head;
    if (output)
        times_note(&session->times, clock_real_ms(), seen_head);
    part_answer(session); /* first: a program that waits for an answer is not ready */
    prompt_look(session, output);
    /* before anything else is told of it */
    if (session->prompt.evidence != EVIDENCE_NONE && part_prompt(session))
        prompt_forget(session);
    part_look(session, seen_head);
    session_drain(session);
    if (session->finished)
        session_trim_input(session);
    waiter_look(session);
    part_late_look(session);
}

static void look_at_dirty(struct registry *registry)
{
    struct list batch;
    list_take(&registry->dirty, &batch);
    while (!list_is_empty(&batch)) {
        struct session *session = LIST_OWNER(batch.next, struct session, dirty);
        list_remove(&session->dirty);
        turn_look(session);
    }
}

static void turn_bury(struct registry *registry)
{
    while (!list_is_empty(&registry->graveyard)) {
        struct session *session = LIST_OWNER(registry->graveyard.next, struct session, order);
        list_remove(&session->order);
        session_free(session);
    }
}

/* Also when there was no session to end, and nothing else makes work. */
static bool stop_is_due(const struct registry *registry)
{
    return registry->stopping == STOP_WANTED && registry->live == 0 && part_is_idle(registry);
}

static bool has_work(const struct registry *registry)
{
    return !list_is_empty(&registry->dirty) || !defer_is_idle(&registry->deferred) ||
           stop_is_due(registry);
}

static void turn_on_turn_end(void *arg)
{
    struct registry *registry = arg;
    /* An exit may be told in the same turn as the hand-over: what its predecessor had on its way
     * must be repaired before anything is read, or those bytes are given to another session. */
    if (registry->handed_over)
        read_more(registry);
    for (int round = 0; round < ROUNDS && has_work(registry); round++) {
        look_at_dirty(registry);
        if (stop_is_due(registry)) {
            registry->stopping = STOP_DONE;
            registry_note(registry, NOTE_ALL_ENDED, 0);
        }
        defer_run(&registry->deferred);
    }
    turn_bury(registry);
    part_turn_end(registry);
    descendants_turn_end(registry);
    if (has_work(registry) || !list_is_empty(&registry->more))
        loop_timer_set_ns(&registry->kick, loop_now_ns(registry->loop));
    else
        loop_timer_stop(&registry->kick);
}

int registry_new(struct registry **out, struct loop *loop, struct link *link,
                 const struct config *cfg, const char *state_dir, const char *socket_path,
                 const struct registry_above *above, struct err *err)
{
    struct registry *registry = xcalloc(1, sizeof *registry);
    int code = number_init(&registry->numbers, loop, state_dir, err);
    registry->loop = loop;
    registry->link = link;
    registry->cfg = cfg;
    registry->socket_path = xstrdup(socket_path);
    snprintf(registry->word, sizeof registry->word, "%016llx",
             (unsigned long long)table_hash_text(socket_path));
    registry->state_dir = xstrdup(state_dir);
    if (above)
        registry->above = *above;
    registry->turn = 1;
    struct list *heads[] = {&registry->order,     &registry->dirty, &registry->more,
                            &registry->graveyard, &registry->typed};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        list_init(heads[i]);
    defer_init(&registry->deferred);
    index_init(registry);
    ended_init(registry);
    followed_init(registry);
    loop_timer_init(&registry->kick, loop, do_nothing, registry);
    declared_load(registry);
    descendants_init(registry, state_dir);
    sandbox_init(registry);
    part_init(registry);
    loop_at_turn_end(loop, turn_on_turn_end, registry);
    *out = registry;
    return code;
}

void registry_free(struct registry *registry)
{
    if (!registry)
        return;
    loop_drop_turn_end(registry->loop, registry);
    part_close(registry);
    declared_free(registry);
    sandbox_fini(registry);
    /* from here on the keeper is told nothing */
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next)
        session_go(LIST_OWNER(at, struct session, order));
    turn_bury(registry);
    while (!list_is_empty(&registry->order)) {
        struct session *session = LIST_OWNER(registry->order.next, struct session, order);
        index_remove(registry, session);
        session_free(session);
    }
    while (!defer_is_idle(&registry->deferred))
        defer_run(&registry->deferred);
    part_fini(registry);
    descendants_fini(registry);
    index_fini(registry);
    loop_timer_stop(&registry->kick);
    loop_timer_stop(&registry->expiry);
    followed_fini(registry);
    transfer_free(registry->transfer);
    nonce_fini(registry);
    number_fini(&registry->numbers);
    free(registry->socket_path);
    free(registry->state_dir);
    free(registry);
}

void registry_stop_all(struct registry *registry)
{
    registry->stopping = STOP_WANTED;
    struct list *next;
    for (struct list *at = registry->order.next; at != &registry->order; at = next) {
        next = at->next;
        struct session *session = LIST_OWNER(at, struct session, order);
        if (session_is_live(session))
            part_end(session, KILLER_STOP);
    }
    part_stopping(registry);
    registry_kick(registry);
}

void registry_reload(struct registry *registry, const struct config *cfg)
{
    registry->cfg = cfg;
    declared_load(registry);
    ended_reload(registry);
    part_reload(registry);
    if (registry->handed_over && registry->stopping == STOP_NOT)
        registry_boot(registry);
}
