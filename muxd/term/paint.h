/* paint: brings a person's terminal to show what a screen shows, with as few bytes as it takes. It
 * remembers what that terminal shows, so it may look as seldom as it likes: what was between two
 * looks is never sent. Nothing that a program wrote reaches the terminal but characters, colours,
 * the title and the modes below: no queries, no clipboard, no answers typed by somebody else. No
 * fd, no clock. The terminal must be in its own alternate screen with autowrap off, and is not used
 * by anybody else. */
#ifndef MUXD_TERM_PAINT_H
#define MUXD_TERM_PAINT_H
#include "base/buf.h"
#include "term/screen.h"

#define PAINT_CELLS_MAX 300000      /* of a terminal; what is beyond stays blank */
/* of one drawing, about: it stops after the line that reaches this */
#define PAINT_BYTES (64u << 10)
#define PAINT_BYTES_MAX (192u << 10) /* of one drawing, never more */

struct paint;

struct paint *paint_new(int rows, int cols);
void paint_free(struct paint *paint); /* NULL is fine */
/* the terminal has changed its size: all is drawn anew */
void paint_resize(struct paint *paint, int rows, int cols);
/* it shows we don't know what: all is drawn anew */
void paint_forget(struct paint *paint);
int paint_rows(const struct paint *paint);
int paint_cols(const struct paint *paint);
/* Appends what changes the terminal to show the screen, nothing when it does. A larger screen is
 * shown in part, with the cursor in it. False: it is not whole yet; go on once these bytes were
 * taken. */
bool paint_draw(struct paint *paint, const struct screen *screen, struct buf *out);
#endif
