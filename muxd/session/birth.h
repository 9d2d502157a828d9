/* birth: a session between its making and its start: what spawn.c has made of it, and sandbox.c
 * holds back while a sandbox is being tried. */
#ifndef MUXD_SESSION_BIRTH_H
#define MUXD_SESSION_BIRTH_H
#include "session/internal.h"

struct birth { /* what a new session is made of, until the session owns it */
    uint64_t number;
    char name[JOURNAL_NAME_MAX + 1];
    struct journal *journal;
    int fds[KEEP_FD_COUNT]; /* ours, but for the journal's, which the journal owns */
    int stdio[3];           /* the child's ends */
    int plan;
    bool waits;             /* for the trial of its sandbox: it has no plan yet */
};

/* spawn.c */
int birth_plan(struct registry *registry, const struct session_spec *spec, struct birth *birth,
               struct err *err);
/* to the keeper, with the child's ends and the plan, which birth no longer has then */
void birth_hand_over(struct registry *registry, struct birth *birth);
void birth_close_child(struct birth *birth); /* the child's ends and the plan */

/* sandbox_held.c */
/* Takes what the child needs out of birth, and starts it, or tells why not, after the trial. */
void sandbox_hold(struct registry *registry, const struct session_spec *spec, struct birth *birth);
#endif
