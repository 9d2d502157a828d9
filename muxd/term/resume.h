/* resume: the bytes that bring a fresh terminal of the same size to a screen's state, so that what
 * the program writes next has the same effect there: both screens' lines, margins, modes, character
 * sets, the pen, the saved cursor and the cursor. For recordings that begin in the middle. The
 * scrollback and the tab stops are left out. */
#ifndef MUXD_TERM_RESUME_H
#define MUXD_TERM_RESUME_H
#include "base/buf.h"
#include "term/screen.h"

/* Appends to out. The terminal must be in its state after reset. */
void resume_draw(const struct screen *screen, struct buf *out);
#endif
