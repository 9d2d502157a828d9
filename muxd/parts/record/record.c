/* record.c: owns the part's state: what is known of recordings by session, and the part's row. */
#include "base/bug.h"
#include "base/mem.h"
#include "parts/record/recorder.h"
#include "parts/record/recorder_state.h"
#include <stdlib.h>

struct recorders *recorders_of(const struct registry *registry)
{
    return registry->part[PART_RECORD];
}

struct recorded *recorded_of(const struct session *session)
{
    return session->part[PART_RECORD];
}

struct recorded *recorded_get(struct session *session)
{
    if (!recorded_of(session))
        session->part[PART_RECORD] = xcalloc(1, sizeof(struct recorded));
    return recorded_of(session);
}

struct recorder *recorder_of(const struct session *session)
{
    return recorded_of(session) ? recorded_of(session)->recorder : NULL;
}

const struct recorder_screens *recorder_screens_of(const struct recorder *recorder)
{
    BUG_UNLESS(recorders_of(recorder->registry)->screens);
    return recorders_of(recorder->registry)->screens;
}

static void record_free(struct session *session)
{
    recorder_session_goes(session);
    if (recorded_of(session))
        free(recorded_of(session)->failure);
    free(recorded_of(session));
    session->part[PART_RECORD] = NULL;
}

static bool is_ending(const struct recorder *recorder)
{
    return recorder->ending || (recorder->session && recorder->session->finished);
}

/* True: for no ended session is anything on its way to the disk. */
static bool record_is_idle(const struct registry *registry)
{
    const struct list *all = &recorders_of(registry)->all;
    for (const struct list *at = all->next; at != all; at = at->next)
        if (is_ending(LIST_OWNER(at, struct recorder, link)))
            return false;
    return true;
}

static void record_init(struct registry *registry)
{
    struct recorders *recorders = xcalloc(1, sizeof *recorders);
    list_init(&recorders->all);
    registry->part[PART_RECORD] = recorders;
}

void record_join(struct registry *registry, const struct recorder_screens *screens)
{
    BUG_UNLESS(recorders_of(registry) && !recorders_of(registry)->screens);
    recorders_of(registry)->screens = screens;
}

static void record_fini(struct registry *registry)
{
    BUG_UNLESS(list_is_empty(&recorders_of(registry)->all));
    free(recorders_of(registry));
    registry->part[PART_RECORD] = NULL;
}

const struct part record_part = {
    .init = record_init,
    .close = recorder_stop_all,
    .fini = record_fini,
    .is_idle = record_is_idle,
    .began = recorder_begin_wanted,
    .adopt = recorder_take_over,
    .late_look = recorder_look,
    .free = record_free,
    .input = recorder_input,
    .typed = recorder_typed,
    .resized = recorder_resized,
};
