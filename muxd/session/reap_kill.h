/* reap_kill: the end of one session, between its two files: the ladder (reap_kill.c) and the hunt
 * (reap_hunt.c). */
#ifndef MUXD_SESSION_REAP_KILL_H
#define MUXD_SESSION_REAP_KILL_H
#include "session/reap.h"
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
#define KILL_MAX_MS                                                                                \
    5000 /* who survives SIGKILL for this long sleeps in the kernel: it is counted and left */
#define KILL_DENIED_MS                                                                             \
    500 /* for those who may not be signalled, once their terminal and the others are gone */

struct cgroup;
struct kill {
    struct list link; /* of the registry */
    struct registry *registry;
    uint64_t number;
    struct session *session; /* NULL: there is none under that number, only what it has left */
    enum kill_stage stage;
    struct list askers;
    struct loop_timer timer;
    struct reap_ask ask;
    struct bearers hunted; /* who was found last */
    struct bearers
        strays; /* who has shed the mark and was known by its parent, which may be dead by now */
    struct cgroup
        *cgroup; /* where the hunted are put, so that what they fork dies with them; NULL: none */
    int64_t until_ms; /* of the stage; CLOCK_MONOTONIC by the loop */
    int64_t pause_ms;
    bool hard;   /* no graces */
    bool denied; /* what is left of time is short, as the kernel refuses the signals */
};

int64_t kill_now_ms(const struct kill *kill);
int64_t kill_grace_ms(const struct kill *kill);
void kill_finish(struct kill *kill); /* who asked for it is told; it is freed */
/* What the row of this part does. */
/* there is a process now: what was asked for before is done */
void kill_started(struct session *session);
void kill_leader_ended(struct session *session); /* drained: the hunt for what it left begins */
/* it goes or was never there: who waits for its death is told */
void kill_forget(struct session *session);
bool kill_wants_leader(const struct session *session); /* its exit must not be acknowledged yet */
void kill_fini(struct registry *registry); /* all that are under way: who waits for them is told */

/* For all who bear the session's mark: SIGTERM and a grace first, unless it is a hard kill. Ends by
 * kill_finish. */
void hunt_begin(struct kill *kill);
void hunt_on_timer(struct kill *kill);
void hunt_on_found(void *kill, const struct bearer *all, size_t count); /* of kill->ask */
void hunt_count_survivors(const struct kill *kill, struct kill_result *result);
#endif
