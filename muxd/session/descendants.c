/* descendants.c: owns the daemon's mark and the passes over all processes. A pass in a thread
 * serves all who ask at the time; a pass in the loop serves those who can't wait. */
#include "session/descendants.h"
#include "base/bug.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/internal.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define TOLD_A_TURN 32
#define PASSES_MAX 50 /* others may fork as fast */

struct descendants {
    struct registry *registry;
    struct mark mark;
    unsigned passes;
    struct bearers now; /* of this turn, when it was looked at */
    bool is_now;
    struct bearers left; /* of no session that the registry has, */
    bool left_known;     /* as far as this was looked at */

    struct list waiting, looking, telling;
    struct loop_timer timer;
    bool under_way, closing;
    /* The thread's while one is under way: */
    struct bearers found;
    struct descendants_wanted {
        uint32_t number;
        bool stop;
    } *wanted; /* owned; sorted */
    size_t nwanted;
    unsigned passes_done;
    pid_t reaper;
    unsigned flags;
};

static void descendants_on_timer(void *arg);

void descendants_init(struct registry *registry, const char *state_dir)
{
    struct descendants *desc = xcalloc(1, sizeof *desc);
    desc->registry = registry;
    list_init(&desc->waiting);
    list_init(&desc->looking);
    list_init(&desc->telling);
    loop_timer_init(&desc->timer, registry->loop, descendants_on_timer, desc);
    /* no directory: the worker says why, and nothing else should be read before that */
    if (!mark_init(&desc->mark, state_dir, registry->socket_path) && errno != ENOTDIR)
        log_info("'%s/mark' can't be kept: %s; what this daemon leaves behind when it is killed is "
                 "not found by a later one",
                 state_dir, strerror(errno));
    if (!mark_fits(&desc->mark))
        log_warn("programs can't be marked: the hard limit on file locks (ulimit -Hx) is %llu; "
                 "start muxd without it, or what leaves "
                 "its parents survives a kill",
                 (unsigned long long)desc->mark.above);
    registry->descendants = desc;
}

void descendants_fini(struct registry *registry)
{
    struct descendants *desc = registry->descendants;
    BUG_UNLESS(!desc->closing);
    desc->closing = true;
    if (desc->under_way)
        loop_wait_offloaded(registry->loop);
    loop_timer_stop(&desc->timer);
    bearers_fini(&desc->now);
    bearers_fini(&desc->left);
    bearers_fini(&desc->found);
    free(desc->wanted);
    free(desc);
    registry->descendants = NULL;
}

void descendants_begin(struct registry *registry, _Atomic uint32_t *kept)
{
    struct descendants *desc = registry->descendants;
    uint32_t word = atomic_load(kept);
    if (word)
        desc->mark.word = word;
    else
        atomic_store(kept, desc->mark.word);
}

const struct mark *descendants_mark(const struct registry *registry)
{
    return &registry->descendants->mark;
}

unsigned descendants_passes(const struct registry *registry)
{
    return registry->descendants->passes;
}

size_t descendants_plan(const struct registry *registry, uint64_t number,
                        struct plan_limit out[DESCENDANTS_LIMITS])
{
    struct rlimit limit = mark_limit(&registry->descendants->mark, number);
    if (!mark_fits(&registry->descendants->mark))
        return 0;
    out[0] = (struct plan_limit){RLIMIT_LOCKS, limit.rlim_cur, limit.rlim_max};
    if (!mark_second_limit(&registry->descendants->mark, number, &limit))
        return 1;
    out[1] = (struct plan_limit){RLIMIT_RSS, limit.rlim_cur, limit.rlim_max};
    return 2;
}

rlim_t registry_hook_mark(const struct registry *registry)
{
    return mark_limit(&registry->descendants->mark, MARK_HOOK).rlim_cur;
}

pid_t descendants_reaper(const struct registry *registry)
{
    pid_t pid = registry->link ? link_keeper_pid(registry->link) : 0;
    return pid > 0 ? pid : getppid();
}

/* --- at once --- */

const struct bearers *descendants_now(struct registry *registry)
{
    struct descendants *desc = registry->descendants;
    if (!desc->is_now) {
        mark_walk(&desc->mark, descendants_reaper(registry), 0, &desc->now);
        desc->passes++;
        desc->is_now = true;
        registry_kick(registry); /* this turn has an end */
    }
    return &desc->now;
}

const struct bearers *descendants_left(struct registry *registry)
{
    struct descendants *desc = registry->descendants;
    if (desc->left_known && desc->left.count == 0)
        return &desc->left;
    struct bearers all = {0};
    mark_walk(&desc->mark, 0, MARK_OTHERS, &all);
    desc->passes++;
    desc->left.count = 0;
    for (size_t i = 0; i < all.count; i++)
        if (descendants_is_left(registry, &all.all[i]))
            bearers_add(&desc->left, &all.all[i]);
    desc->left_known = true;
    bearers_fini(&all);
    return &desc->left;
}

void descendants_forget(struct session *session)
{
    session->registry->descendants->left_known &= session->childless;
}

