/* owner_state: the keyboard of a session as its two files share it: who holds it (owner.c), who waits for it and is told (owner_turn.c). */
#ifndef MUXD_SESSION_OWNER_STATE_H
#define MUXD_SESSION_OWNER_STATE_H
#include "session/internal.h"
#include "session/owner.h"

struct keyboard {
    struct session *session;
    enum owner_kind kind;
    uid_t uid;
    pid_t pid;
    uint64_t peer;
    char client[40];
    int64_t since_real_ms, last_boot_ms;
    int64_t return_by_boot_ms; /* who held it before the restart has until then; 0: nobody is waited for */
    struct loop_timer idle;    /* while somebody wants to know when it comes free */
    /* owner_turn.c */
    struct list watches, turns;
    unsigned secret_watches, staged;
    unsigned events;       /* to be told at the end of this turn */
    struct deferred told;
    uint64_t seen_head, seen_tail; /* output and input when it was last looked at */
    bool due, in_secret;   /* ask whether it reads a secret; it does, and that was told */
    struct loop_timer pause;
};

struct keyboard *keyboard_get(struct session *session);  /* made when there is none */
void keyboard_settle(struct keyboard *keyboard);         /* whose time is over holds it no more */
/* owner_turn.c */
void keyboard_turns_init(struct keyboard *keyboard);
void keyboard_turns_free(struct keyboard *keyboard);
#endif
