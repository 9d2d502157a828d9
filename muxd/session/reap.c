/* reap.c: owns the daemon's mark and the passes over all processes: in a thread, one for everybody
 * who asks at the time, and at once for those who can't wait. */
#include "session/reap.h"
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

struct reap {
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
    struct reap_wanted {
        uint32_t number;
        bool stop;
    } * wanted; /* owned; sorted */
    size_t nwanted;
    unsigned passes_done;
    pid_t reaper;
    unsigned flags;
};

static void reap_on_timer(void *arg);

void reap_init(struct registry *registry, const char *state_dir)
{
    struct reap *reap = xcalloc(1, sizeof *reap);
    reap->registry = registry;
    list_init(&reap->waiting);
    list_init(&reap->looking);
    list_init(&reap->telling);
    loop_timer_init(&reap->timer, registry->loop, reap_on_timer, reap);
    if (!mark_init(&reap->mark, state_dir, registry->socket_path))
        log_info("'%s/mark' can't be kept: %s; what this daemon leaves behind when it is killed is "
                 "not found by a later one",
                 state_dir, strerror(errno));
    if (!mark_fits(&reap->mark))
        log_warn("programs can't be marked: the hard limit on file locks (ulimit -Hx) is %llu; "
                 "start muxd without it, or what leaves "
                 "its parents survives a kill",
                 (unsigned long long)reap->mark.above);
    registry->reap = reap;
}

void reap_fini(struct registry *registry)
{
    struct reap *reap = registry->reap;
    BUG_UNLESS(!reap->closing);
    reap->closing = true;
    if (reap->under_way)
        loop_wait_offloaded(registry->loop);
    loop_timer_stop(&reap->timer);
    bearers_fini(&reap->now);
    bearers_fini(&reap->left);
    bearers_fini(&reap->found);
    free(reap->wanted);
    free(reap);
    registry->reap = NULL;
}

void reap_begin(struct registry *registry, _Atomic uint32_t *kept)
{
    struct reap *reap = registry->reap;
    uint32_t word = atomic_load(kept);
    if (word)
        reap->mark.word = word;
    else
        atomic_store(kept, reap->mark.word);
}

const struct mark *reap_mark(const struct registry *registry)
{
    return &registry->reap->mark;
}

unsigned reap_passes(const struct registry *registry)
{
    return registry->reap->passes;
}

size_t reap_plan(const struct registry *registry, uint64_t number, struct plan_limit *out)
{
    struct rlimit limit = mark_limit(&registry->reap->mark, number);
    if (!mark_fits(&registry->reap->mark))
        return 0;
    *out = (struct plan_limit){RLIMIT_LOCKS, limit.rlim_cur, limit.rlim_max};
    return 1;
}

rlim_t registry_hook_mark(const struct registry *registry)
{
    return mark_limit(&registry->reap->mark, MARK_HOOK).rlim_cur;
}

pid_t reap_reaper(const struct registry *registry)
{
    pid_t pid = registry->link ? link_keeper_pid(registry->link) : 0;
    return pid > 0 ? pid : getppid();
}

/* --- at once --- */

const struct bearers *reap_now(struct registry *registry)
{
    struct reap *reap = registry->reap;
    if (!reap->is_now) {
        mark_walk(&reap->mark, reap_reaper(registry), 0, &reap->now);
        reap->passes++;
        reap->is_now = true;
        registry_kick(registry); /* this turn has an end */
    }
    return &reap->now;
}

const struct bearers *reap_left(struct registry *registry)
{
    struct reap *reap = registry->reap;
    if (reap->left_known && reap->left.count == 0)
        return &reap->left;
    struct bearers all = {0};
    mark_walk(&reap->mark, 0, MARK_OTHERS, &all);
    reap->passes++;
    reap->left.count = 0;
    for (size_t i = 0; i < all.count; i++)
        if (reap_is_left(registry, &all.all[i]))
            bearers_add(&reap->left, &all.all[i]);
    reap->left_known = true;
    bearers_fini(&all);
    return &reap->left;
}

void reap_removed(const struct session *session)
{
    session->registry->reap->left_known &= session->left_nobody;
}

void reap_turn_end(struct registry *registry)
{
    if (registry->reap->is_now)
        bearers_fini(&registry->reap->now);
    registry->reap->is_now = false;
}

/* --- in a thread --- */

