/* kin.c: owns the list of orphans: processes that the keeper has adopted and that belong to no session by any sign. Such a one dies with
 * the only session that it can stem from, if there is only one. */
#include "session/kin.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/internal.h"
#include "session/left.h"
#include "session/looks.h"
#include "sys/cgroup.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include <stdlib.h>
#include <unistd.h>

#define ORPHANS_MAX 1024
#define ANCESTORS_MAX 128

struct orphan {
    struct list link;
    pid_t pid;
    uint64_t start_ticks;
    uint64_t number; /* the session that it stems from; 0: unknown */
};

static pid_t tty_session_of(const struct session *session)
{
    return session_is_tty(session) && session->out.fd >= 0 ? pty_session(session->out.fd) : 0;
}

static bool is_alive(const struct orphan *orphan)
{
    struct proc_stat stat;
    return proc_stat(orphan->pid, &stat) && stat.start_ticks == orphan->start_ticks && !proc_is_dead(&stat);
}

pid_t kin_keeper(const struct registry *registry)
{
    pid_t pid = registry->link ? link_keeper_pid(registry->link) : 0;
    return pid > 0 ? pid : getppid();
}

pid_t kin_find_leader(struct session *session, int *pidfd)
{
    struct family family;
    struct proc_stat stat;
    pid_t found = 0;
    looks_now(session, &family);
    for (size_t i = 0; i < family.count && !found; i++) {
        const struct family_member *member = &family.members[i];
        *pidfd = proc_pidfd(member->pid);
        if (*pidfd >= 0 && proc_stat(member->pid, &stat) && stat.start_ticks == member->start_ticks && stat.session == member->pid)
            found = member->pid;
        else
            fd_close(pidfd);
    }
    family_free(&family);
    return found;
}

pid_t kin_leader(const struct session *session)
{
    bool reaped = session->finished && !session->unacknowledged;
    return reaped ? 0 : session_pid(session);
}

struct family_query kin_query(const struct session *session)
{
    const struct journal_header *header = session->journal->header;
    return (struct family_query){.number = header->number, .leader = kin_leader(session),
                                 .start_ticks = header->pid_start_ticks, .tty_session = tty_session_of(session)};
}

static bool is_in_session(pid_t pid, pid_t leader)
{
    struct proc_stat stat;
    return proc_stat(pid, &stat) && stat.session == leader;
}

struct group_search {
    pid_t pgrp, session, found;
};

static bool find_member(void *arg, const struct proc_stat *stat)
{
    struct group_search *search = arg;
    if (stat->pgrp == search->pgrp && stat->session == search->session && stat->state != 'Z')
        search->found = stat->pid;
    return search->found == 0;
}

void kin_signal_group(const struct session *session, pid_t pgrp, int signo)
{
    struct group_search search = {pgrp, session_pid(session), is_in_session(pgrp, session_pid(session)) ? pgrp : 0};
    if (!search.found) /* its leader has ended before the others */
        proc_each(find_member, &search);
    int pidfd = search.found ? proc_pidfd(search.found) : -1;
    if (pidfd < 0)
        return;
    /* While that member lives the group's number is taken; the look comes after its descriptor. */
    struct proc_stat stat;
    if (proc_stat(search.found, &stat) && stat.pgrp == pgrp && stat.session == session_pid(session))
        proc_signal_group(pidfd, pgrp, signo);
    close(pidfd);
}

void kin_into_cgroup(struct cgroup *cgroup, const struct family_member *member)
{
    struct proc_stat stat;
    if (proc_stat(member->pid, &stat) && stat.start_ticks == member->start_ticks)
        cgroup_put(cgroup, member->pid);
}

/* One that could stem from several sessions, and from this one, too. */
static bool may_have_left_an_orphan(const struct session *session)
{
    const struct registry *registry = session->registry;
    for (const struct list *at = registry->orphans.next; at != &registry->orphans; at = at->next) {
        const struct orphan *orphan = LIST_OWNER(at, struct orphan, link);
        if (orphan->number == 0 && orphan->start_ticks >= session->journal->header->pid_start_ticks && is_alive(orphan))
            return true;
    }
    return false;
}

void kin_left_nobody(struct session *session)
{
    session->left_nobody = session->exited && !may_have_left_an_orphan(session);
}

int session_children_left(struct session *session)
{
    if (session->left_nobody)
        return 0;
    if (!session->exited || session_pid(session) <= 0)
        return -1;
    session->left_nobody = left_nothing(session);
    if (session->left_nobody)
        return 0;
    struct family family;
    looks_now(session, &family);
    int count = 0;
    for (size_t i = 0; i < family.count; i++) /* the look may be of a moment ago, when the program itself still ran */
        count += family.members[i].pid != session_pid(session);
    family_free(&family);
    return count > 0 || !(may_have_left_an_orphan(session) || left_in_doubt(session)) ? count : -1;
}

