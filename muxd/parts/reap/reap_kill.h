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
/* a process that survives SIGKILL for this long sleeps in the kernel: it is counted and left */
#define KILL_MAX_MS 5000
/* for those who may not be signalled, once their terminal and the others are gone */
#define KILL_DENIED_MS 500

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
    int64_t until_ms; /* of the stage; CLOCK_MONOTONIC by the loop */
    int64_t pause_ms;
    bool hard;   /* no graces */
    bool denied; /* the kernel refuses the signals: until_ms was shortened */
};

int64_t kill_now_ms(const struct kill *kill);
int64_t kill_grace_ms(const struct kill *kill);
/* The hunt is over: tells those who asked, and frees it. */
void kill_finish(struct kill *kill);

/* For all that bear the session's mark: SIGTERM and a grace first, unless it is a hard kill. Ends
 * by kill_finish. */
void hunt_begin(struct kill *kill);
void hunt_on_timer(struct kill *kill);
void hunt_on_found(void *kill, const struct bearer *all, size_t count); /* of kill->ask */
void hunt_count_survivors(const struct kill *kill, struct reap_result *result);
#endif
