/* descendants_orphans.c: owns the evidence about programs that have shed their mark and whose
 * parents have ended. Their new parent is the keeper (PR_SET_CHILD_SUBREAPER, prctl(2)), and nobody
 * else's children fall to it, so the question is only to which session one belongs. Variables,
 * names and directories are no evidence: a program of another session can bear the same ones. */
#include "base/bug.h"
#include "session/descendants.h"
#include "session/internal.h"
#include "sys/proc.h"
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

struct orphan {
    pid_t pid, session; /* session: the kernel's, setsid(2) */
    uint64_t start_ticks;
    bool lowered; /* its limit is neither a mark nor the daemon's own: it has shed a mark */
};
typedef void orphan_fn(void *arg, const struct orphan *orphan);

struct orphans_pass {
    struct registry *registry;
    pid_t keeper, keepers_session;
    struct rlimit own;
    orphan_fn *fn;
    void *arg;
};

static bool is_leader(const struct registry *registry, pid_t pid)
{
    for (const struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        const struct session *session = LIST_OWNER(at, struct session, order);
        if (!session->exited && session_pid(session) == pid)
            return true;
    }
    return false;
}

/* The worker, the sentinel and what was started beside the keeper are in its kernel session. */
static bool look_at_child(void *arg, pid_t pid)
{
    const struct orphans_pass *pass = arg;
    struct orphan orphan = {.pid = pid};
    struct proc_stat stat;
    struct rlimit limit;
    if (pid == getpid() || is_leader(pass->registry, pid) ||
        mark_of(descendants_mark(pass->registry), pid) || !mark_limits(pid, &limit) ||
        !proc_stat(pid, &stat) || stat.ppid != pass->keeper || proc_is_dead(&stat) ||
        stat.session == pass->keepers_session)
        return true;
    orphan.session = stat.session;
    orphan.start_ticks = stat.start_ticks;
    orphan.lowered = limit.rlim_max != RLIM_INFINITY && (limit.rlim_max != pass->own.rlim_max ||
                                                         limit.rlim_cur != pass->own.rlim_cur);
    pass->fn(pass->arg, &orphan);
    return true;
}

static bool look_at_any(void *arg, const struct proc_stat *stat)
{
    const struct orphans_pass *pass = arg;
    return stat->ppid != pass->keeper || look_at_child(arg, stat->pid);
}

/* A worker whose keeper has died is the child of a process that has other children as well: only
 * the keeper of now will do. */
static void each_orphan(struct registry *registry, orphan_fn *fn, void *arg)
{
    struct orphans_pass pass = {.registry = registry, .fn = fn, .arg = arg};
    struct proc_stat stat;
    pass.keeper = registry->link ? link_keeper_pid(registry->link) : 0;
    if (pass.keeper <= 1 || !mark_fits(descendants_mark(registry)) ||
        !proc_stat(pass.keeper, &stat) ||
        (pass.keeper != getppid() && strncmp(stat.comm, "muxd", 4) != 0))
        return;
    pass.keepers_session = stat.session;
    getrlimit(RLIMIT_LOCKS, &pass.own);
    if (!proc_children(pass.keeper, look_at_child, &pass))
        proc_each(look_at_any, &pass);
}

/* --- evidence --- */

static uint64_t started(const struct session *session) /* 0: unknown */
{
    return session_pid(session) > 0 ? session->journal->header->pid_start_ticks : 0;
}

struct claim {
    struct session *session;
    const struct bearers *known;
    struct bearers *out;
    uint64_t oldest_orphan; /* start_ticks; UINT64_MAX: there is none */
};

static void note_oldest(void *arg, const struct orphan *orphan)
{
    struct claim *claim = arg;
    if (orphan->start_ticks < claim->oldest_orphan)
        claim->oldest_orphan = orphan->start_ticks;
}

/* An ended session is out of the question when it had ended, with all that bears its mark, before
 * this one began, and nothing without a mark is left from that time. */
