/* slots: the keeper's only memory: a fixed table of sessions, with the descriptors held for each,
 * its program and the messages about it that the worker has not got yet. Zeroed memory is an empty
 * table; nothing is allocated, and a page is touched when its first slot is used. */
#ifndef MUXD_KEEP_SLOTS_H
#define MUXD_KEEP_SLOTS_H
#include "keep/keep.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* as many as [limits] max_sessions allows, and some for dropped sessions that still run */
#define SLOTS_MAX 65792
#define SLOTS_BUCKETS 4096 /* a power of two */

enum slot_state {
    SLOT_IDLE,     /* nothing runs: not started yet, or ended and acknowledged */
    SLOT_STARTING, /* forked; exec has neither succeeded nor failed */
    SLOT_RUNNING,
    SLOT_EXITED,   /* a zombie, kept until the worker has written down its status */
    SLOT_FAILED    /* could not be started; reaped. how: step, errno */
};
enum {
    SLOT_OWES_SPAWNED = 1,
    SLOT_OWES_FAILED = 2,
    SLOT_OWES_EXITED = 4
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
    bool dropped; /* the worker wants it gone; stays until its program has ended */
    bool foreign; /* the program is not our child: a keeper that died started it */
    int32_t next_session, next_pid, next_owing; /* chains of places + 1; 0 ends */
};

struct slots {
    struct slot all[SLOTS_MAX];
    int32_t by_session[SLOTS_BUCKETS], by_pid[SLOTS_BUCKETS];
    int32_t first_free; /* chained by next_session */
    int32_t top;        /* places ever used */
    int32_t count;
    int32_t owing_first, owing_last;
    bool unwatched; /* some program may have no pidfd */
};

struct slot *slots_find(struct slots *slots, uint64_t session); /* NULL when not there */
/* finds or makes it; NULL when the table is full */
struct slot *slots_take(struct slots *slots, uint64_t session);
/* closes all that it holds and frees the place; it must have no pid */
void slots_release(struct slots *slots, struct slot *slot);
struct slot *slots_by_pid(struct slots *slots, pid_t pid);
/* 0: it has none any more; set the pidfd, if any, before */
void slots_set_pid(struct slots *slots, struct slot *slot, pid_t pid);
/* in the order of places; begin with NULL, which also ends it */
struct slot *slots_next(struct slots *slots, struct slot *after);
/* the slot may be released meanwhile */
#define SLOTS_EACH(slots, slot) \
    for (struct slot *slot = slots_next(slots, NULL); slot; slot = slots_next(slots, slot))
int slots_place(const struct slots *slots, const struct slot *slot);
void slot_close_fds(struct slot *slot);

/* The queue of slots with a message for the worker. */
void slots_owe(struct slots *slots, struct slot *slot, int what);
struct slot *slots_first_owing(struct slots *slots);
void slots_paid(struct slots *slots); /* the first one leaves the queue */
/* empties it: the hand-over tells a new worker everything */
void slots_forgive(struct slots *slots);
#endif
