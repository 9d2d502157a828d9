/* tty_group: owns the list of threads of a group, and the budget of /proc descriptors that all
 * groups share. */
#include "sys/tty_group.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/mem.h"
#include "sys/proc.h"
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { OPEN_THREADS_MAX = 96 }; /* of all groups together, two descriptors each */

static struct tty_group *newest, *oldest;

void tty_group_init(struct tty_group *group, pid_t confined)
{
    *group = (struct tty_group){.confined = confined};
}

/* --- the shared budget --- */

static void tty_group_unlist(struct tty_group *group)
{
    if (!group->listed)
        return;
    BUG_UNLESS((group->newer ? group->newer->older : newest) == group &&
               (group->older ? group->older->newer : oldest) == group);
    *(group->newer ? &group->newer->older : &newest) = group->older;
    *(group->older ? &group->older->newer : &oldest) = group->newer;
    group->newer = group->older = NULL;
    group->listed = false;
}

static void tty_group_close_all(struct tty_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        tty_thread_close(&group->threads[i]);
}

static size_t count_open(const struct tty_group *group)
{
    size_t open = 0;
    for (size_t i = 0; i < group->count; i++)
        open += tty_thread_is_open(&group->threads[i]);
    return open;
}

void tty_group_keep(struct tty_group *group)
{
    size_t open = count_open(group);
    if (newest == group && group->kept == open)
        return;
    group->kept = open;
    tty_group_unlist(group);
    group->older = newest;
    *(newest ? &newest->newer : &oldest) = group;
    newest = group;
    group->listed = true;
    size_t open_threads = 0;
    for (struct tty_group *each = newest, *older; each; each = older) {
        older = each->older;
        open_threads += count_open(each);
        if (each != group && open_threads > OPEN_THREADS_MAX) {
            open_threads -= count_open(each);
            tty_group_close_all(each);
            tty_group_unlist(each);
        }
    }
}

void tty_group_fini(struct tty_group *group)
{
    tty_group_unlist(group);
    tty_group_close_all(group);
    free(group->threads);
    tty_group_init(group, 0);
}

/* --- membership --- */

enum { NEWCOMERS_MAX = 64 };

struct scan {
    struct tty_group *group;
    struct tty_thread *threads;
    struct tty_jailers jailers;
    size_t count, cap;
    pid_t pgrp;
    int processes;
    bool truncated;
};

static void tty_group_add_thread(struct scan *scan, pid_t pid, pid_t tid)
{
    if (scan->count == TTY_GROUP_THREADS) {
        scan->truncated = true;
        return;
    }
    if (scan->count == scan->cap) {
        /* most groups are one program at a prompt, with one thread */
        scan->cap = scan->cap ? 2 * scan->cap : 1;
        scan->threads = xreallocarray(scan->threads, scan->cap, sizeof *scan->threads);
    }
    BUG_UNLESS(scan->count < scan->cap);
    struct tty_thread *thread = &scan->threads[scan->count++];
    tty_thread_init(thread, pid, tid);
    for (size_t i = 0; i < scan->group->count; i++) {
        struct tty_thread *known = &scan->group->threads[i];
        if (known->tid == tid && known->pid == pid) {
            *thread = *known; /* with its descriptors */
            tty_thread_init(known, 0, 0);
        }
    }
}

/* A process can only join a group of its own session (setpgid(2)). So the processes of the session
 * that are in other groups are kept, to be asked again. */
static bool is_member(struct tty_group *group, pid_t pgrp, pid_t pid)
{
    if (group->session > 0 && getsid(pid) != group->session)
        return false;
    if (getpgid(pid) == pgrp)
        return true;
    if (group->nothers < TTY_GROUP_OTHERS)
        group->others[group->nothers] = pid;
    group->nothers += group->nothers <= TTY_GROUP_OTHERS;
    return false;
}

