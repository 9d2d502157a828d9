/* keyboard: who holds a session's keyboard: nobody, agents (who share it), or a person, who
 * takes it with a key press and keeps it until they give it back: by a key, by leaving, or after
 * [defaults] keyboard_idle. The journal has the holder: after a restart of the worker a person
 * who comes back in time still holds it. */
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
    uint64_t peer;      /* 0: none, or not back since the restart */
    const char *client; /* "": not known. Borrowed until the end of the turn */
    int64_t since_real_ms;
};
/* as it is now: a holder whose time is over no longer holds it */
void keyboard_holder_get(struct session *session, struct keyboard_holder *state);
const char *keyboard_holder_word(enum keyboard_holder_kind kind); /* "nobody", "agent", "person" */

/* A person has attached; one who held the keyboard before a restart still holds it. */
void keyboard_joined(struct session *session, const struct author *author);
void keyboard_take(struct session *session, const struct author *author);
/* false: they did not hold it, and nothing changes */
bool keyboard_give(struct session *session, const struct author *author);
void keyboard_left(struct session *session, uint64_t peer); /* detached or disconnected */
/* A person has pressed a key, or an agent that may write has written. */
void keyboard_typed(struct session *session, const struct author *author);
/* 0, or ERR_KEYBOARD_HELD, which says since when. */
int keyboard_check(struct session *session, const struct author *author, struct err *err);

enum keyboard_event {
    KEYBOARD_CHANGED = 1, /* keyboard_holder_get says who */
    KEYBOARD_SECRET = 2,  /* the program reads a secret */
    KEYBOARD_WANTED = 4,  /* an agent was refused or waits, because a person holds it */
    KEYBOARD_INPUT = 8    /* the input log has more */
};
struct keyboard_watch;
typedef void keyboard_watch_fn(void *arg, unsigned events);
/* fn is told of the events in `wanted` at the end of a turn, never from inside a call. It is
 * told nothing more once the session is gone. */
struct keyboard_watch *keyboard_watch(struct session *session, unsigned wanted,
                                      keyboard_watch_fn *fn, void *arg);
void keyboard_unwatch(struct keyboard_watch *watch); /* NULL is fine */

/* Waits for a writer's turn: the program has read for the first time ([defaults] hold) and, with
 * `keyboard`, no person holds the keyboard. Turns come in the order of asking. fn is called
 * once, at the end of a turn, with granted false at the deadline; the session may be gone by
 * then. */
typedef void keyboard_turn_fn(void *arg, bool granted);
struct keyboard_turn *keyboard_wait(struct session *session, bool keyboard, int64_t deadline_ns,
                                    keyboard_turn_fn *fn, void *arg);
/* For who has no time to wait: lets those that wait for the first read go before, and is told right
 * behind them, in this turn. NULL: nobody waits. */
struct keyboard_turn *keyboard_wait_behind(struct session *session, keyboard_turn_fn *fn,
                                           void *arg);
/* Waits, in the order of asking, for `room` bytes of the input queue. fn is told false at the
 * deadline, and when there is output beyond read_to: the program may wait for that to be read
 * (UINT64_MAX: output does not count). */
struct keyboard_turn *keyboard_wait_room(struct session *session, size_t room, uint64_t read_to,
                                         int64_t deadline_ns, keyboard_turn_fn *fn, void *arg);
void keyboard_wait_cancel(struct keyboard_turn *turn); /* NULL is fine */

/* Called at once. */
struct keyboard_told {
    /* it has another holder, or none: keyboard_holder_get says who */
    void (*changed)(struct session *session);
    /* a staged secret was lost with the worker that kept it */
    void (*secret_lost)(struct session *session);
};
/* told: borrowed, outlives the registry */
void keyboard_join(struct registry *registry, const struct keyboard_told *told);
extern const struct part keyboard_part;
#endif
