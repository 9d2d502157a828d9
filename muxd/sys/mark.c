/* mark.c: owns what a mark looks like, and the passes over all processes.
 *
 * Bits 60 to 62 of a mark say how it was set: 3 for the soft and the hard limit, 2 for the soft one
 * alone, which is thus always lower than an outer daemon's hard limit. 28 bits are the daemon's
 * word, 32 the session's number. No program sets such a limit by chance.
 *
 * A process must not escape by forking and dying faster than /proc is read. The kernel gives out
 * pids in ascending order, so processes that are born during a pass lie between two values of
 * "last pid". These pids are looked at one by one until no more are given out. A pid is given
 * out a moment before its process can be seen, so a pass begins some pids back. */
#include "sys/mark.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "sys/mark_file.h"
#include "sys/mark_read.h"
#include "sys/proc.h"
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD_SHIFT 32
#define HOW_SHIFT 60
#define WORD_MASK 0x0fffffffu
#define HOW_BOTH 3ull
#define HOW_SOFT 2ull
#define BIRTHS 64    /* processes that may be in the middle of their birth at a time */
#define NEW_MAX 4096 /* beyond that many new pids a whole pass is cheaper */
#define ROUNDS 16
#define DESCENT_MAX 4096
#define FEW_PIDS 65536

static_assert(sizeof(rlim_t) == sizeof(uint64_t), "a mark is a limit");
static_assert((HOW_BOTH << HOW_SHIFT | (uint64_t)WORD_MASK << WORD_SHIFT | UINT32_MAX) < INT64_MAX,
              "a mark is below RLIM_INFINITY, and no part of it reaches into another");

/* --- what a mark is --- */

static uint32_t number_in(const struct mark *mark, rlim_t limit)
{
    uint64_t how = limit >> HOW_SHIFT;
    bool ours = (how == HOW_BOTH || how == HOW_SOFT) &&
                (limit >> WORD_SHIFT & WORD_MASK) == mark->word;
    return ours ? (uint32_t)limit : 0;
}

static uint32_t mark_number_of(const struct mark *mark, const struct rlimit *limit)
{
    uint32_t number = number_in(mark, limit->rlim_cur);
    return number ? number : number_in(mark, limit->rlim_max);
}

static uint32_t mix(uint32_t word, const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a: two daemons may share a state directory, not a socket */
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619u;
    word = (word ^ hash) & WORD_MASK;
    return word ? word : 1;
}

/* Which mark our own limit is, 0: none. *above: below what marks have to be. */
static uint32_t look_above(const struct mark *mark, __rlimit_resource_t resource, rlim_t *above)
{
    static const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit own = none;
    getrlimit(resource, &own);
    if (own.rlim_max >> HOW_SHIFT < HOW_SOFT && setrlimit(resource, &none) == 0)
        own = none; /* root may raise it, and then there is room */
    *above = own.rlim_max;
    return mark_number_of(mark, &own);
}

bool mark_init(struct mark *mark, const char *state_dir, const char *socket_path)
{
    bool kept;
    *mark = (struct mark){.word = mix(mark_file_word(state_dir, false, &kept), socket_path)};
    uint32_t locks = look_above(mark, RLIMIT_LOCKS, &mark->above),
             rss = look_above(mark, RLIMIT_RSS, &mark->above_second);
    /* This daemon was started by a process that an earlier life has left behind: it needs another
     * word, or it would find itself and its parents. */
    if (locks || rss)
        mark->word = mix(mark_file_word(state_dir, true, &kept), socket_path);
    return kept;
}

static struct rlimit limit_below(const struct mark *mark, rlim_t above, uint64_t number)
{
    BUG_UNLESS(mark->word > 0 && mark->word <= WORD_MASK);
    bool both = above == RLIM_INFINITY;
    rlim_t value = (both ? HOW_BOTH : HOW_SOFT) << HOW_SHIFT | (rlim_t)mark->word << WORD_SHIFT |
                   (uint32_t)number;
    return (struct rlimit){.rlim_cur = value, .rlim_max = both ? value : above};
}

bool mark_fits(const struct mark *mark)
{
    return mark_limit(mark, UINT32_MAX).rlim_cur <= mark->above;
}

struct rlimit mark_limit(const struct mark *mark, uint64_t number)
{
    return limit_below(mark, mark->above, number);
}

bool mark_second_limit(const struct mark *mark, uint64_t number, struct rlimit *out)
{
    *out = limit_below(mark, mark->above_second, number);
    return out->rlim_cur <= mark->above_second;
}

/* --- of one process --- */

