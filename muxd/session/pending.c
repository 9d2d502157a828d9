/* pending.c: owns what waits for the end of the turn: marked sessions, and what is to be told. */
#include "base/mem.h"
#include "session/internal.h"
#include <stdlib.h>

void registry_kick(struct registry *registry)
{
    if (!loop_timer_is_set(&registry->kick))
        loop_timer_set_ns(&registry->kick, loop_now_ns(registry->loop));
}

void registry_defer(struct registry *registry, struct deferred *deferred)
{
    defer_call(&registry->deferred, deferred);
    registry_kick(registry);
}

static void pending_tell(void *arg)
{
    struct note *note = arg;
    const struct registry_above *above = &note->registry->above;
    switch (note->kind) {
    case NOTE_SPAWNED: note->spawned.fn(note->spawned.arg, note->number, &note->spawned.err); break;
    case NOTE_ALL_ENDED:
        if (above->all_ended)
            above->all_ended(above->arg);
        break;
    }
    free(note);
}

struct note *registry_note(struct registry *registry, enum note_kind kind, uint64_t number)
{
    struct note *note = xcalloc(1, sizeof *note);
    *note = (struct note){.deferred = {.fn = pending_tell, .arg = note},
                          .registry = registry,
                          .kind = kind,
                          .number = number};
    registry_defer(registry, &note->deferred);
    return note;
}

void session_dirty(struct session *session)
{
    if (session->gone || !list_is_empty(&session->dirty))
        return;
    list_append(&session->registry->dirty, &session->dirty);
    registry_kick(session->registry);
}
