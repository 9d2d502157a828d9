/* sandbox_held.c: owns the sessions that are made and wait for the trial of their sandbox: what the
 * spec said is copied, as its owner does not wait. */
#include "base/mem.h"
#include "base/strv.h"
#include "session/birth.h"
#include "session/sandbox.h"
#include <stdlib.h>
#include <string.h>

struct held {
    struct registry *registry;
    struct deferred deferred;
    struct birth birth;
    struct session_spec spec;
    struct confine_wish wish;
};

static void copy_spec(struct held *held, const struct session_spec *spec)
{
    held->wish = *spec->sandbox;
    held->wish.roots = (const char *const *)strv_dup(spec->sandbox->roots);
    held->wish.workspace = spec->sandbox->workspace ? xstrdup(spec->sandbox->workspace) : NULL;
    held->wish.unreadable = (const char *const *)strv_dup(spec->sandbox->unreadable);
    held->wish.found = spec->sandbox->found ? (const char *const *)strv_dup(spec->sandbox->found)
                                            : NULL;
    held->wish.readable = (const char *const *)strv_dup(spec->sandbox->readable);
    held->spec = (struct session_spec){.argv = strv_dup((const char *const *)spec->argv),
                                       .env = strv_dup((const char *const *)spec->env),
                                       .cwd = xstrdup(spec->cwd),
                                       .tty = spec->tty,
                                       .umask = spec->umask,
                                       .sandbox = &held->wish};
    memcpy(held->spec.limits, spec->limits, sizeof spec->limits);
}

static void held_free(struct held *held)
{
    birth_close_child(&held->birth);
    strv_free((char **)(uintptr_t)held->wish.roots);
    strv_free((char **)(uintptr_t)held->wish.unreadable);
    strv_free((char **)(uintptr_t)held->wish.readable);
    strv_free((char **)(uintptr_t)held->wish.found);
    free((char *)(uintptr_t)held->wish.workspace);
    strv_free((char **)(uintptr_t)held->spec.argv);
    strv_free((char **)(uintptr_t)held->spec.env);
    free((char *)(uintptr_t)held->spec.cwd);
    free(held);
}

/* What was asked for while the trial ran is not undone by it. */
static int held_check(struct session *session, struct err *err)
{
    if (session->registry->stopping != STOP_NOT)
        return err_set(err, ERR_STOPPING, "muxd is stopping; try again in a moment");
    if (atomic_load(&session->journal->header->killed_by) != KILLER_NONE)
        return err_set(err, ERR_SPAWN, "the session was ended before its program began; "
                                       "run the command again if it is still wanted");
    if (!session->registry->link)
        return err_set(err, ERR_SYSTEM, "the keeper is being replaced; try again");
    return 0;
}

/* The session may be gone meanwhile, or the keeper. */
static void held_on_tried(void *arg, bool closing)
{
    struct held *held = arg;
    struct registry *registry = held->registry;
    struct session *session = registry_by_number(registry, held->birth.number);
    struct err err = {0};
    if (closing || !session || session->exited || session->gone) {
        held_free(held);
        return;
    }
    held->birth.journal = session->journal;
    int code = held_check(session, &err);
    if (!code)
        code = birth_plan(registry, &held->spec, &held->birth, &err);
    if (code)
        spawn_failed(session, &err);
    else
        birth_hand_over(registry, &held->birth);
    held_free(held);
}

static void held_on_turn(void *arg)
{
    held_on_tried(arg, false);
}

void sandbox_hold(struct registry *registry, const struct session_spec *spec, struct birth *birth)
{
    struct held *held = xcalloc(1, sizeof *held);
    held->registry = registry;
    held->birth = *birth;
    copy_spec(held, spec);
    for (int i = 0; i < 3; i++)
        birth->stdio[i] = -1;
    held->deferred = (struct deferred){.fn = held_on_turn, .arg = held};
    if (!sandbox_when_tried(registry, held_on_tried, held)) /* it could not even begin */
        registry_defer(registry, &held->deferred);
}
