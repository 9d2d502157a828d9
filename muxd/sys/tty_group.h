/* tty_group: the threads of a terminal's foreground process group, found once and then only asked
 * again. Any member may be the one that reads: in `python3; echo done` the group's leader is a
 * shell in wait(2). */
#ifndef MUXD_SYS_TTY_GROUP_H
#define MUXD_SYS_TTY_GROUP_H
#include "sys/tty_thread.h"
#include <stddef.h>

/* a group that is larger is looked at in part */
enum { TTY_GROUP_PROCESSES = 64, TTY_GROUP_THREADS = 256 };
enum { TTY_GROUP_OTHERS = 8 };

struct tty_group {
    pid_t pgrp; /* 0: none yet */
    struct tty_thread *threads; /* owned */
    size_t count;
    int processes;
    bool truncated;      /* larger than the caps */
    /* newest pid of the machine when it was scanned: no newer one, no new member */
    int last_pid;
    pid_t session;       /* whose members alone can join; -1: unknown */
    /* its processes that were in other groups when it was scanned */
    pid_t others[TTY_GROUP_OTHERS];
    int nothers;         /* more than fit: they aren't all known */
    /* bit n: nobody had the number last_pid - n yet; it may have been given out a moment before */
    uint64_t unborn;
    int64_t scanned_ns;
    /* list of the groups that hold descriptors, see tty_group_keep */
    struct tty_group *newer, *older;
    bool listed;
    size_t kept;         /* threads with open descriptors when it was listed */
};

void tty_group_init(struct tty_group *group); /* of no process group yet */
/* closes and frees; it is as after tty_group_init then */
void tty_group_fini(struct tty_group *group);
/* Makes the group that of pgrp. Known threads keep their descriptors. Not free: one readdir of
 * /proc. */
void tty_group_scan(struct tty_group *group, pid_t pgrp);
/* True when a process may have joined since the scan: always while the machine doesn't tell its
 * newest pid. */
bool tty_group_may_have_grown(const struct tty_group *group);
/* the same, asking those that were born since */
bool tty_group_has_newcomer(const struct tty_group *group);
/* True when one that was there at the scan may have joined since. To be asked some milliseconds
 * after it at the earliest. */
bool tty_group_may_be_joined(struct tty_group *group);
void tty_group_look(struct tty_group *group, dev_t slave); /* every thread's where and runs */
/* Sum of all threads' runs as of the last look or count. */
uint64_t tty_group_runs(const struct tty_group *group);
/* Marks the group as used now; the ones not used for long give their descriptors back, so that idle
 * sessions hold none beyond a fixed number in all. */
void tty_group_keep(struct tty_group *group);
#endif
