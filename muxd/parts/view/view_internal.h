/* view_internal: the insides of a view, shared by view.c (its viewers) and view_feed.c (the
 * model and its place in the output). */
#ifndef MUXD_PARTS_VIEW_INTERNAL_H
#define MUXD_PARTS_VIEW_INTERNAL_H
#include "parts/view/view.h"
#include "session/internal.h"

#define VIEW_SIZES 64 /* changes of size that are kept with their place in the output */

struct view_size {
    uint64_t offset; /* it holds from here on */
    int rows, cols;
};

struct views { /* of the registry */
    struct list used;    /* those with a screen, the most recently used last */
    uint64_t feed_turn;  /* view_feed.c: the last turn in which models were fed, */
    int64_t fed_ns;      /* and the time that this has taken in it */
};

struct terminal { /* of a session */
    struct view *view;           /* owned; NULL: no viewer has come yet */
    struct queries *queries; /* owned; NULL: no query has come yet */
    struct colours *colours;     /* that its program has set, up to answered_to; NULL: none */
    bool recalled;               /* they are known */
    uint64_t scanned_head;       /* journal_head when its output was last searched for queries */
};
struct terminal *terminal_get(struct session *session); /* made when there is none */

struct view {
    struct session *session;
    struct list link;      /* views.used; only with a screen */
    struct screen *screen; /* NULL: not made, or dropped */
    uint64_t at;           /* it was fed the output up to here */
    /* it must stop here in this look: a query wants the cursor at this place. UINT64_MAX: none */
    uint64_t ask;
    bool asked;            /* a query waits for the cursor at `ask` */
    bool caught_up;
    /* since when it has not caught up, or when its followers were last told so; 0: it has caught
     * up */
    int64_t behind_ns;
    struct list watches;
    unsigned awake; /* watches that do not rest */
    struct loop_timer more, idle;
    struct view_size sizes[VIEW_SIZES]; /* [0] holds from the beginning on */
    size_t size_count, sizes_done;      /* sizes that are known; that the screen has had */
};

/* the size from the head of the output on */
void view_note_size(struct view *view, int rows, int cols);
void view_begin(struct view *view);                         /* makes a blank screen */
/* Feeds up to limit, or as much as this turn allows. True: limit is reached; false: set
 * view->more, and go on then. */
bool view_feed(struct view *view, uint64_t limit);
/* 1: the model at that offset of the output, or as it is now when it is further already. 0: it
 * needs more than this turn allows, and stops at the offset: ask again in the session's next look,
 * which will come. -1: no terminal. */
int view_screen_at(struct session *session, uint64_t offset, const struct screen **screen);
#endif
