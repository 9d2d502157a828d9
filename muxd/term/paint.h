/* paint: makes a person's terminal show what a screen shows, with as few bytes as it takes. It
 * remembers what that terminal shows, so it may be called as rarely as the caller likes: states
 * between two calls are never sent. Of what a program wrote only characters, colours, the title and
 * the modes below reach the terminal, and what paint_pass allows: no queries, no replies that the
 * terminal would type. No fd, no clock. The terminal must be in its own alternate screen with
 * autowrap off, and only paint may write to it. */
#ifndef MUXD_TERM_PAINT_H
#define MUXD_TERM_PAINT_H
#include "base/buf.h"
#include "term/fold.h"
#include "term/screen.h"

#define PAINT_CELLS_MAX 300000      /* of a terminal; cells beyond stay blank */
/* of one drawing, roughly: it stops after the line that reaches this */
#define PAINT_BYTES (64u << 10)
#define PAINT_BYTES_MAX (192u << 10) /* of one drawing, never more */

struct paint;

struct paint *paint_new(int rows, int cols);
/* What passes to the terminal beside the drawing; nothing before this call, and all colours. */
struct paint_pass {
    enum fold fold;
    bool bell;   /* one for all since the last drawing */
    bool copies; /* what programs put into the clipboard, the last one */
    bool links;
    bool wheel;  /* it is reported where the program has not asked for the mouse */
    bool cursor; /* the colour that the program has given it; the terminal knows OSC 12 and 112 */
};
void paint_pass(struct paint *paint, const struct paint_pass *pass);
void paint_free(struct paint *paint); /* NULL is fine */
/* the terminal has another size: all is drawn again */
void paint_resize(struct paint *paint, int rows, int cols);
/* what it shows is unknown: all is drawn again */
void paint_forget(struct paint *paint);
int paint_rows(const struct paint *paint);
int paint_cols(const struct paint *paint);
/* Appends the bytes that make the terminal show the screen, none when it does. Of a larger screen
 * it shows the part with the cursor. False: the drawing is not whole; call again when these bytes
 * were taken. */
bool paint_draw(struct paint *paint, const struct screen *screen, struct buf *out);
/* The first of `count` rows of the terminal, below each other, that the program doesn't use and the
 * cursor is not in: the lowest ones. Where all are in use: those farther from it, at the top or
 * at the bottom. */
int paint_free_rows(const struct paint *paint, const struct screen *screen, int count);
/* The rows of the terminal that hold the cursor's line, from 0: of a long line those near the
 * cursor. */
void paint_prompt_rows(const struct paint *paint, const struct screen *screen, int *first,
                       int *last);
#endif
