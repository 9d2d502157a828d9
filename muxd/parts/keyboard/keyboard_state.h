/* keyboard_state: the keyboard of a session as its files share it: who holds it (keyboard.c), who
 * waits for it and is told (keyboard_turn.c), and what is staged for it (secret.c). */
#ifndef MUXD_PARTS_KEYBOARD_STATE_H
#define MUXD_PARTS_KEYBOARD_STATE_H
#include "parts/keyboard/keyboard.h"
#include "session/internal.h"

struct staged; /* secret.c */
struct keyboards { /* of the registry */
    const struct keyboard_told *told;
};

struct keyboard {
    struct session *session;
    enum keyboard_holder_kind kind;
    uid_t uid;
    pid_t pid;
    uint64_t peer;
    char client[40];
    int64_t since_real_ms, last_boot_ms;
    /* who held it before the restart has until then; 0: nobody is waited for */
    int64_t return_by_boot_ms;
    struct loop_timer idle;    /* while a person has it */
    struct staged *staged;     /* secret.c; owned; NULL: none */
    bool staged_lost;          /* there was one before the restart */
    /* keyboard_turn.c */
    struct list watches, turns;
    unsigned secret_watches, nstaged;
    unsigned events;       /* to be told at the end of this turn */
    struct deferred told;
    uint64_t seen_head, seen_tail; /* output and input when it was last looked at */
    bool due, in_secret;   /* ask whether it reads a secret; it does, and that was told */
    struct loop_timer pause;
};

struct keyboard *keyboard_of(const struct session *session); /* NULL while nobody asks */
struct keyboard *keyboard_get(struct session *session);      /* made when there is none */
const struct keyboard_told *keyboard_told_of(const struct session *session);
void keyboard_settle(struct keyboard *keyboard);         /* whose time is over holds it no more */
/* keyboard_turn.c */
void keyboard_turns_init(struct keyboard *keyboard);
void keyboard_turns_free(struct keyboard *keyboard);
void keyboard_turns_look(struct keyboard *keyboard); /* the end of a turn is there */
void keyboard_want_secrets(struct session *session, bool wanted); /* a secret is staged */
/* a secret was typed: the next prompt is another one */
void keyboard_answered(struct session *session);
void keyboard_tell(struct session *session, unsigned events);
/* secret.c */
void secret_take_over(struct session *session); /* a predecessor's session */
/* the program waits for input. True: it was for the staged one, which is typed */
bool secret_prompt(struct session *session);
void secret_hold(const struct session *session, int fds[]); /* for the keeper */
void secret_free(struct keyboard *keyboard);
#endif
