/* slots: the keeper's only memory: a fixed table of sessions, the descriptors held for each, its
 * program and what is owed to the worker about it. Zeroed memory is an empty table; nothing is
 * allocated, and a page is touched when its first slot is used. */
#ifndef MUXD_KEEP_SLOTS_H
#define MUXD_KEEP_SLOTS_H
#include "keep/keep.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* as many as [limits] max_sessions allows, and some for what is dropped but still runs */
#define SLOTS_MAX 65792
#define SLOTS_BUCKETS 4096 /* a power of two */

enum slot_state {
    SLOT_IDLE,     /* nothing runs: not started yet, or ended and acknowledged */
    SLOT_STARTING, /* forked; exec has neither succeeded nor failed */
    SLOT_RUNNING,
    SLOT_EXITED,   /* a zombie, kept until the worker has written its status down */
    SLOT_FAILED    /* could not be started; reaped. how: step, errno */
};
enum {
    SLOT_OWES_SPAWNED = 1,
    SLOT_OWES_FAILED = 2,
    SLOT_OWES_EXITED = 4,
    SLOT_OWES_AGAIN = 8,         /* itself, as in a hand-over */
    SLOT_OWES_MISSED_HOLD = 16,  /* that its descriptors did not come in */
    SLOT_OWES_MISSED_ADOPT = 32  /* that its program's did not */
};

struct slot {
    uint64_t session;
    /* 0: none. A child of ours that is not reaped, so the number can't be reused; or foreign */
    int32_t pid;
    int32_t pidfd;     /* -1: none, or a kernel without them */
    int32_t status_fd; /* while starting: the child's status pipe; else -1 */
    int32_t lean_fork; /* while starting: the place that lean_fork gave; else -1 */
    int32_t fds[KEEP_FD_COUNT]; /* by enum keep_tag */
    int32_t how[2];    /* exited: si_code, si_status; failed: step, errno */
    uint8_t state, owes;
    bool used, queued;
    bool unheld;  /* its descriptors did not come in: it would not survive its worker */
    bool dropped; /* the worker wants it gone; stays until its program has ended */
    bool foreign; /* the program is not our child: started by a keeper that died */
    int32_t next_session, next_pid, next_owing; /* chains of places + 1; 0 ends */
};

struct slots {
    struct slot all[SLOTS_MAX];
    int32_t by_session[SLOTS_BUCKETS], by_pid[SLOTS_BUCKETS];
    int32_t first_free; /* chained by next_session */
    int32_t top;        /* places ever used */
    int32_t count;
    int32_t owing_first, owing_last;
    bool unwatched; /* a program may be among them that has no pidfd */
};

struct slot *slots_find(struct slots *slots, uint64_t session); /* NULL when not there */
/* found or made; NULL when the table is full */
struct slot *slots_take(struct slots *slots, uint64_t session);
/* closes all it holds; the place is free afterwards. Must have no pid */
void slots_release(struct slots *slots, struct slot *slot);
struct slot *slots_by_pid(struct slots *slots, pid_t pid);
/* 0: none any more; its pidfd, if any, stands there already */
void slots_set_pid(struct slots *slots, struct slot *slot, pid_t pid);
/* in the order of places; NULL begins and ends */
struct slot *slots_next(struct slots *slots, struct slot *after);
int slots_place(const struct slots *slots, const struct slot *slot);
void slot_close_fds(struct slot *slot);

/* The queue of slots that owe the worker a message. */
void slots_owe(struct slots *slots, struct slot *slot, int what);
struct slot *slots_first_owing(struct slots *slots);
void slots_paid(struct slots *slots); /* the first one leaves the queue */
/* empties it: a new worker is told everything by the hand-over */
void slots_forgive(struct slots *slots);
#endif
