/* descendants: which processes belong to a session, by the mark that every program of it starts
 * with (sys/mark.h). What lies above the core asks through registry.h and session.h; this is for
 * the room itself and for the part that ends sessions. */
#ifndef MUXD_SESSION_DESCENDANTS_H
#define MUXD_SESSION_DESCENDANTS_H
#include "base/list.h"
#include "keep/plan.h"
#include "session/registry.h"
#include "sys/mark.h"
#include <stdatomic.h>

/* Before any part and any session. state_dir: where the mark is kept for a later daemon. */
void descendants_init(struct registry *registry, const char *state_dir);
void descendants_fini(struct registry *registry); /* after all of them; waits for a pass */
/* Once there is a place that outlives this worker: a predecessor's word, if there is one, replaces
 * the one of the file. */
void descendants_begin(struct registry *registry, _Atomic uint32_t *kept);
void descendants_turn_end(struct registry *registry);
unsigned descendants_passes(const struct registry *registry); /* over all of /proc, so far */
/* The limits that a program is to be started with. Returns how many: fewer, or 0, when there is no
 * room for marks. */
#define DESCENDANTS_LIMITS 2
size_t descendants_plan(const struct registry *registry, uint64_t number,
                        struct plan_limit out[DESCENDANTS_LIMITS]);
const struct mark *descendants_mark(const struct registry *registry);

/* All processes that bear a mark of this daemon, now. Lent until the end of the turn; a pass over
 * /proc in the loop, at most one a turn. */
const struct bearers *descendants_now(struct registry *registry);
/* Those whose session the registry does not have. Lent until the end of the turn; costs nothing
 * while there are none. */
const struct bearers *descendants_left(struct registry *registry);
bool descendants_is_left(struct registry *registry, const struct bearer *bearer);
void descendants_forget(struct session *session); /* it leaves the registry; its processes stay */
/* None is alive. The session has ended, so there will be none: nobody looks again. */
void descendants_are_gone(struct session *session);
/* A confined program has ended, and nobody is left that could write: bubblewrap's own process holds
 * its output open until it has taken its mounts apart. False: somebody is, or it is not known. */
bool descendants_deserted(struct session *session);
/* The keeper, to which orphans fall. */
pid_t descendants_reaper(const struct registry *registry);
/* The leader of a session whose keeper died before it could tell who that is; 0: none. *pidfd is
 * the caller's. */
pid_t descendants_find_leader(struct session *session, int *pidfd);

/* A program can shed its mark by setting another limit. When its parents end, too, nothing connects
 * it with its session but that it falls to the keeper. Adds to `out` those children of the keeper
 * that have shed a mark and, as far as can be proven, belong to this session: no other session can
 * have started it, or it is in a kernel session with one of `known`, or its standard input and
 * output are those of the session. For the loop's thread. */
void descendants_orphans(struct session *session, const struct bearers *known, struct bearers *out);
/* All that are nobody's, when no session is left. They are given the number MARK_NONE. */
void descendants_all_orphans(struct registry *registry, struct bearers *out);

/* Asking for passes in a thread, which many may share. */
struct descendants_ask { /* embedded in its owner; zero it, list_init its link */
    struct list link;
    uint64_t number;
    bool stop; /* who is found is stopped (SIGSTOP), until two passes have found nobody new */
    void (*fn)(void *arg, const struct bearer *all, size_t count); /* lent for the call */
    void *arg;
};
/* fn is told, in a later turn, of passes that begin after this; it takes the place of what the same
 * ask is still waiting for. */
void descendants_ask(struct registry *registry, struct descendants_ask *ask);
void descendants_drop(struct descendants_ask *ask); /* fine when it waits for nothing */
#endif
