/* owner: who has a session's keyboard: nobody, an agent (they share it), or a person, whose key press takes it at once and who keeps it
 * until it is given back: by a key, by leaving, or by [defaults] keyboard_idle. It stands in the journal: after a restart of the worker a
 * person keeps it for as long as it takes to come back. */
#ifndef MUXD_SESSION_OWNER_H
#define MUXD_SESSION_OWNER_H
#include "session/input.h"
#include "session/part.h"

struct owner_turn;
struct registry;

enum owner_kind { OWNER_NOBODY, OWNER_AGENT, OWNER_PERSON };
struct owner_state {
    enum owner_kind kind;
    uid_t uid;
    pid_t pid;
    uint64_t peer;      /* 0: none, or not come back yet */
    const char *client; /* "": not told. Borrowed until the end of the turn */
    int64_t since_real_ms;
};
void owner_get(struct session *session, struct owner_state *state); /* as it is now: whose time is over has it no more */
const char *owner_word(enum owner_kind kind); /* "nobody", "agent", "person" */

void owner_joined(struct session *session, const struct author *author); /* attached; one who held it before a restart holds on */
void owner_take(struct session *session, const struct author *author);
bool owner_give(struct session *session, const struct author *author); /* false: it was not theirs, and stays */
void owner_left(struct session *session, uint64_t peer);               /* detached or vanished */
/* A key press of a person, or a write of an agent that may. */
void owner_typed(struct session *session, const struct author *author);
/* 0 or ERR_KEYBOARD_HELD with who and since when. */
int owner_check(struct session *session, const struct author *author, struct err *err);

enum owner_event {
    OWNER_CHANGED = 1, /* owner_get says who */
    OWNER_SECRET = 2,  /* the program reads a secret */
    OWNER_WANTED = 4,  /* an agent was refused, or waits, because a person holds it */
    OWNER_INPUT = 8    /* the input log has more */
};
struct owner_watch;
typedef void owner_watch_fn(void *arg, unsigned events);
/* Told of the events in `wanted` at the end of a turn, never from inside a call. The watch is silent once the session is gone. */
struct owner_watch *owner_watch(struct session *session, unsigned wanted, owner_watch_fn *fn, void *arg);
void owner_unwatch(struct owner_watch *watch); /* NULL is fine */

/* A writer's turn: once the program has read for the first time ([defaults] hold) and, with `keyboard`, no person holds the keyboard. In
 * the order of asking. fn is called once, at the end of a turn, with granted false at the deadline; the session may be gone by then. */
typedef void owner_turn_fn(void *arg, bool granted);
struct owner_turn *owner_wait(struct session *session, bool keyboard, int64_t deadline_ns, owner_turn_fn *fn, void *arg);
/* The turn of input that waits for `room` bytes of its queue, in the order of asking. fn is told false at the deadline, and when there is
 * output beyond read_to, for which the program may wait to be read (UINT64_MAX: that does not count). */
struct owner_turn *owner_wait_room(struct session *session, size_t room, uint64_t read_to, int64_t deadline_ns, owner_turn_fn *fn,
                                   void *arg);
void owner_wait_cancel(struct owner_turn *turn); /* NULL is fine */

/* Told at once. */
struct keyboard_told {
    void (*changed)(struct session *session);     /* somebody else has it, or nobody: owner_get says who */
    void (*secret_lost)(struct session *session); /* one was staged, and the worker that kept it is gone */
};
void keyboard_join(struct registry *registry, const struct keyboard_told *told); /* borrowed, outlives the registry */
extern const struct part keyboard_part;
#endif
