/* reap_kill: one kill under way, between the two files of this part: the ladder (reap.c) and the
 * hunt (reap_hunt.c). */
#ifndef MUXD_PARTS_REAP_KILL_H
#define MUXD_PARTS_REAP_KILL_H
#include "parts/reap/reap.h"
#include "session/descendants.h"
#include "sys/loop.h"

enum kill_stage {
    KILL_WAITS_FOR_PID,
    KILL_HUP,
    KILL_TERM,
    KILL_KILL,
    KILL_HUNT_TERM,
    KILL_HUNT_KILL
};

#define KILL_PAUSE_FIRST_MS 1
#define KILL_PAUSE_LAST_MS 50
/* A process that survives SIGKILL for this long sleeps in the kernel: it is counted and left. */
#define KILL_MAX_MS 5000
/* for those who may not be signalled, once their terminal and the others are gone */
#define KILL_DENIED_MS 500

struct reap { /* of the registry */
    struct list kills;          /* that are under way */
    bool swept;                 /* a stop has looked for what is nobody's */
    struct reap_result stopped; /* who has survived the stop */
};

struct cgroup;
struct kill {
    struct list link; /* of all that are under way */
    struct registry *registry;
    uint64_t number;
    struct session *session; /* NULL: there is none of that number, only what it has left */
    enum kill_stage stage;
    struct list askers;
    struct loop_timer timer;
    struct descendants_ask ask;
    struct bearers hunted; /* who was found last */
    /* those that have shed the mark and were known by a parent that may be dead by now */
    struct bearers strays;
    /* where the hunted are put, so that what they fork dies with them; NULL: none */
    struct cgroup *cgroup;
    /* End of the stage, by CLOCK_MONOTONIC; 0: its signals were not sent yet. On a busy machine a
     * pass may take longer than any grace, so time counts from the signals on. */
    int64_t until_ms;
    int64_t pause_ms;
    bool hard;   /* no graces */
    bool denied; /* the kernel refuses the signals: until_ms was shortened */
    bool last;   /* the time is over: one more pass, and SIGKILL for whom it finds */
};

bool kill_is_late(const struct kill *kill); /* its stage is over */
void kill_set_until(struct kill *kill, int64_t ms); /* from now, unless it is set */
void kill_wait(struct kill *kill, int64_t ms);      /* the timer, from now */
int64_t kill_grace_ms(const struct kill *kill);
struct reap *reap_of(const struct registry *registry);
struct kill *kill_of(const struct session *session); /* NULL: it is not being ended */
struct kill *kill_new(struct registry *registry, uint64_t number);
void kill_add_asker(struct kill *kill, reap_fn *fn, void *arg);
/* Tells one that waits for no kill, at the end of the turn; fn may be NULL. */
void kill_tell(struct registry *registry, reap_fn *fn, void *arg, const struct reap_result *result);
struct reap_result kill_result_of(const struct session *session);
/* Tells those who asked how far it came, and frees it. */
void kill_drop(struct kill *kill);
void kill_on_timer(void *kill); /* of kill->timer */
/* At a stop, when all sessions have been ended: ends those that have shed their mark and lost their
 * parents. Else nothing. */
void reap_sweep(struct registry *registry);
/* The kernel refuses the signals to all that are left: they get a shorter time, and their terminal
 * is closed. */
void kill_deny(struct kill *kill);
/* Signals the leader, its group, and who is in the foreground of its terminal. 0, or the negative
 * errno of the leader's signal. */
int groups_signal(struct session *session, int signo);
/* The hunt is over: tells those who asked, and frees it. */
void kill_finish(struct kill *kill);

/* For all that bear the session's mark: SIGTERM and a grace first, unless it is a hard kill. Ends
 * by kill_finish. */
void hunt_begin(struct kill *kill);
void hunt_on_timer(struct kill *kill);
void hunt_on_found(void *kill, const struct bearer *all, size_t count); /* of kill->ask */
void hunt_count_survivors(const struct kill *kill, struct reap_result *result);
#endif