/* The unborn of struct tty_group. */
static uint64_t not_there(pid_t last)
{
    uint64_t bits = 0;
    for (pid_t n = 0; n < 64 && n < last; n++)
        if (getsid(last - n) < 0)
            bits |= UINT64_C(1) << n;
    return bits;
}

bool tty_group_may_be_joined(struct tty_group *group)
{
    uint64_t unborn = group->unborn;
    if (group->nothers > TTY_GROUP_OTHERS || group->last_pid <= 0)
        return true;
    for (int i = 0; i < group->nothers; i++)
        if (getpgid(group->others[i]) == group->pgrp)
            return true;
    group->unborn = 0;
    for (pid_t n = 0; n < 64; n++)
        if (unborn >> n & 1 && getsid(group->last_pid - n) == group->session)
            return true;
    return false;
}

static bool scan_process(void *arg, pid_t pid)
{
    struct scan *scan = arg;
    struct proc_stat stat;
    char path[48];
    struct dirent *entry;

    if (!is_member(scan->group, scan->pgrp, pid) || tty_jailers_have(&scan->jailers, pid))
        return true;
    if (scan->processes == TTY_GROUP_PROCESSES) {
        scan->truncated = true;
        return false;
    }
    if (proc_stat(pid, &stat) && (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1)
        return true;
    scan->processes++;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir) {
        tty_group_add_thread(scan, pid, pid); /* hidden: a look will say so */
        return true;
    }
    while ((entry = readdir(dir)))
        if (isdigit((unsigned char)entry->d_name[0]))
            tty_group_add_thread(scan, pid, (pid_t)strtol(entry->d_name, NULL, 10));
    closedir(dir);
    return true;
}

/* Only a process born since the scan can have joined. All of these are asked each time, because
 * a shell may put a process into the group a moment after its birth; when they are many a whole
 * scan is cheaper. */
bool tty_group_has_newcomer(const struct tty_group *group)
{
    int now = proc_last_pid(), last = group->last_pid;
    if (now <= 0 || last <= 0 || now < last || now - last > NEWCOMERS_MAX)
        return true;
    for (int pid = last + 1; pid <= now; pid++)
        if (getpgid(pid) == group->pgrp)
            return true;
    return false;
}

void tty_group_scan(struct tty_group *group, pid_t pgrp)
{
    struct scan scan = {.group = group, .pgrp = pgrp};

    BUG_UNLESS(pgrp > 0);
    /* read before the pass, so that a process born during the pass makes the next one due */
    group->last_pid = proc_last_pid();
    group->session = getsid(pgrp);
    group->nothers = 0;
    if (group->confined)
        scan.jailers = tty_jailers_of(group->confined);
    proc_each_pid(scan_process, &scan);
    group->unborn = not_there(group->last_pid);
    if (group->session <= 0 || scan.truncated)
        group->nothers = TTY_GROUP_OTHERS + 1;
    tty_group_close_all(group);
    free(group->threads);
    group->threads = scan.threads;
    group->count = scan.count;
    group->processes = scan.processes;
    group->truncated = scan.truncated;
    group->pgrp = pgrp;
    group->scanned_ns = clock_mono_ns();
}

bool tty_group_may_have_grown(const struct tty_group *group)
{
    return group->last_pid <= 0 || proc_last_pid() != group->last_pid;
}

void tty_group_look(struct tty_group *group, dev_t slave)
{
    for (size_t i = 0; i < group->count; i++) {
        struct tty_thread *thread = &group->threads[i];
        /* While no descriptor of it is open, its pid may have been reused. */
        if (!tty_thread_is_open(thread) && getpgid(thread->pid) != group->pgrp)
            thread->sleep = TTY_SLEEP_GONE;
        else
            tty_thread_look(thread, slave);
    }
}

uint64_t tty_group_runs(const struct tty_group *group)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < group->count; i++)
        runs += group->threads[i].runs;
    return runs;
}
