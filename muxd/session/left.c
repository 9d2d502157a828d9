/* left.c: owns the short ways to "nothing was left behind". Who was started by a program has a higher number than its leader, so of one
 * that ended soon only the few numbers are looked at that were given out since, however many sessions there are. Of others it counts
 * that whatever outlives a program falls to the keeper, its sub-reaper, at the latest when the program ends: a keeper that has no child
 * but the leaders of sessions and the daemon's own processes says that nothing was left, whatever else runs on the machine. Only who is
 * not known so is looked for in all of /proc (looks.c). */
#include "session/left.h"
#include "base/mem.h"
#include "session/internal.h"
#include "session/kin.h"
#include "sys/proc.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHILDREN_MAX 16384
#define YOUNG_MS 200 /* the numbers can't come round in this time, not even the 32,768 of a small machine */
#define LATER_MAX 64 /* numbers; with more the list of the keeper's children is cheaper */
#define ANCESTORS_MAX 64

/* --- those that were started since --- */

enum found { FOUND_NOBODY, FOUND_SOMEBODY, FOUND_UNKNOWN };

/* The leader of a session that was started later; they stand behind this one. */
static bool leads_another(const struct session *session, pid_t pid)
{
    const struct list *end = &session->registry->order;
    for (const struct list *at = end->prev; at != end && at != &session->order; at = at->prev)
        if (session_pid(LIST_OWNER(at, struct session, order)) == pid)
            return true;
    return false;
}

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

/* Up to an ancestor that is older than the leader: that one and all below it are others'; or to a child of the keeper: an orphan's
 * origin is not known here. The daemon's own processes are in the keeper's session, programs never are. */
static bool may_stem_from(const struct session *session, pid_t keeper, pid_t pid)
{
    struct proc_stat stat;
    pid_t keeper_session = getsid(keeper);
    for (int i = 0; i < ANCESTORS_MAX; i++) {
        if (!proc_stat(pid, &stat))
            return i > 0 || !is_gone(pid);
        if ((i == 0 && proc_is_dead(&stat)) || stat.session == keeper_session)
            return false;
        if (stat.ppid == keeper)
            return !leads_another(session, pid);
        if (stat.ppid < session_pid(session))
            return false;
        if (stat.ppid == session_pid(session) || stat.ppid >= pid)
            return true;
        pid = stat.ppid;
    }
    return true;
}

/* From the lowest number up, until no more were given out: who was not yet to be seen has a parent with a lower number that lived when
 * that was looked at, and who was started by one that is dead was given its number before that death was seen. */
static enum found look_at_later(const struct session *session)
{
    const struct registry *registry = session->registry;
    pid_t first = session_pid(session), upto = first, last, keeper = kin_keeper(registry);
    bool lives = false;
    struct proc_stat stat;
    while ((last = proc_last_pid()) != upto) {
        if (last < upto || last - first > LATER_MAX || !session->own_child || !registry->link)
            return FOUND_UNKNOWN;
        for (pid_t pid = upto + 1; pid <= last; pid++) {
            if (is_gone(pid))
                continue;
            lives = true;
            if (may_stem_from(session, keeper, pid))
                return FOUND_SOMEBODY;
        }
        upto = last;
    }
    /* without its keeper an orphan would be somebody else's child by now */
    return !lives || (proc_stat(keeper, &stat) && !proc_is_dead(&stat)) ? FOUND_NOBODY : FOUND_UNKNOWN;
}

static bool is_young(const struct session *session)
{
    return loop_now_ns(session->registry->loop) - session->created_ns < YOUNG_MS * NS_PER_MS;
}

/* --- the keeper's children --- */

struct pids {
    pid_t *all;
    size_t count, room;
};

static bool add(void *arg, pid_t pid)
{
    struct pids *pids = arg;
    if (pids->count == pids->room) {
        pids->room = pids->room ? pids->room * 2 : 64;
        pids->all = xreallocarray(pids->all, pids->room, sizeof *pids->all);
    }
    pids->all[pids->count++] = pid;
    return pids->count < CHILDREN_MAX;
}

/* When a child is reaped during the reading another may be passed over (proc(5)); then the next reading shows a different list. */
static bool children_of(pid_t keeper, struct pids *out)
{
    struct pids again = {0};
    bool known = proc_children(keeper, add, out) && proc_children(keeper, add, &again) && out->count < CHILDREN_MAX &&
                 out->count == again.count &&
                 (out->count == 0 || memcmp(out->all, again.all, out->count * sizeof *out->all) == 0);
    free(again.all);
    return known;
}

static int compare(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
    return a < b ? -1 : a > b;
}

static void leaders_of(const struct registry *registry, struct pids *out)
{
    for (const struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        const struct session *session = LIST_OWNER(at, struct session, order);
        if (kin_leader(session) > 0)
            add(out, kin_leader(session));
    }
    if (out->count > 0)
        qsort(out->all, out->count, sizeof *out->all, compare);
}

/* The daemon's own processes are in the keeper's session; programs never are. */
static bool counts(pid_t pid, pid_t keeper_session, struct proc_stat *stat)
{
    return pid != getpid() && proc_stat(pid, stat) && !proc_is_dead(stat) && stat->session != keeper_session;
}

/* Calls fn for those that are neither leaders nor the daemon's own until it returns false. False: it did, or they can't be told. */
static bool each_stranger(const struct session *session, bool (*fn)(const struct session *session, const struct proc_stat *stat))
{
    const struct registry *registry = session->registry;
    struct pids children = {0}, leaders = {0};
    struct proc_stat keeper, stat;
    pid_t pid = kin_keeper(registry);
    bool going = session->own_child && registry->link && proc_stat(pid, &keeper) && children_of(pid, &children);
    if (going)
        leaders_of(registry, &leaders);
    for (size_t i = 0; going && i < children.count; i++) {
        bool leads = leaders.count > 0 && bsearch(&children.all[i], leaders.all, leaders.count, sizeof(pid_t), compare);
        going = leads || !counts(children.all[i], keeper.session, &stat) || fn(session, &stat);
    }
    free(children.all);
    free(leaders.all);
    return going;
}

static bool never(const struct session *session, const struct proc_stat *stat)
{
    (void)session, (void)stat;
    return false;
}

static bool shows_whose(const struct session *session, const struct proc_stat *stat)
{
    return stat->start_ticks < session->journal->header->pid_start_ticks || !proc_env_is_empty(stat->pid);
}

bool left_nothing(const struct session *session)
{
    enum found found = is_young(session) ? look_at_later(session) : FOUND_UNKNOWN;
    return found == FOUND_UNKNOWN ? each_stranger(session, never) : found == FOUND_NOBODY;
}

bool left_in_doubt(const struct session *session)
{
    return session->own_child && session->registry->link && !each_stranger(session, shows_whose);
}
