/* left.c: owns the short way to "nothing was left behind". Whatever outlives a program falls to the keeper, its sub-reaper, at the latest
 * when the program ends: so a keeper that has no child but the leaders of sessions and the daemon's own processes says that nothing
 * was left, whatever else runs on the machine. Only who is not known so is looked for in all of /proc (looks.c). */
#include "session/left.h"
#include "base/mem.h"
#include "session/internal.h"
#include "session/kin.h"
#include "sys/proc.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHILDREN_MAX 16384

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
        bool reaped = session->finished && !session->unacknowledged; /* the number may be another's by now */
        if (!reaped && session_pid(session) > 0)
            add(out, session_pid(session));
    }
    if (out->count > 0)
        qsort(out->all, out->count, sizeof *out->all, compare);
}

/* The daemon's own processes are in the keeper's session; programs never are. */
static bool counts(pid_t pid, pid_t keeper_session)
{
    struct proc_stat stat;
    return pid != getpid() && proc_stat(pid, &stat) && stat.state != 'Z' && stat.state != 'X' && stat.session != keeper_session;
}

bool left_nothing(const struct session *session)
{
    const struct registry *registry = session->registry;
    struct pids children = {0}, leaders = {0};
    struct proc_stat keeper;
    pid_t pid = kin_keeper(registry);
    bool nothing = session->own_child && registry->link && proc_stat(pid, &keeper) && children_of(pid, &children);
    if (nothing)
        leaders_of(registry, &leaders);
    for (size_t i = 0; nothing && i < children.count; i++)
        nothing = (leaders.count > 0 && bsearch(&children.all[i], leaders.all, leaders.count, sizeof(pid_t), compare)) ||
                  !counts(children.all[i], keeper.session);
    free(children.all);
    free(leaders.all);
    return nothing;
}