bool mark_limits(pid_t pid, struct rlimit *out)
{
    struct rlimit all[MARK_LIMITS];
    bool is_other, read = mark_read(pid, true, &is_other, all);
    *out = read ? all[MARK_LOCKS] : (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    return read;
}

static uint32_t mark_number(const struct mark *mark, pid_t pid, bool others, bool *is_other)
{
    struct rlimit limits[MARK_LIMITS];
    uint32_t number = 0;
    if (!mark_read(pid, others, is_other, limits))
        return 0;
    for (int i = 0; i < MARK_LIMITS && !number; i++)
        number = mark_number_of(mark, &limits[i]);
    return number;
}

uint32_t mark_of(const struct mark *mark, pid_t pid)
{
    bool is_other;
    return mark_number(mark, pid, true, &is_other);
}

static bool mark_is_same(const struct mark *mark, const struct bearer *bearer)
{
    struct proc_stat stat;
    if (!bearer->start_ticks)
        return mark_of(mark, bearer->pid) == bearer->number;
    return proc_stat(bearer->pid, &stat) && stat.start_ticks == bearer->start_ticks;
}

bool mark_lives(const struct mark *mark, const struct bearer *bearer)
{
    return mark_is_same(mark, bearer) && proc_lives(bearer->pid);
}

/* Without a pidfd there is a moment between look and signal, too short for the pid to be reused:
 * all others would have to be given out in it. */
int mark_signal(const struct mark *mark, const struct bearer *bearer, int signo)
{
    BUG_UNLESS(bearer->pid > 0); /* kill(2) would take it for a group */
    int pidfd = proc_pidfd(bearer->pid), status = -ESRCH;
    if (mark_is_same(mark, bearer))
        status = pidfd >= 0                      ? proc_signal(pidfd, signo)
                 : kill(bearer->pid, signo) != 0 ? -errno
                                                 : 0;
    fd_close(&pidfd);
    return status;
}

/* --- of all --- */

static void mark_append(struct bearers *bearers, const struct bearer *one)
{
    BUG_UNLESS(bearers->count <= bearers->room && one->pid > 0);
    if (bearers->count == bearers->room) {
        bearers->room = bearers->room ? 2 * bearers->room : 64;
        bearers->all = xreallocarray(bearers->all, bearers->room, sizeof *bearers->all);
    }
    bearers->all[bearers->count++] = *one;
}

void bearers_fini(struct bearers *bearers)
{
    free(bearers->all);
    *bearers = (struct bearers){0};
}

void bearers_add(struct bearers *bearers, const struct bearer *one)
{
    for (size_t i = 0; i < bearers->count; i++)
        if (bearers->all[i].pid == one->pid && bearers->all[i].start_ticks == one->start_ticks)
            return;
    mark_append(bearers, one);
}

void bearers_set(struct bearers *bearers, const struct bearer *all, size_t count)
{
    bearers->count = 0;
    for (size_t i = 0; i < count; i++)
        mark_append(bearers, &all[i]);
}

static int compare(const void *left, const void *right)
{
    const struct bearer *a = left, *b = right;
    return a->number != b->number ? (a->number > b->number) - (a->number < b->number)
                                  : (a->pid > b->pid) - (a->pid < b->pid);
}

static void sort(struct bearers *bearers)
{
    size_t kept = 0;
    if (bearers->count > 1)
        qsort(bearers->all, bearers->count, sizeof *bearers->all, compare);
    for (size_t i = 0; i < bearers->count; i++)
        if (kept == 0 || compare(&bearers->all[kept - 1], &bearers->all[i]) != 0)
            bearers->all[kept++] = bearers->all[i];
    bearers->count = kept;
}

const struct bearer *bearers_of(const struct bearers *bearers, uint64_t number, size_t *count)
{
    size_t low = 0, high = bearers->count, end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bearers->all[middle].number < (uint32_t)number)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < bearers->count && bearers->all[end].number == (uint32_t)number; end++)
        ;
    *count = end - low;
    return *count ? bearers->all + low : NULL;
}

struct walk {
    const struct mark *mark;
    struct bearers *out;
    bool others;    /* looks at other users' processes, too */
    bool is_other;  /* the last process was another user's */
    bool had_other; /* one of all was */
};

static bool mark_look(void *arg, pid_t pid)
{
    struct walk *walk = arg;
    walk->is_other = false;
    uint32_t number = mark_number(walk->mark, pid, walk->others, &walk->is_other);
    walk->had_other |= walk->is_other;
    if (number && pid != getpid() && proc_lives(pid))
        mark_append(walk->out, &(struct bearer){.number = number, .pid = pid});
    return true;
}

