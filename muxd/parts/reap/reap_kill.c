/* reap_kill.c: owns a kill's making and its end: who asked for it is told, and what it held is
 * given back. */
#include "parts/reap/reap_kill.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "session/internal.h"
#include "sys/cgroup.h"
#include <stdlib.h>

struct asker {
    struct list link; /* of its kill; then unused */
    struct deferred deferred;
    reap_fn *fn;
    void *arg;
    struct reap_result result;
};

struct reap *reap_of(const struct registry *registry)
{
    return registry->part[PART_REAP];
}

struct kill *kill_of(const struct session *session)
{
    return session->part[PART_REAP];
}

bool kill_is_late(const struct kill *kill)
{
    return kill->until_ms != 0 && clock_mono_ms() >= kill->until_ms;
}

void kill_set_until(struct kill *kill, int64_t ms)
{
    if (kill->until_ms == 0)
        kill->until_ms = clock_mono_ms() + ms;
}

void kill_wait(struct kill *kill, int64_t ms)
{
    loop_timer_set_ns(&kill->timer, clock_mono_ns() + ms * NS_PER_MS);
}

void kill_deny(struct kill *kill)
{
    if (kill->denied)
        return;
    kill->denied = true;
    kill->until_ms = clock_mono_ms() + KILL_DENIED_MS;
    if (kill->session)
        session_hang_up(kill->session);
}

int64_t kill_grace_ms(const struct kill *kill)
{
    return kill->registry->cfg->muxd.kill_grace_ms;
}

struct kill *kill_new(struct registry *registry, uint64_t number)
{
    struct kill *kill = xcalloc(1, sizeof *kill);
    kill->registry = registry;
    kill->number = number;
    list_init(&kill->askers);
    list_append(&reap_of(registry)->kills, &kill->link);
    loop_timer_init(&kill->timer, registry->loop, kill_on_timer, kill);
    kill->ask = (struct descendants_ask){.number = number, .fn = hunt_on_found, .arg = kill};
    list_init(&kill->ask.link);
    return kill;
}

/* At a stop, when all sessions have been ended: those that have shed their mark and lost their
 * parents. */
void reap_sweep(struct registry *registry)
{
    struct reap *reap = reap_of(registry);
    if (registry->stopping != STOP_WANTED || reap->swept || !list_is_empty(&reap->kills))
        return;
    struct bearers orphans = {0};
    reap->swept = true;
    descendants_all_orphans(registry, &orphans);
    if (orphans.count > 0)
        hunt_begin(kill_new(registry, MARK_NONE));
    bearers_fini(&orphans);
}

static struct asker *asker_new(reap_fn *fn, void *arg)
{
    struct asker *asker = xcalloc(1, sizeof *asker);
    list_init(&asker->link);
    asker->fn = fn;
    asker->arg = arg;
    return asker;
}

static void asker_on_told(void *arg)
{
    struct asker *asker = arg;
    asker->fn(asker->arg, &asker->result);
    free(asker);
}

void kill_add_asker(struct kill *kill, reap_fn *fn, void *arg)
{
    if (fn)
        list_append(&kill->askers, &asker_new(fn, arg)->link);
}

/* At the end of the turn. */
static void asker_tell(struct registry *registry, struct asker *asker,
                       const struct reap_result *result)
{
    list_remove(&asker->link);
    asker->result = *result;
    asker->deferred = (struct deferred){.fn = asker_on_told, .arg = asker};
    registry_defer(registry, &asker->deferred);
}

struct reap_result kill_result_of(const struct session *session)
{
    struct reap_result result = {.number = session_number(session), .exit_code = -1};
    if (session_has_exit(session, &result.exit_code, &result.signo) &&
        session_state(session) == SESSION_KILLED)
        result.ended_by = result.signo;
    return result;
}

static void add_survivors(struct reap_result *sum, const struct reap_result *more)
{
    for (int i = 0; i < more->survivors && i < REAP_SHOWN; i++)
        if (sum->survivors + i < REAP_SHOWN)
            sum->shown[sum->survivors + i] = more->shown[i];
    sum->survivors += more->survivors;
}

void kill_drop(struct kill *kill)
{
    struct registry *registry = kill->registry;
    struct reap_result result = kill->session
                                    ? kill_result_of(kill->session)
                                    : (struct reap_result){.number = kill->number, .exit_code = -1};
    hunt_count_survivors(kill, &result);
    if (registry->stopping != STOP_NOT)
        add_survivors(&reap_of(registry)->stopped, &result);
    while (!list_is_empty(&kill->askers))
        asker_tell(registry, LIST_OWNER(kill->askers.next, struct asker, link), &result);
    loop_timer_stop(&kill->timer);
    descendants_drop(&kill->ask);
    list_remove(&kill->link);
    if (kill->cgroup)
        cgroup_remove(kill->cgroup);
    cgroup_free(kill->cgroup);
    bearers_fini(&kill->hunted);
    bearers_fini(&kill->strays);
    if (kill->session)
        kill->session->part[PART_REAP] = NULL;
    free(kill);
    registry_kick(registry);
    reap_sweep(registry);
}

void kill_finish(struct kill *kill)
{
    BUG_UNLESS(kill->stage >= KILL_HUNT_TERM);
    struct session *session = kill->session;
    if (session && session->exited && kill->hunted.count == 0 &&
        mark_fits(descendants_mark(kill->registry)))
        descendants_are_gone(session);
    kill_drop(kill);
    if (!session)
        return;
    /* what can't be ended does not keep the daemon from stopping */
    if (session->registry->stopping != STOP_NOT)
        session_exited(session, 0, 0);
    session_acknowledge(session);
    session_dirty(session);
}

void kill_tell(struct registry *registry, reap_fn *fn, void *arg, const struct reap_result *result)
{
    if (fn)
        asker_tell(registry, asker_new(fn, arg), result);
}
