/* family: owns the list that it returns. */
#include "sys/family.h"
#include "base/mem.h"
#include "sys/proc.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct seen {
    struct proc_stat stat;
    bool lives, in;
};

#define ROUNDS 8

struct pass {
    const struct family_query *query;
    struct seen *all;
    size_t count, cap;
    size_t listed; /* of them, before this round */
    pid_t above;   /* only greater numbers are listed in this round */
};

static bool is_leader(const struct family_query *query, const struct proc_stat *stat)
{
    return stat->pid == query->leader && (!query->start_ticks || stat->start_ticks == query->start_ticks);
}

/* Older than the leader: its number may have been used again for a session, a group or a parent since. */
static bool is_too_old(const struct family_query *query, const struct proc_stat *stat)
{
    return query->start_ticks && stat->start_ticks < query->start_ticks;
}

static bool belongs(const struct family_query *query, const struct proc_stat *stat)
{
    bool by_number = query->leader > 1 && (stat->session == query->leader || stat->pgrp == query->leader);
    return by_number || (query->tty_session > 1 && stat->session == query->tty_session);
}

static bool is_excluded(const struct family_query *query, const struct proc_stat *stat)
{
    return stat->pid <= 1 || stat->pid == getpid() || stat->pid == query->except || is_too_old(query, stat);
}

static bool is_marked(const struct family_query *query, pid_t pid)
{
    return query->mark && proc_has_env(pid, query->mark) && (!query->mark_too || proc_has_env(pid, query->mark_too));
}

static struct seen *add(struct pass *pass)
{
    if (pass->count == pass->cap) {
        pass->cap = pass->cap ? 2 * pass->cap : 256;
        pass->all = xreallocarray(pass->all, pass->cap, sizeof *pass->all);
    }
    return &pass->all[pass->count++];
}

static int by_pid(const void *left, const void *right)
{
    pid_t a = ((const struct seen *)left)->stat.pid, b = ((const struct seen *)right)->stat.pid;
    return (a > b) - (a < b);
}

static const struct seen *find_pid(const struct pass *pass, size_t count, pid_t pid)
{
    struct seen key = {.stat.pid = pid};
    return count ? bsearch(&key, pass->all, count, sizeof key, by_pid) : NULL;
}

static bool list_pid(void *arg, pid_t pid)
{
    struct pass *pass = arg;
    if (pid > pass->above && !find_pid(pass, pass->listed, pid))
        *add(pass) = (struct seen){.stat.pid = pid};
    return pass->count < FAMILY_MAX;
}

/* False: it has died since it was listed. */
static bool look_at(const struct family_query *query, struct seen *seen)
{
    struct proc_stat stat;
    if (!proc_stat(seen->stat.pid, &stat) || stat.state == 'Z' || stat.state == 'X')
        return false;
    seen->stat = stat;
    seen->lives = true;
    seen->in = !is_excluded(query, &stat) && (is_leader(query, &stat) || belongs(query, &stat) || is_marked(query, stat.pid));
    return true;
}

/* The kernel lists all processes in one go; who forks and exits in a circle may be another one by the time its number comes up. So the
 * youngest are looked at first, and when one has died, its children, which have greater numbers, are listed again. */
static void collect(struct pass *pass)
{
    for (int round = 0; round < ROUNDS; round++) {
        pid_t died = 0;
        pass->listed = pass->count;
        proc_each_pid(list_pid, pass);
        for (size_t i = pass->count; i-- > pass->listed;) {
            pid_t pid = pass->all[i].stat.pid;
            if (!look_at(pass->query, &pass->all[i]))
                died = pid;
        }
        if (pass->count > 0)
            qsort(pass->all, pass->count, sizeof *pass->all, by_pid);
        if (died == 0)
            return;
        pass->above = died;
    }
}

/* Children of members are members, whatever session they made for themselves. Few rounds: the depth of the tree. */
static void add_descendants(struct pass *pass)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < pass->count; i++) {
            struct seen *seen = &pass->all[i];
            const struct seen *parent = seen->in || !seen->lives ? NULL : find_pid(pass, pass->count, seen->stat.ppid);
            if (parent && parent->in && !is_excluded(pass->query, &seen->stat))
                seen->in = more = true;
        }
    }
}

void family_find(const struct family_query *query, struct family *out)
{
    struct pass pass = {.query = query};
    size_t n = 0;

    *out = (struct family){NULL, 0};
    if (query->leader == 1 || query->leader < 0 || (query->leader == 0 && !query->mark))
        return;
    collect(&pass);
    add_descendants(&pass);
    out->members = xcalloc(pass.count + 1, sizeof *out->members);
    for (int leader = 1; leader >= 0; leader--)
        for (size_t i = 0; i < pass.count; i++) {
            const struct proc_stat *stat = &pass.all[i].stat;
            if (pass.all[i].in && is_leader(query, stat) == (leader == 1))
                out->members[n++] = (struct family_member){stat->pid, stat->start_ticks, stat->pgrp};
        }
    out->count = n;
    free(pass.all);
}

void family_free(struct family *family)
{
    free(family->members);
    *family = (struct family){NULL, 0};
}

size_t family_signal(const struct family *family, int signo)
{
    size_t sent = 0;
    for (size_t i = 0; i < family->count; i++) {
        const struct family_member *member = &family->members[i];
        struct proc_stat stat;
        int pidfd = proc_pidfd(member->pid);
        if (pidfd < 0)
            continue;
        /* The pidfd holds whoever has the number now; only then is it worth asking who that is. */
        if (proc_stat(member->pid, &stat) && stat.start_ticks == member->start_ticks)
            sent += proc_signal(pidfd, signo) == 0;
        close(pidfd);
    }
    return sent;
}

bool family_has(const struct family *family, pid_t pid)
{
    for (size_t i = 0; i < family->count; i++)
        if (family->members[i].pid == pid)
            return true;
    return false;
}
