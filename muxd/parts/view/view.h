/* view: a session's screen model, made when somebody looks and not before: it is fed from the
 * journal, a piece each turn until it has caught up, then follows as long as somebody watches.
 * Without watchers it stays for a while, and goes earlier when models take too much memory. PTY
 * sessions only. */
#ifndef MUXD_PARTS_VIEW_H
#define MUXD_PARTS_VIEW_H
#include "session/part.h"
#include "session/session.h"
#include "term/screen.h"

enum watch_event {
    /* the model is up to date, for the first time or with something that may look different */
    WATCH_CHANGED = 1,
    WATCH_ENDED = 2, /* the program has ended, and the model shows its last byte */
    WATCH_GONE = 4,  /* the session was removed: only watch_cancel is left to do */
    /* watch_follow only: the model has moved on, but for a while more was printed than it could be
     * fed */
    WATCH_BEHIND = 8
};
struct watch;
/* events: one or several of enum watch_event. Called at the end of a turn, never inside
 * session_watch. */
typedef void watch_fn(void *arg, unsigned events);

/* Somebody looks from now on. NULL and err: ERR_NOT_AVAILABLE on pipes, ERR_LIMIT (watches count
 * among [limits] waits). */
struct watch *session_watch(struct session *session, watch_fn *fn, void *arg, struct err *err);
void watch_cancel(struct watch *watch); /* NULL is fine; also inside its callback */
/* NULL until the first WATCH_CHANGED, and after WATCH_GONE. Borrowed until the end of the turn. */
const struct screen *watch_screen(const struct watch *watch);
/* the screen shows the output up to here; 0 after WATCH_GONE */
uint64_t watch_offset(const struct watch *watch);
/* For people, who would rather see what a flood of output looked like a moment ago than nothing:
 * from the first WATCH_CHANGED on watch_screen is never NULL but after WATCH_GONE. */
void watch_follow(struct watch *watch);

/* It can't show anything now, for its terminal takes nothing or was drawn just now: it is told
 * nothing (but WATCH_GONE), and while all rest the model isn't fed, so that output costs nothing.
 * Once awake it is told of what it has missed; with tell_anyway even if that is nothing. Both are
 * fine at any time. */
void watch_rest(struct watch *watch);
void watch_wake(struct watch *watch, bool tell_anyway);

extern const struct part view_part; /* and the terminal's answers (queries.h) */
#endif
