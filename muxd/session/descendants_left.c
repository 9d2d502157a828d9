/* descendants_left.c: owns the questions about who is there: what an ended program has left, which
 * processes belong to sessions that are gone, and which session a process is in. */
#include "base/bug.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "session/internal.h"
#include "session/descendants.h"
#include "sys/proc.h"
#include <stdlib.h>
#include <string.h>

/* process numbers don't come round in this time, not even the 32,768 of a small machine */
#define YOUNG_MS 200

static bool is_young(const struct session *session)
{
    return loop_now_ns(session->registry->loop) - session->created_ns <= YOUNG_MS * NS_PER_MS;
}

/* Whoever a program starts has a higher number, so of one that ended soon only those few are looked
 * at that were given out since. From the lowest up: one that was not yet to be seen has a parent
 * with a lower number that lived when that was looked at, and one that was started by a dead one
 * was given its number before that death was seen. */
static bool left_by_young(const struct session *session, struct bearers *out)
{
    struct registry *registry = session->registry;
    /* nobody becomes another user in a sandbox (no_new_privs), so nobody hides among orphans */
    pid_t reaper = session->sandbox ? 0 : descendants_reaper(registry);
    return is_young(session) &&
           mark_walk_since(descendants_mark(registry), reaper, session_pid(session), out);
}

void descendants_are_gone(struct session *session)
{
    BUG_UNLESS(session->exited);
    session->childless = true;
}

/* What bubblewrap needs for itself ends with the last program in its sandbox, or a moment after. */
static bool is_of_sandbox(const struct bearer *one)
{
    struct proc_stat stat;
    return !proc_stat(one->pid, &stat) || strcmp(stat.comm, "bwrap") == 0;
}

static int count_left(struct session *session, bool without_sandbox)
{
    struct bearers young = {0};
    size_t count, sandbox = 0;
    if (session->childless || (session->deserted && without_sandbox))
        return 0;
    if (!session->exited || session_pid(session) <= 0 ||
        !mark_fits(descendants_mark(session->registry)))
        return -1;
    const struct bearer *all = bearers_of(left_by_young(session, &young)
                                              ? &young
                                              : descendants_now(session->registry),
                                          session_number(session), &count);
    for (size_t i = 0; i < count && without_sandbox; i++)
        sandbox += is_of_sandbox(&all[i]);
    bearers_fini(&young);
    session->childless = count == 0;
    session->deserted |= without_sandbox && count == sandbox;
    return (int)(count - sandbox);
}

int session_children_left(struct session *session)
{
    return count_left(session, false);
}

int session_children_told(struct session *session)
{
    return count_left(session, session->sandbox != NULL);
}

/* Of an older session this would cost more than waiting for the end of its output. */
bool descendants_deserted(struct session *session)
{
    return session->sandbox && is_young(session) && session_children_told(session) == 0;
}

/* Marks carry the low 32 bits of a number. */
static uint64_t full_number(const struct registry *registry, uint32_t low)
{
    uint64_t last = registry->numbers.next - 1, full = (last & ~(uint64_t)UINT32_MAX) | low;
    return full > last && last > UINT32_MAX ? full - UINT32_MAX - 1 : full;
}

struct session *registry_of_process(struct registry *registry, pid_t pid)
{
    uint32_t low = mark_of(descendants_mark(registry), pid);
    return low > MARK_HOOK ? registry_by_number(registry, full_number(registry, low)) : NULL;
}

pid_t descendants_find_leader(struct session *session, int *pidfd)
{
    size_t count;
    struct proc_stat stat;
    const struct bearer *all = bearers_of(descendants_now(session->registry),
                                          session_number(session), &count);
    for (size_t i = 0; i < count; i++) {
        *pidfd = proc_pidfd(all[i].pid);
        if (*pidfd >= 0 && mark_lives(descendants_mark(session->registry), &all[i]) &&
            proc_stat(all[i].pid, &stat) && stat.session == all[i].pid)
            return all[i].pid;
        fd_close(pidfd);
    }
    return 0;
}

bool descendants_is_left(struct registry *registry, const struct bearer *bearer)
{
    uint64_t number = full_number(registry, bearer->number);
    return number > MARK_HOOK && !registry_by_number(registry, number);
}

void registry_each_left(struct registry *registry, left_fn *fn, void *arg)
{
    const struct bearers *left = descendants_left(registry);
    pid_t *pids = xcalloc(left->count + 1, sizeof *pids);
    for (size_t at = 0; at < left->count;) {
        uint32_t low = left->all[at].number;
        size_t count = 0;
        for (; at < left->count && left->all[at].number == low; at++)
            pids[count++] = left->all[at].pid;
        fn(arg, full_number(registry, low), pids, count);
    }
    free(pids);
}