/* False: the new pids are too many to be looked at one by one, or the last one is unknown. */
static bool mark_follow(struct walk *walk, pid_t upto)
{
    for (int round = 0; round < ROUNDS; round++) {
        pid_t last = proc_last_pid();
        if (last <= 0 || last < upto || last - upto > NEW_MAX)
            return false;
        if (last == upto)
            return true;
        while (upto < last)
            mark_look(walk, ++upto);
    }
    return true;
}

/* A process of ours that runs as another user either has a parent of ours, through which
 * mark_descend finds it, or is an orphan and so a child of the reaper. */
static void look_at_orphans(struct walk *walk, pid_t reaper)
{
    bool others = walk->others;
    walk->others = true;
    if (reaper > 0 && walk->had_other && !others && !proc_children(reaper, mark_look, walk) &&
        kill(reaper, 0) == 0)
        proc_each_pid(mark_look, walk); /* a kernel that doesn't tell children */
    walk->others = others;
}

/* The last pid given out; or the highest one that can be, where that is low, or when the pids have
 * started over since the last call. */
static pid_t highest_pid(void)
{
    static _Atomic pid_t seen;
    pid_t last = proc_last_pid(), max = proc_max_pid(), before = atomic_exchange(&seen, last);
    return max <= FEW_PIDS || last <= 0 || last < before ? max : last;
}

void mark_walk(const struct mark *mark, pid_t reaper, unsigned flags, struct bearers *out)
{
    struct walk walk = {.mark = mark, .out = out, .others = flags & MARK_OTHERS};
    pid_t before = proc_last_pid();
    out->count = 0;
    bool all = proc_each_pid(mark_look, &walk) && proc_shows_all();
    if ((flags & MARK_HIDDEN) && !all)
        for (pid_t pid = 1, end = highest_pid(); pid <= end; pid++)
            mark_look(&walk, pid);
    mark_follow(&walk, before > BIRTHS ? before - BIRTHS : 0);
    look_at_orphans(&walk, reaper);
    sort(out);
}

bool mark_walk_since(const struct mark *mark, pid_t reaper, pid_t first, struct bearers *out)
{
    struct walk walk = {.mark = mark, .out = out};
    out->count = 0;
    bool known = first > 0 && mark_follow(&walk, first);
    look_at_orphans(&walk, reaper);
    sort(out);
    return known;
}

struct descent {
    const struct mark *mark;
    struct bearers *tree;
    struct bearer parent;
    bool all; /* adds children that a walk finds, too */
};

/* A child with another mark of ours belongs to another session. */
static bool add_child(void *arg, pid_t pid)
{
    const struct descent *descent = arg;
    struct bearer child = {.number = descent->parent.number, .pid = pid};
    struct proc_stat stat;
    bool is_other = false;
    uint32_t number = mark_number(descent->mark, pid, true, &is_other);
    if (number && (number != child.number || !(is_other || descent->all)))
        return true;
    if (!number) {
        if (pid == getpid() || !proc_stat(pid, &stat) || stat.ppid != descent->parent.pid ||
            !mark_is_same(descent->mark, &descent->parent))
            return true;
        child.start_ticks = stat.start_ticks;
    }
    if (proc_lives(pid))
        bearers_add(descent->tree, &child);
    return descent->tree->count < DESCENT_MAX;
}

static void descend(const struct mark *mark, struct bearers *tree, bool all)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct descent descent = {mark, tree, tree->all[i], all};
        proc_children(tree->all[i].pid, add_child, &descent);
    }
}

void mark_descend(const struct mark *mark, uint64_t number, struct bearers *bearers)
{
    struct bearers tree = {0};
    size_t count;
    const struct bearer *known = bearers_of(bearers, number, &count);
    bearers_set(&tree, known, count);
    descend(mark, &tree, false);
    for (size_t i = count; i < tree.count; i++)
        mark_append(bearers, &tree.all[i]);
    if (tree.count > count)
        sort(bearers);
    bearers_fini(&tree);
}

void mark_strays(const struct mark *mark, uint64_t number, pid_t leader, struct bearers *out)
{
    struct bearers tree = {0};
    struct proc_stat stat;
    if (!proc_stat(leader, &stat))
        return;
    mark_append(&tree, &(struct bearer){(uint32_t)number, leader, stat.start_ticks});
    descend(mark, &tree, true);
    for (size_t i = 1; i < tree.count; i++)
        if (tree.all[i].start_ticks)
            bearers_add(out, &tree.all[i]);
    bearers_fini(&tree);
}