static bool may_have_started(const struct claim *claim, struct session *other,
                             const struct orphan *orphan)
{
    uint64_t own = started(claim->session);
    if (started(other) > orphan->start_ticks)
        return false;
    return !other->finished || claim->oldest_orphan < own ||
           atomic_load(&other->journal->header->ended_real_ms) >
               claim->session->journal->header->created_real_ms ||
           session_children_left(other) != 0;
}

/* No other session can have started it, nor one that the registry has forgotten. */
static bool is_only_candidate(const struct claim *claim, const struct orphan *orphan)
{
    struct session *session = claim->session;
    struct registry *registry = session->registry;
    uint64_t later = 0, own = started(session);
    if (own == 0 || own > orphan->start_ticks)
        return false;
    for (const struct list *at = registry->order.next; at != &registry->order; at = at->next) {
        struct session *other = LIST_OWNER(at, struct session, order);
        later += session_number(other) > session_number(session);
        if (other != session && may_have_started(claim, other, orphan))
            return false;
    }
    return later == registry->numbers.next - 1 - session_number(session) &&
           descendants_left(registry)->count == 0;
}

/* Only a process's own descendants can be in the kernel session that it has made. */
static bool shares_session(const struct claim *claim, const struct orphan *orphan)
{
    const struct mark *mark = descendants_mark(claim->session->registry);
    struct proc_stat stat;
    if (orphan->session == session_pid(claim->session))
        return true;
    for (size_t i = 0; i < claim->known->count; i++) {
        const struct bearer *one = &claim->known->all[i];
        if (proc_stat(one->pid, &stat) && stat.session == orphan->session && mark_lives(mark, one))
            return true;
    }
    return false;
}

static bool reads_link(pid_t pid, int fd, char *text, size_t size)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    ssize_t length = readlink(path, text, size - 1);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Of a terminal both standard input and output: another session's program that only prints there
 * has opened it for that. The pipe of a session has no name, so nobody opens it by chance. */
static bool has_stdio_of(const struct session *session, pid_t pid)
{
    char expected[64], in[64], out[64], errors[64];
    struct stat st;
    unsigned number;
    if (session->out.fd < 0)
        return false;
    reads_link(pid, STDIN_FILENO, in, sizeof in);
    reads_link(pid, STDOUT_FILENO, out, sizeof out);
    reads_link(pid, STDERR_FILENO, errors, sizeof errors);
    if (session_is_tty(session)) {
        if (ioctl(session->out.fd, TIOCGPTN, &number) != 0)
            return false;
        snprintf(expected, sizeof expected, "/dev/pts/%u", number);
        return strcmp(in, expected) == 0 && strcmp(out, expected) == 0;
    }
    if (fstat(session->out.fd, &st) != 0)
        return false;
    snprintf(expected, sizeof expected, "pipe:[%llu]", (unsigned long long)st.st_ino);
    return strcmp(out, expected) == 0 || strcmp(errors, expected) == 0;
}

static void claim_one(void *arg, const struct orphan *orphan)
{
    const struct claim *claim = arg;
    if (orphan->lowered && (shares_session(claim, orphan) ||
                            has_stdio_of(claim->session, orphan->pid) ||
                            is_only_candidate(claim, orphan)))
        bearers_add(claim->out, &(struct bearer){(uint32_t)session_number(claim->session),
                                                 orphan->pid, orphan->start_ticks});
}

void descendants_orphans(struct session *session, const struct bearers *known, struct bearers *out)
{
    struct claim claim = {session, known, out, UINT64_MAX};
    BUG_UNLESS(!session->gone && known != out);
    each_orphan(session->registry, note_oldest, &claim);
    if (claim.oldest_orphan != UINT64_MAX)
        each_orphan(session->registry, claim_one, &claim);
}

static void take_one(void *arg, const struct orphan *orphan)
{
    bearers_add(arg, &(struct bearer){MARK_NONE, orphan->pid, orphan->start_ticks});
}

void descendants_all_orphans(struct registry *registry, struct bearers *out)
{
    each_orphan(registry, take_one, out);
}
