/* paint_sent: the bells and copies that a terminal has had, the colour of its cursor, and links as
 * it takes them. */
#ifndef MUXD_TERM_PAINT_SENT_H
#define MUXD_TERM_PAINT_SENT_H
#include "term/paint.h"

struct paint_sent { /* zeroed: nothing was drawn yet, and what came before is never sent */
    bool began;
    uint64_t bells, copies;
    uint32_t cursor; /* its colour; COLOR_DEFAULT: the terminal's own */
};

/* Appends what is new since the last call; fresh: the colour of the cursor again, too. */
void paint_sent_draw(struct paint_sent *sent, const struct paint_pass *pass,
                     const struct screen *screen, bool fresh, struct buf *out);
/* What is written from here on belongs to the link; to none if it is 0 or forgotten, or the drawing
 * is large already: each cell may have a link of 2 kB. */
void paint_sent_link(const struct screen *screen, uint32_t link, struct buf *out);
#endif
