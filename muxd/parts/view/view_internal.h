/* view_internal: a view's insides, shared by view.c (who looks) and view_feed.c (the model and how
 * far it has come). */
#ifndef MUXD_PARTS_VIEW_INTERNAL_H
#define MUXD_PARTS_VIEW_INTERNAL_H
#include "parts/view/view.h"
#include "session/internal.h"

#define VIEW_SIZES 64 /* changes of size that are remembered with their place in the output */

struct view_size {
    uint64_t offset; /* from here on */
    int rows, cols;
};

struct views { /* of the registry */
    struct list used;    /* those with a screen, the most recently used last */
    uint64_t feed_turn;  /* view_feed.c: the last turn in which models were fed, */
    int64_t fed_ns;      /* and what that has taken */
};

struct terminal { /* of a session */
    struct view *view;           /* owned; NULL while nobody has looked at the screen */
    struct queries *queries; /* owned; NULL while it has not answered anything */
    uint64_t scanned_head;       /* journal_head when its output was last searched for queries */
};
struct terminal *terminal_get(struct session *session); /* made when there is none */

struct view {
    struct session *session;
    struct list link;      /* views.used; only with a screen */
    struct screen *screen; /* NULL: nobody looks */
    uint64_t at;           /* output offset up to which it was fed */
    /* it must not go further in this look: that is where somebody wants to know the cursor.
     * UINT64_MAX: nobody */
    uint64_t ask;
    bool asked;            /* and waits for that */
    bool caught_up;
    /* since when it has not caught up, or its followers were told so; 0: it has */
    int64_t behind_ns;
    struct list watches;
    unsigned awake; /* of the watches */
    struct loop_timer more, idle;
    struct view_size sizes[VIEW_SIZES]; /* [0] holds from the beginning */
    size_t size_count, sizes_done;      /* known; in force in the screen */
};

void view_note_size(struct view *view, int rows, int cols); /* from the head of the output on */
void view_begin(struct view *view);                         /* a blank screen, fed with nothing */
/* Feeds up to limit, or as much as this turn allows. True: it is there; false: set view->more, and
 * go on then. */
bool view_feed(struct view *view, uint64_t limit);
/* 1: where the cursor was when the output had come to offset, from 1; when the model is further
 * already, where it is now. 0: the model must be fed with more than a turn allows, and stops there:
 * ask again in the session's next look, which will come. -1: no terminal. */
int view_cursor_at(struct session *session, uint64_t offset, int *row, int *col);
#endif