static int compare_wanted(const void *left, const void *right)
{
    const struct reap_wanted *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Those of the second that are not in the first; both sorted. They are stopped if so wanted: from
 * then on they don't fork. */
static size_t handle_new(const struct reap *reap, const struct bearers *before, uint32_t number,
                         bool stop)
{
    size_t old_count, count, fresh = 0, at = 0;
    const struct bearer *old = bearers_of(before, number, &old_count),
                        *all = bearers_of(&reap->found, number, &count);
    for (size_t i = 0; i < count; i++) {
        while (at < old_count && old[at].pid < all[i].pid)
            at++;
        if (at < old_count && old[at].pid == all[i].pid)
            continue;
        fresh++;
        if (stop)
            mark_signal(&reap->mark, &all[i], SIGSTOP);
    }
    return fresh;
}

/* Until two passes, one after the other, have found nobody who was not there before. */
static void look_work(void *arg)
{
    struct reap *reap = arg;
    struct bearers before = {0};
    reap->found.count = 0;
    for (int quiet = 0; quiet < 2 && reap->passes_done < PASSES_MAX; reap->passes_done++) {
        struct bearers was = before;
        size_t fresh = 0;
        before = reap->found;
        reap->found = was;
        mark_walk(&reap->mark, reap->reaper, reap->flags, &reap->found);
        for (size_t i = 0; i < reap->nwanted; i++)
            mark_descend(&reap->mark, reap->wanted[i].number, &reap->found);
        for (size_t i = 0; i < reap->nwanted; i++)
            fresh += handle_new(reap, &before, reap->wanted[i].number, reap->wanted[i].stop);
        quiet = fresh ? 0 : quiet + 1;
    }
    bearers_fini(&before);
}

static void look_done(void *arg)
{
    struct reap *reap = arg;
    reap->under_way = false;
    if (reap->closing)
        return;
    reap->passes += reap->passes_done;
    list_take(&reap->looking, &reap->telling);
    loop_timer_set_ns(&reap->timer, loop_now_ns(reap->registry->loop));
}

static void reap_look(struct reap *reap)
{
    size_t count = 0;
    list_take(&reap->waiting, &reap->looking);
    for (const struct list *at = reap->looking.next; at != &reap->looking; at = at->next)
        count++;
    reap->wanted = xreallocarray(reap->wanted, count, sizeof *reap->wanted);
    reap->nwanted = 0;
    reap->reaper = reap_reaper(reap->registry);
    reap->flags = MARK_HIDDEN;
    for (const struct list *at = reap->looking.next; at != &reap->looking; at = at->next) {
        const struct reap_ask *ask = LIST_OWNER(at, struct reap_ask, link);
        const struct session *session = registry_by_number(reap->registry, ask->number);
        reap->wanted[reap->nwanted++] = (struct reap_wanted){(uint32_t)ask->number, ask->stop};
        if (!session ||
            !session->own_child) /* what it has left may have fallen to another reaper */
            reap->flags |= MARK_OTHERS;
    }
    qsort(reap->wanted, reap->nwanted, sizeof *reap->wanted, compare_wanted);
    reap->passes_done = 0;
    reap->under_way = true;
    if (loop_offload(reap->registry->loop, look_work, look_done, reap) == 0)
        return;
    look_work(reap); /* no thread to be had: the loop has to wait this time */
    look_done(reap);
}

static void reap_on_timer(void *arg)
{
    struct reap *reap = arg;
    for (int i = 0; i < TOLD_A_TURN && !list_is_empty(&reap->telling); i++) {
        struct reap_ask *ask = LIST_OWNER(reap->telling.next, struct reap_ask, link);
        size_t count;
        const struct bearer *all = bearers_of(&reap->found, ask->number, &count);
        list_remove(&ask->link);
        ask->fn(ask->arg, all, count);
    }
    if (!list_is_empty(&reap->telling))
        loop_timer_set_ns(&reap->timer, loop_now_ns(reap->registry->loop));
    else if (!reap->under_way && !list_is_empty(&reap->waiting))
        reap_look(reap);
    else if (!reap->under_way)
        bearers_fini(&reap->found);
}

void reap_ask(struct registry *registry, struct reap_ask *ask)
{
    struct reap *reap = registry->reap;
    BUG_UNLESS(ask->fn && ask->number > MARK_HOOK && !reap->closing);
    list_remove(&ask->link);
    list_append(&reap->waiting, &ask->link);
    if (!reap->under_way &&
        !loop_timer_is_set(&reap->timer)) /* not at once: all who ask in this turn share it */
        loop_timer_set_ns(&reap->timer, loop_now_ns(registry->loop));
}

void reap_drop(struct reap_ask *ask)
{
    list_remove(&ask->link);
}