/* Which session a process is in. */

static struct session *by_mark(struct registry *registry, pid_t pid)
{
    char *socket = xasprintf("MUXD_SOCKET=%s", registry->socket_path);
    uint64_t number = proc_env_number(pid, "MUXD_SESSION", socket);
    free(socket);
    return number ? registry_by_number(registry, number) : NULL;
}

static struct session *by_leader(struct registry *registry, pid_t sid)
{
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        struct session *session = LIST_OWNER(at, struct session, order);
        if (sid > 1 && (kin_leader(session) == sid || tty_session_of(session) == sid))
            return session;
    }
    return NULL;
}

struct session *registry_of_process(struct registry *registry, pid_t pid)
{
    struct proc_stat stat;
    struct session *session = NULL;
    for (int i = 0; !session && i < ANCESTORS_MAX && pid > 1 && proc_stat(pid, &stat); i++) {
        session = by_leader(registry, stat.session);
        if (!session)
            session = by_mark(registry, pid);
        pid = stat.ppid;
    }
    return session;
}

/* Orphans. */

static void forget(struct registry *registry, struct orphan *orphan)
{
    list_remove(&orphan->link);
    free(orphan);
    registry->norphans--;
}

static void forget_dead(struct registry *registry)
{
    struct list *next;
    for (struct list *at = registry->orphans.next; at != &registry->orphans; at = next) {
        next = at->next;
        if (!is_alive(LIST_OWNER(at, struct orphan, link)))
            forget(registry, LIST_OWNER(at, struct orphan, link));
    }
}

/* The only session whose program was there before the orphan, and that has not left nobody; 0: none or several. */
static uint64_t only_origin(struct registry *registry, uint64_t start_ticks)
{
    uint64_t number = 0;
    for (struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        const struct session *session = LIST_OWNER(at, struct session, order);
        if (session->left_nobody || session_pid(session) <= 0 || session->journal->header->pid_start_ticks > start_ticks)
            continue;
        if (number)
            return 0;
        number = session_number(session);
    }
    return number;
}

static struct orphan *known_orphan(struct registry *registry, pid_t pid, uint64_t start_ticks)
{
    for (struct list *at = registry->orphans.next; at != &registry->orphans; at = at->next) {
        struct orphan *orphan = LIST_OWNER(at, struct orphan, link);
        if (orphan->pid == pid && orphan->start_ticks == start_ticks)
            return orphan;
    }
    return NULL;
}

static struct orphan *add_orphan(struct registry *registry, pid_t pid, uint64_t start_ticks, uint64_t number)
{
    if (registry->norphans >= ORPHANS_MAX)
        forget_dead(registry);
    if (registry->norphans >= ORPHANS_MAX)
        return NULL;
    struct orphan *orphan = xcalloc(1, sizeof *orphan);
    *orphan = (struct orphan){.pid = pid, .start_ticks = start_ticks, .number = number};
    list_append(&registry->orphans, &orphan->link);
    registry->norphans++;
    return orphan;
}

void registry_orphan(struct registry *registry, pid_t pid, bool dead)
{
    struct proc_stat stat;
    registry->orphan_deaths += dead;
    if (dead || !proc_stat(pid, &stat) || registry_of_process(registry, pid))
        return;
    if (known_orphan(registry, pid, stat.start_ticks))
        return;
    struct orphan *orphan = add_orphan(registry, pid, stat.start_ticks, only_origin(registry, stat.start_ticks));
    if (orphan && !orphan->number)
        log_info("process %d (%s) was left by one of several sessions; which one can't be told", (int)pid, stat.comm);
}

uint64_t kin_orphan(struct registry *registry, pid_t pid, uint64_t start_ticks)
{
    struct orphan *orphan = known_orphan(registry, pid, start_ticks);
    if (!orphan)
        orphan = add_orphan(registry, pid, start_ticks, only_origin(registry, start_ticks));
    return orphan ? orphan->number : 0;
}

void kin_own_orphans(const struct registry *registry, struct census *census)
{
    for (const struct list *at = registry->orphans.next; at != &registry->orphans; at = at->next) {
        const struct orphan *orphan = LIST_OWNER(at, struct orphan, link);
        struct census_entry *entry = orphan->number ? census_find(census, orphan->pid) : NULL;
        if (entry && !entry->owner && entry->start_ticks == orphan->start_ticks)
            entry->owner = orphan->number;
    }
}

void kin_fini(struct registry *registry)
{
    while (!list_is_empty(&registry->orphans))
        forget(registry, LIST_OWNER(registry->orphans.next, struct orphan, link));
}
