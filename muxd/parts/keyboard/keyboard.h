/* keyboard: who has a session's keyboard: nobody, an agent (they share it), or a person, whose key
 * press takes it at once and who keeps it until it is given back: by a key, by leaving, or by
 * [defaults] keyboard_idle. It stands in the journal: after a restart of the worker a person keeps
 * it for as long as it takes to come back. */
#ifndef MUXD_PARTS_KEYBOARD_H
#define MUXD_PARTS_KEYBOARD_H
#include "session/input.h"
#include "session/part.h"

struct keyboard_turn;
struct registry;

enum keyboard_holder_kind { HOLDER_NOBODY, HOLDER_AGENT, HOLDER_PERSON };
struct keyboard_holder {
    enum keyboard_holder_kind kind;
    uid_t uid;
    pid_t pid;
    uint64_t peer;      /* 0: none, or not come back yet */
    const char *client; /* "": not told. Borrowed until the end of the turn */
    int64_t since_real_ms;
};
/* as it is now: whose time is over has it no more */
void keyboard_holder_get(struct session *session, struct keyboard_holder *state);
const char *keyboard_holder_word(enum keyboard_holder_kind kind); /* "nobody", "agent", "person" */

/* attached; one who held it before a restart holds on */
void keyboard_joined(struct session *session, const struct author *author);
void keyboard_take(struct session *session, const struct author *author);
/* false: it was not theirs, and stays */
bool keyboard_give(struct session *session, const struct author *author);
void keyboard_left(struct session *session, uint64_t peer);               /* detached or vanished */
/* A key press of a person, or a write of an agent that may. */
void keyboard_typed(struct session *session, const struct author *author);
/* 0 or ERR_KEYBOARD_HELD with who and since when. */
int keyboard_check(struct session *session, const struct author *author, struct err *err);

enum keyboard_event {
    KEYBOARD_CHANGED = 1, /* keyboard_holder_get says who */
    KEYBOARD_SECRET = 2,  /* the program reads a secret */
    KEYBOARD_WANTED = 4,  /* an agent was refused, or waits, because a person holds it */
    KEYBOARD_INPUT = 8    /* the input log has more */
};
struct keyboard_watch;
typedef void keyboard_watch_fn(void *arg, unsigned events);
/* Told of the events in `wanted` at the end of a turn, never from inside a call. The watch is
 * silent once the session is gone. */
struct keyboard_watch *keyboard_watch(struct session *session, unsigned wanted,
                                      keyboard_watch_fn *fn, void *arg);
void keyboard_unwatch(struct keyboard_watch *watch); /* NULL is fine */

/* A writer's turn: once the program has read for the first time ([defaults] hold) and, with
 * `keyboard`, no person holds the keyboard. In the order of asking. fn is called once, at the end
 * of a turn, with granted false at the deadline; the session may be gone by then. */
typedef void keyboard_turn_fn(void *arg, bool granted);
struct keyboard_turn *keyboard_wait(struct session *session, bool keyboard, int64_t deadline_ns,
                                    keyboard_turn_fn *fn, void *arg);
/* The turn of input that waits for `room` bytes of its queue, in the order of asking. fn is told
 * false at the deadline, and when there is output beyond read_to, for which the program may wait to
 * be read (UINT64_MAX: that does not count). */
struct keyboard_turn *keyboard_wait_room(struct session *session, size_t room, uint64_t read_to,
                                         int64_t deadline_ns, keyboard_turn_fn *fn, void *arg);
void keyboard_wait_cancel(struct keyboard_turn *turn); /* NULL is fine */

/* Told at once. */
struct keyboard_told {
    /* somebody else has it, or nobody: keyboard_holder_get says who */
    void (*changed)(struct session *session);
    /* one was staged, and the worker that kept it is gone */
    void (*secret_lost)(struct session *session);
};
/* borrowed, outlives the registry */
void keyboard_join(struct registry *registry, const struct keyboard_told *told);
extern const struct part keyboard_part;
#endif
