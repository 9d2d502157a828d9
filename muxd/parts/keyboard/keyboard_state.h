/* keyboard_state: the keyboard of a session as the files of this room share it: who holds it
 * (keyboard.c), who waits for it and who is told (keyboard_turn.c), which secret is staged for
 * it (secret.c). */
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
    /* the person who held it before the restart may come back until then; 0: no one is waited
     * for */
    int64_t return_by_boot_ms;
    struct loop_timer idle;    /* while a person holds it */
    struct staged *staged;     /* secret.c; owned; NULL: none */
    bool staged_lost;          /* one was staged before the restart */
    /* keyboard_turn.c */
    struct list watches, turns;
    unsigned secret_watches, nstaged;
    unsigned events;       /* those to be told at the end of this turn */
    struct deferred told;
    uint64_t seen_head, seen_tail; /* the ends of output and input at the last look */
    /* due: ask whether the program reads a secret; in_secret: it does, and that was told */
    bool due, in_secret;
    struct loop_timer pause;
};

struct keyboard *keyboard_of(const struct session *session); /* NULL: no one has asked for it yet */
struct keyboard *keyboard_get(struct session *session);      /* made when there is none */
const struct keyboard_told *keyboard_told_of(const struct session *session);
void keyboard_settle(struct keyboard *keyboard); /* frees it when the holder's time is over */
/* keyboard_turn.c */
void keyboard_turns_init(struct keyboard *keyboard);
void keyboard_turns_free(struct keyboard *keyboard);
void keyboard_turns_look(struct keyboard *keyboard); /* at the end of a turn */
/* a secret was staged, or is no longer */
void keyboard_want_secrets(struct session *session, bool wanted);
/* A secret was typed: the next prompt is a new one. */
void keyboard_answered(struct session *session);
void keyboard_tell(struct session *session, unsigned events);
/* secret.c */
void secret_take_over(struct session *session); /* of a predecessor's session */
/* The program waits for input. True: it waited for the staged secret, which is typed. */
bool secret_prompt(struct session *session);
void secret_hold(const struct session *session, int fds[]); /* gives its descriptor to the keeper */
void secret_free(struct keyboard *keyboard);
#endif
