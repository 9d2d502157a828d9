/* family: owns the lists that it returns. */
#include "sys/family.h"
#include "base/mem.h"
#include "sys/proc.h"
#include <stdlib.h>
#include <unistd.h>

struct sid { /* of a kernel session or group, whose number is the leader's */
    pid_t pid;
    const struct family_query *query;
};

struct sorting {
    struct census *census;
    const struct family_query *queries;
    size_t count;
    struct sid *sids; /* owned; by pid */
    size_t nsids;
    pid_t except;
};

static int by_number(const void *left, const void *right)
{
    uint64_t a = ((const struct family_query *)left)->number, b = ((const struct family_query *)right)->number;
    return (a > b) - (a < b);
}

static int by_sid(const void *left, const void *right)
{
    pid_t a = ((const struct sid *)left)->pid, b = ((const struct sid *)right)->pid;
    return (a > b) - (a < b);
}

static int by_owner(const void *left, const void *right)
{
    const struct census_owned *a = left, *b = right;
    return a->owner != b->owner ? (a->owner > b->owner) - (a->owner < b->owner) : (a->place > b->place) - (a->place < b->place);
}

/* Older than the leader: its number may have been used again for a session, a group or a parent since. */
static bool is_too_old(const struct family_query *query, const struct census_entry *entry)
{
    return query->start_ticks && entry->start_ticks < query->start_ticks;
}

static uint64_t by_sign(const struct sorting *sorting, pid_t sid, const struct census_entry *entry)
{
    struct sid key = {.pid = sid};
    const struct sid *found = sid > 1 && sorting->nsids ? bsearch(&key, sorting->sids, sorting->nsids, sizeof key, by_sid) : NULL;
    return found && !is_too_old(found->query, entry) ? found->query->number : 0;
}

static const struct family_query *query_of(const struct sorting *sorting, uint64_t number)
{
    struct family_query key = {.number = number};
    return number && sorting->count ? bsearch(&key, sorting->queries, sorting->count, sizeof key, by_number) : NULL;
}

static uint64_t by_mark(const struct sorting *sorting, const struct census_entry *entry)
{
    const struct family_query *query = query_of(sorting, entry->mark);
    return query && !is_too_old(query, entry) ? query->number : 0;
}

static bool is_excluded(const struct sorting *sorting, const struct census_entry *entry)
{
    return entry->pid <= 1 || entry->pid == getpid() || entry->pid == sorting->except;
}

static void sort_one(const struct sorting *sorting, struct census_entry *entry)
{
    if (entry->owner || is_excluded(sorting, entry))
        return;
    entry->owner = by_sign(sorting, entry->session, entry);
    if (!entry->owner)
        entry->owner = by_sign(sorting, entry->pgrp, entry);
    if (!entry->owner)
        entry->owner = by_mark(sorting, entry);
}

/* Children of members are members, whatever session they made for themselves. Few rounds: most children have greater numbers. */
static void add_descendants(const struct sorting *sorting)
{
    struct census *census = sorting->census;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < census->count; i++) {
            struct census_entry *entry = &census->all[i];
            const struct census_entry *parent = entry->fresh && !entry->owner ? census_find(census, entry->ppid) : NULL;
            const struct family_query *query = parent ? query_of(sorting, parent->owner) : NULL;
            if (query && !is_excluded(sorting, entry) && !is_too_old(query, entry)) {
                entry->owner = parent->owner;
                more = true;
            }
        }
    }
}

static void add_sid(struct sorting *sorting, pid_t pid, const struct family_query *query)
{
    if (pid > 1)
        sorting->sids[sorting->nsids++] = (struct sid){pid, query};
}

void family_sort(struct census *census, struct family_query *queries, size_t count, pid_t except)
{
    struct sorting sorting = {.census = census, .queries = queries, .count = count, .except = except};
    sorting.sids = xcalloc(2 * count + 1, sizeof *sorting.sids);
    if (count > 0)
        qsort(queries, count, sizeof *queries, by_number);
    for (size_t i = 0; i < count; i++) {
        add_sid(&sorting, queries[i].leader, &queries[i]);
        if (queries[i].tty_session != queries[i].leader)
            add_sid(&sorting, queries[i].tty_session, &queries[i]);
    }
    if (sorting.nsids > 0)
        qsort(sorting.sids, sorting.nsids, sizeof *sorting.sids, by_sid);
    for (size_t i = 0; i < census->count; i++)
        if (census->all[i].fresh)
            sort_one(&sorting, &census->all[i]);
    add_descendants(&sorting);
    for (size_t i = 0; i < census->count; i++)
        census->all[i].fresh = false;
    free(sorting.sids);
    family_index(census);
}

void family_index(struct census *census)
{
    free(census->owned);
    census->owned = xcalloc(census->count + 1, sizeof *census->owned);
    census->nowned = 0;
    for (size_t i = 0; i < census->count; i++)
        if (census->all[i].owner)
            census->owned[census->nowned++] = (struct census_owned){census->all[i].owner, i};
    if (census->nowned > 0)
        qsort(census->owned, census->nowned, sizeof *census->owned, by_owner);
}

/* The place of the first one that the number owns, or of who would come after it. */
static size_t first_of(const struct census *census, uint64_t number)
{
    size_t low = 0, high = census->nowned;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (census->owned[middle].owner < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void family_of(const struct census *census, uint64_t number, pid_t leader, struct family *out)
{
    size_t first = first_of(census, number), end = first;
    *out = (struct family){NULL, 0};
    while (end < census->nowned && census->owned[end].owner == number)
        end++;
    out->members = xcalloc(end - first + 1, sizeof *out->members);
    for (int leading = 1; leading >= 0; leading--)
        for (size_t i = first; i < end; i++) {
            const struct census_entry *entry = &census->all[census->owned[i].place];
            if (entry->lives && (entry->pid == leader) == (leading == 1))
                out->members[out->count++] = (struct family_member){entry->pid, entry->start_ticks};
        }
}

void family_look_again(struct census *census, uint64_t number)
{
    for (size_t i = first_of(census, number); i < census->nowned && census->owned[i].owner == number; i++)
        census->all[census->owned[i].place].again = census->all[census->owned[i].place].lives;
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
