/* tty_group: the threads of a terminal's foreground process group, found once and then only
 * looked at again. Any member may be the one that reads: in `python3; echo done` the group's
 * leader is a shell in wait(2). */
#ifndef MUXD_SYS_TTY_GROUP_H
#define MUXD_SYS_TTY_GROUP_H
#include "sys/tty_jailers.h"
#include "sys/tty_thread.h"
#include <stddef.h>

/* of a larger group only these are looked at */
enum { TTY_GROUP_PROCESSES = 64, TTY_GROUP_THREADS = 256 };
enum { TTY_GROUP_OTHERS = 8 };

struct tty_group {
    pid_t pgrp; /* 0: none yet */
    /* the leader of a session in a sandbox, whose jailers are no members; 0: there is no sandbox */
    pid_t confined;
    struct tty_thread *threads; /* owned */
    size_t count;
    int processes;
    bool truncated;      /* larger than the caps */
    /* newest pid of the machine at the scan; while there is no newer one, none has been born */
    int last_pid;
    pid_t session;       /* only its processes can join; -1: unknown */
    /* processes of the session that were in other groups at the scan */
    pid_t others[TTY_GROUP_OTHERS];
    int nothers;         /* TTY_GROUP_OTHERS + 1: not all of them are known */
    /* bit n: no process had the pid last_pid - n at the scan; one may have been about to get it */
    uint64_t unborn;
    int64_t scanned_ns;
    /* the list of groups that hold descriptors, see tty_group_keep */
    struct tty_group *newer, *older;
    bool listed;
    size_t kept;         /* threads with open descriptors when it was put into the list */
};

/* of no process group yet; confined: as in the struct */
void tty_group_init(struct tty_group *group, pid_t confined);
/* closes and frees; leaves it as tty_group_init does, without a sandbox */
void tty_group_fini(struct tty_group *group);
/* Makes the group that of pgrp. Known threads keep their descriptors. Not free: one readdir of
 * /proc. */
void tty_group_scan(struct tty_group *group, pid_t pgrp);
/* True: a process may have joined since the scan. Always so when the kernel doesn't tell its newest
 * pid. */
bool tty_group_may_have_grown(const struct tty_group *group);
/* the same, after a check of the processes that were born since */
bool tty_group_has_newcomer(const struct tty_group *group);
/* True: a process that was there at the scan may have joined since. To be asked at the earliest
 * some milliseconds after the scan. */
bool tty_group_may_be_joined(struct tty_group *group);
void tty_group_look(struct tty_group *group, dev_t slave); /* looks at every thread */
/* Sum of all threads' runs as of the last look or count. */
uint64_t tty_group_runs(const struct tty_group *group);
/* Marks the group as used now. The groups that have been unused longest close their descriptors, so
 * that all groups together hold at most a fixed number. */
void tty_group_keep(struct tty_group *group);
#endif
