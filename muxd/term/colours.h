/* colours: those that a program has set itself: of the palette (OSC 4), the text (10), the
 * background (11) and the cursor (12), until it resets them (104, 110 to 112). Sources: xterm
 * ctlseqs; XParseColor(3), without names of colours. */
#ifndef MUXD_TERM_COLOURS_H
#define MUXD_TERM_COLOURS_H
#include "base/buf.h"
#include "wire/pen.h"

enum { COLOURS_TEXT = 256, COLOURS_BACKGROUND, COLOURS_CURSOR, COLOURS_COUNT };

/* A terminal's; NULL: none is set. */
struct colours {
    uint32_t set[COLOURS_COUNT]; /* as in struct pen; COLOR_DEFAULT: not set */
};

/* Obeys the contents of an OSC. *colours is allocated when it is needed, and freed again. True:
 * something has changed. */
bool colours_apply(struct colours **colours, const char *data, size_t size);
bool colours_reset(struct colours **colours); /* all; true: some were set */
/* A colour of the palette, or one of the enum; COLOR_DEFAULT: not set. */
uint32_t colours_get(const struct colours *colours, unsigned which);
/* How a look is shown with them: what is set has become COLOR_RGB. */
struct pen colours_pen(const struct colours *colours, struct pen pen);
/* The sequences that set a terminal to them, whatever it was set to. */
void colours_append(struct buf *out, const struct colours *colours);
#endif
