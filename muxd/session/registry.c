/* registry.c: owns the set of all sessions: finds one by a word, and lets one go. */
#include "session/registry.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/value.h"
#include "session/descendants.h"
#include "session/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void registry_forget(struct registry *registry, struct session *session, bool to_tell)
{
    if (session->gone)
        return;
    descendants_forget(session);
    part_forget(session, to_tell);
    if (!session->finished)
        index_count_live(registry, -1);
    session_go(session);
    /* those who detach later don't find it */
    session_attach(session, -(int)session->attached);
    index_remove(registry, session);
    list_remove(&session->dirty);
    list_remove(&session->more);
    list_remove(&session->aged);
    if (registry->link)
        link_drop(registry->link, session_number(session));
    list_append(&registry->graveyard, &session->order);
    registry_kick(registry);
}

static int registry_not_found(struct registry *registry, const char *word, struct err *err)
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
    struct session *session = value_int(word, 0, INT64_MAX, &number)
                                  ? registry_by_number(registry, (uint64_t)number)
                                  : index_by_name(registry, word);
    if (!session)
        registry_not_found(registry, word, err);
    return session;
}

int registry_remove(struct registry *registry, struct session *session, struct err *err)
{
    if (session_is_live(session) || part_holds_leader(session))
        return err_set(err, ERR_NOT_ENDED, "'%s' (session %llu) still runs; end it first (ue kill)",
                       session_name(session), (unsigned long long)session_number(session));
    registry_forget(registry, session, true);
    return 0;
}

void registry_stats(const struct registry *registry, struct registry_stats *stats)
{
    *stats = (struct registry_stats){.live = registry->live,
                                     .ended = registry->count - registry->live,
                                     .next_number = registry->numbers.next,
                                     .passes = descendants_passes(registry),
                                     .waits = registry->waits};
    for (const struct list *at = registry->order.next; at != &registry->order; at = at->next)
        stats->journal_bytes += journal_memory(LIST_OWNER(at, struct session, order)->journal);
}