void descendants_turn_end(struct registry *registry)
{
    if (registry->descendants->is_now)
        bearers_fini(&registry->descendants->now);
    registry->descendants->is_now = false;
}

/* --- in a thread --- */

static int compare_wanted(const void *left, const void *right)
{
    const struct descendants_wanted *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Those of the second that are not in the first; both sorted. They are stopped if so wanted: from
 * then on they don't fork. */
static size_t handle_new(const struct descendants *desc, const struct bearers *before,
                         uint32_t number, bool stop)
{
    size_t old_count, count, fresh = 0, at = 0;
    const struct bearer *old = bearers_of(before, number, &old_count),
                        *all = bearers_of(&desc->found, number, &count);
    for (size_t i = 0; i < count; i++) {
        while (at < old_count && old[at].pid < all[i].pid)
            at++;
        if (at < old_count && old[at].pid == all[i].pid)
            continue;
        fresh++;
        if (stop)
            mark_signal(&desc->mark, &all[i], SIGSTOP);
    }
    return fresh;
}

/* Until two passes, one after the other, have found nobody who was not there before. */
static void look_work(void *arg)
{
    struct descendants *desc = arg;
    struct bearers before = {0};
    desc->found.count = 0;
    for (int quiet = 0; quiet < 2 && desc->passes_done < PASSES_MAX; desc->passes_done++) {
        struct bearers was = before;
        size_t fresh = 0;
        before = desc->found;
        desc->found = was;
        mark_walk(&desc->mark, desc->reaper, desc->flags, &desc->found);
        for (size_t i = 0; i < desc->nwanted; i++)
            mark_descend(&desc->mark, desc->wanted[i].number, &desc->found);
        for (size_t i = 0; i < desc->nwanted; i++)
            fresh += handle_new(desc, &before, desc->wanted[i].number, desc->wanted[i].stop);
        quiet = fresh ? 0 : quiet + 1;
    }
    bearers_fini(&before);
}

static void look_done(void *arg)
{
    struct descendants *desc = arg;
    desc->under_way = false;
    if (desc->closing)
        return;
    desc->passes += desc->passes_done;
    list_take(&desc->looking, &desc->telling);
    loop_timer_set_ns(&desc->timer, loop_now_ns(desc->registry->loop));
}

static void descendants_look(struct descendants *desc)
{
    size_t count = 0;
    list_take(&desc->waiting, &desc->looking);
    for (const struct list *at = desc->looking.next; at != &desc->looking; at = at->next)
        count++;
    desc->wanted = xreallocarray(desc->wanted, count, sizeof *desc->wanted);
    desc->nwanted = 0;
    desc->reaper = descendants_reaper(desc->registry);
    desc->flags = MARK_HIDDEN;
    for (const struct list *at = desc->looking.next; at != &desc->looking; at = at->next) {
        const struct descendants_ask *ask = LIST_OWNER(at, struct descendants_ask, link);
        const struct session *session = registry_by_number(desc->registry, ask->number);
        desc->wanted[desc->nwanted++] = (struct descendants_wanted){(uint32_t)ask->number,
                                                                    ask->stop};
        if (!session ||
            !session->own_child) /* what it has left may have fallen to another reaper */
            desc->flags |= MARK_OTHERS;
    }
    qsort(desc->wanted, desc->nwanted, sizeof *desc->wanted, compare_wanted);
    desc->passes_done = 0;
    desc->under_way = true;
    if (loop_offload(desc->registry->loop, look_work, look_done, desc) == 0)
        return;
    look_work(desc); /* no thread to be had: the loop has to wait this time */
    look_done(desc);
}

static void descendants_on_timer(void *arg)
{
    struct descendants *desc = arg;
    for (int i = 0; i < TOLD_A_TURN && !list_is_empty(&desc->telling); i++) {
        struct descendants_ask *ask = LIST_OWNER(desc->telling.next, struct descendants_ask, link);
        size_t count;
        const struct bearer *all = bearers_of(&desc->found, ask->number, &count);
        list_remove(&ask->link);
        ask->fn(ask->arg, all, count);
    }
    if (!list_is_empty(&desc->telling))
        loop_timer_set_ns(&desc->timer, loop_now_ns(desc->registry->loop));
    else if (!desc->under_way && !list_is_empty(&desc->waiting))
        descendants_look(desc);
    else if (!desc->under_way)
        bearers_fini(&desc->found);
}

void descendants_ask(struct registry *registry, struct descendants_ask *ask)
{
    struct descendants *desc = registry->descendants;
    BUG_UNLESS(ask->fn && ask->number > MARK_HOOK && !desc->closing);
    list_remove(&ask->link);
    list_append(&desc->waiting, &ask->link);
    if (!desc->under_way &&
        !loop_timer_is_set(&desc->timer)) /* not at once: all who ask in this turn share it */
        loop_timer_set_ns(&desc->timer, loop_now_ns(registry->loop));
}

void descendants_drop(struct descendants_ask *ask)
{
    list_remove(&ask->link);
}
