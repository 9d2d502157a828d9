/* census: owns its list of processes.
 *
 * Nobody may slip through by forking and dying faster than /proc is read. Numbers are given out in ascending order, so what was started
 * since a look stands between two values of "last pid": those numbers are looked at one by one until none of them was missing or no
 * more were given out. A number is given out a moment before its process can be seen; so the missing ones are asked for again each
 * time, and a pass goes back some numbers from where it began. */
#include "sys/census.h"
#include "base/clock.h"
#include "base/mem.h"
#include "sys/proc.h"
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 65536
#define NEW_MAX 4096   /* more than these: a whole pass is cheaper */
#define ROUNDS 16
#define BIRTHS 64      /* processes that may be in the middle of their birth at a time */
#define MISSING_MAX 4096
#define FOLLOWED_MS 200 /* the numbers can't come round in this time, not even the 32,768 of a small machine */
#define NS_PER_MS 1000000LL

void census_init(struct census *census, const char *mark_name, const char *mark_beside)
{
    *census = (struct census){.mark_name = xstrdup(mark_name), .mark_beside = mark_beside ? xstrdup(mark_beside) : NULL};
}

void census_fini(struct census *census)
{
    free(census->mark_name);
    free(census->mark_beside);
    free(census->all);
    free(census->missing);
    free(census->owned);
    *census = (struct census){0};
}

static int by_pid(const void *left, const void *right)
{
    pid_t a = ((const struct census_entry *)left)->pid, b = ((const struct census_entry *)right)->pid;
    return (a > b) - (a < b);
}

static struct census_entry *find(struct census_entry *all, size_t count, pid_t pid)
{
    struct census_entry key = {.pid = pid};
    return count ? bsearch(&key, all, count, sizeof key, by_pid) : NULL;
}

struct census_entry *census_find(const struct census *census, pid_t pid)
{
    return find(census->all, census->count, pid);
}

static void sort(struct census *census)
{
    if (census->count > 0)
        qsort(census->all, census->count, sizeof *census->all, by_pid);
}

static struct census_entry *add(struct census *census)
{
    if (census->count == census->cap) {
        census->cap = census->cap ? 2 * census->cap : 256;
        census->all = xreallocarray(census->all, census->cap, sizeof *census->all);
    }
    return &census->all[census->count++];
}

static void miss(struct census *census, pid_t pid)
{
    if (census->nmissing == census->missing_cap) {
        census->missing_cap = census->missing_cap ? 2 * census->missing_cap : 64;
        census->missing = xreallocarray(census->missing, census->missing_cap, sizeof *census->missing);
    }
    census->missing[census->nmissing++] = pid;
}

/* False: nobody is there. The dead stay in no list, but a zombie was there. */
static bool look_at(struct census *census, pid_t pid)
{
    struct proc_stat stat;
    if (!proc_stat(pid, &stat))
        return false;
    if (proc_is_dead(&stat) || census->count >= ENTRIES_MAX)
        return true;
    *add(census) = (struct census_entry){.pid = stat.pid, .ppid = stat.ppid, .pgrp = stat.pgrp, .session = stat.session,
                                         .start_ticks = stat.start_ticks, .lives = true, .fresh = true,
                                         .mark = proc_env_number(pid, census->mark_name, census->mark_beside)};
    return true;
}

static bool list_pid(void *arg, pid_t pid)
{
    struct census *census = arg;
    if (census->count >= ENTRIES_MAX)
        return false;
    *add(census) = (struct census_entry){.pid = pid};
    return true;
}

static void look_at_old(struct census_entry *entry)
{
    struct proc_stat stat;
    entry->again = false;
    entry->lives = proc_stat(entry->pid, &stat) && stat.start_ticks == entry->start_ticks && !proc_is_dead(&stat);
    if (entry->lives) {
        entry->pgrp = stat.pgrp;
        entry->session = stat.session;
    }
}

/* A number may be a thread's: not listed by /proc, but found there by name. */
static void look_at_new(struct census *census, size_t known, pid_t pid, bool *missed)
{
    if (find(census->all, known, pid))
        return;
    if (proc_is_thread(pid))
        return;
    if (!look_at(census, pid)) {
        miss(census, pid);
        *missed = true;
    }
}

static void look_at_missing(struct census *census)
{
    size_t known = census->count, count = census->nmissing;
    pid_t *pids = census->missing;
    bool missed;
    census->missing = NULL;
    census->nmissing = census->missing_cap = 0;
    for (size_t i = 0; i < count; i++)
        look_at_new(census, known, pids[i], &missed);
    free(pids);
    sort(census);
}

/* From the number behind `upto` to the last one. False: too many. */
static bool follow(struct census *census)
{
    census->exact = false;
    for (int round = 0; round < ROUNDS && !census->exact; round++) {
        pid_t last = proc_last_pid();
        size_t known = census->count;
        bool missed = false;
        if (last < census->upto || last - census->upto > NEW_MAX || census->nmissing > MISSING_MAX)
            return false;
        census->exact = last == census->upto;
        for (pid_t pid = census->upto + 1; pid <= last; pid++)
            look_at_new(census, known, pid, &missed);
        if (known < census->count)
            sort(census);
        census->upto = last;
        census->exact |= !missed;
    }
    return true;
}

/* What was found out about a process holds for its whole life. */
static void carry_over(struct census *census, const struct census_entry *before, size_t count)
{
    size_t old = 0;
    for (size_t i = 0; i < census->count; i++) {
        struct census_entry *entry = &census->all[i];
        while (old < count && before[old].pid < entry->pid)
            old++;
        if (old < count && before[old].pid == entry->pid && before[old].start_ticks == entry->start_ticks)
            entry->owner = before[old].owner;
    }
}

static void look_at_all(struct census *census)
{
    struct census_entry *before = census->all, *listed;
    size_t nbefore = census->count, nlisted;
    pid_t last = proc_last_pid();

    census->passes++;
    census->all = NULL;
    census->count = census->cap = census->nmissing = 0;
    proc_each_pid(list_pid, census);
    listed = census->all;
    nlisted = census->count;
    census->all = NULL;
    census->count = census->cap = 0;
    for (size_t i = 0; i < nlisted; i++)
        look_at(census, listed[i].pid);
    free(listed);
    sort(census);
    census->upto = last > BIRTHS ? last - BIRTHS : last;
    if (last > 0)
        follow(census);
    else
        census->exact = false;
    carry_over(census, before, nbefore);
    free(before);
}

void census_look(struct census *census)
{
    int64_t now_ns = clock_mono_ns();
    proc_was_blind();
    bool followed = !census->blind && census->looked_ns > 0 && census->upto > 0 && now_ns - census->looked_ns < FOLLOWED_MS * NS_PER_MS;
    if (followed) {
        for (size_t i = 0; i < census->count; i++)
            if (census->all[i].again)
                look_at_old(&census->all[i]);
        look_at_missing(census);
        followed = follow(census);
    }
    if (!followed)
        look_at_all(census);
    census->looked_ns = now_ns;
    census->blind = proc_was_blind();
    census->exact &= !census->blind;
}

bool census_look_from(struct census *census, pid_t first)
{
    pid_t last = proc_last_pid();
    if (last < first || first <= 1)
        return false;
    census->looked_ns = clock_mono_ns();
    census->upto = first - 1;
    return follow(census) && census->exact;
}

void census_doubt(struct census *census, struct census_entry *entry)
{
    miss(census, entry->pid);
    memmove(entry, entry + 1, (size_t)(census->all + census->count - (entry + 1)) * sizeof *entry);
    census->count--;
}
