/* view: a session's screen model, made when a viewer comes and not before. It is fed from the
 * journal, a piece each turn until it has caught up, and then follows for as long as it has
 * viewers. Without viewers it stays for a while, and goes earlier when models take too much
 * memory. PTY sessions only. */
#ifndef MUXD_PARTS_VIEW_H
#define MUXD_PARTS_VIEW_H
#include "session/part.h"
#include "session/session.h"
#include "term/screen.h"

enum watch_event {
    /* the model is up to date: for the first time, or with a possible change */
    WATCH_CHANGED = 1,
    WATCH_ENDED = 2, /* the program has ended, and the model shows all of its output */
    WATCH_GONE = 4,  /* the session was removed: only watch_cancel may follow */
    /* watch_follow only: the model shows more, but for a while the program has printed faster
     * than the model could be fed */
    WATCH_BEHIND = 8
};
struct watch;
/* events: one or several of enum watch_event. Called at the end of a turn, never from inside
 * session_watch. */
typedef void watch_fn(void *arg, unsigned events);

/* A viewer comes. NULL and err: ERR_NOT_AVAILABLE on pipes, ERR_LIMIT (watches count among
 * [limits] waits). */
struct watch *session_watch(struct session *session, watch_fn *fn, void *arg, struct err *err);
void watch_cancel(struct watch *watch); /* NULL is fine; also inside its callback */
/* NULL until the first WATCH_CHANGED, and after WATCH_GONE. Borrowed until the end of the turn. */
const struct screen *watch_screen(const struct watch *watch);
/* the screen shows the output up to here; 0 after WATCH_GONE */
uint64_t watch_offset(const struct watch *watch);
/* For people, who prefer a screen of a moment ago to none while output floods: from the first
 * WATCH_CHANGED until WATCH_GONE watch_screen is never NULL. */
void watch_follow(struct watch *watch);

/* A viewer that can't show anything now (its terminal takes no data, or a drawing was just made)
 * rests: it is told nothing but WATCH_GONE, and while all viewers rest the model isn't fed, so
 * that output costs nothing. A viewer that wakes is told of what it has missed; with tell_anyway
 * also if it has missed nothing. Both calls are fine at any time. */
void watch_rest(struct watch *watch);
void watch_wake(struct watch *watch, bool tell_anyway);

extern const struct part view_part; /* answers the terminal's queries, too (queries.h) */
/* The size of the terminal's cells, in pixels. Like rows and columns it stays when its terminal
 * has gone. */
void session_set_cell(struct session *session, int height, int width);
#endif
