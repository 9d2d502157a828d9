/* resume: brings a fresh terminal of the same size to where a screen is, so that what the program
 * writes next has the effect that it had there: both screens' lines, margins, modes, character
 * sets, the pen, the saved cursor and the cursor. For recordings that begin in the middle. Not what
 * scrolled off, nor where tabs stop. */
#ifndef MUXD_TERM_RESUME_H
#define MUXD_TERM_RESUME_H
#include "base/buf.h"
#include "term/screen.h"

/* Appends to out. The terminal must be as after a reset. */
void resume_draw(const struct screen *screen, struct buf *out);
#endif
