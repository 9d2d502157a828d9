/* paint_modes: the modes, the title and the cursor of a person's terminal as a program has set
 * them; a part of paint. */
#ifndef MUXD_TERM_PAINT_MODES_H
#define MUXD_TERM_PAINT_MODES_H
#include "base/buf.h"
#include "term/screen.h"

struct paint_modes {
    struct screen_modes shown;
    bool known;     /* false: each is set again */
    bool alternate; /* the program shows its alternate screen */
    bool hidden;    /* the cursor, during a drawing */
    bool wheel;     /* it is reported to ue, for the scrolled view */
    char *title;    /* owned; NULL: never set */
    int row, col;   /* of the cursor */
};

void paint_modes_fini(struct paint_modes *modes);
void paint_modes_forget(struct paint_modes *modes);
/* begins a drawing of several lines, which the terminal shows at once */
void paint_modes_begin(struct paint_modes *modes, struct buf *out);
/* Sets what differs from the modes of the screen's program; several: paint_modes_begin was
 * called. wheel: of struct paint_pass. */
void paint_modes_end(struct paint_modes *modes, const struct screen *screen, bool several,
                     bool wheel, struct buf *out);
void paint_modes_cursor(struct paint_modes *modes, int row, int col, bool moved, struct buf *out);
#endif
