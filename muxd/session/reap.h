/* reap: which processes belong to a session, by the mark that every program of it starts with
 * (sys/mark.h), and the end of all of them. What the rest of the house calls stands in registry.h
 * and session.h; this is for the room itself. */
#ifndef MUXD_SESSION_REAP_H
#define MUXD_SESSION_REAP_H
#include "keep/plan.h"
#include "base/list.h"
#include "session/registry.h"
#include "sys/mark.h"
#include <stdatomic.h>

struct reap;
/* Before anything else of this room is called. */
void reap_init(struct registry *registry, const char *state_dir);
void reap_fini(struct registry *registry);
/* Once there is a place that outlives this worker: a predecessor's word, if there is one, takes the
 * place of the file's. */
void reap_begin(struct registry *registry, _Atomic uint32_t *kept);
void reap_turn_end(struct registry *registry);
unsigned reap_passes(const struct registry *registry); /* over all of /proc, so far */
/* The limit that a program is to be started with; how many: 0 (there is no room for marks) or 1. */
size_t reap_plan(const struct registry *registry, uint64_t number, struct plan_limit *out);
const struct mark *reap_mark(const struct registry *registry);

/* Everybody, now. Lent until the end of the turn; a pass over /proc in the loop, one a turn for all
 * who ask. */
const struct bearers *reap_now(struct registry *registry);
/* Those of no session that the registry has. Lent until the end of the turn; costs nothing while
 * there are none. */
const struct bearers *reap_left(struct registry *registry);
bool reap_is_left(struct registry *registry, const struct bearer *bearer);
void reap_removed(const struct session *session);   /* it goes; what it has left stays */
pid_t reap_reaper(const struct registry *registry); /* the keeper, to whom orphans fall */
/* The leader of a session whose keeper died before it could tell who that is; 0: none. *pidfd is
 * the caller's. */
pid_t reap_find_leader(struct session *session, int *pidfd);
extern const struct part reap_part; /* reap_kill.c */

/* Asking for passes in a thread, which many may share: reap.c for reap_kill.c. */
struct reap_ask { /* embedded in its owner; zero it, list_init its link */
    struct list link;
    uint64_t number;
    bool stop; /* who is found is stopped (SIGSTOP), until two passes have found nobody new */
    void (*fn)(void *arg, const struct bearer *all, size_t count); /* lent for the call */
    void *arg;
};
/* fn is told, in a later turn, of passes that begin after this; it takes the place of what the same
 * ask is still waiting for. */
void reap_ask(struct registry *registry, struct reap_ask *ask);
void reap_drop(struct reap_ask *ask); /* fine when it waits for nothing */
#endif
