/* outer: what a person's terminal is, as far as only that terminal knows: its colours and the size
 * of its cells. ue asks it (client/terminal/query.h) and tells the daemon (ATTACH_TERMINAL), which
 * answers programs with it. What a terminal can do is not here: programs draw on muxd's own
 * model. */
#ifndef MUXD_WIRE_OUTER_H
#define MUXD_WIRE_OUTER_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* the first colours of it; those behind are the same everywhere, but for terminals that were told
 * otherwise */
#define OUTER_PALETTE 16
#define OUTER_CELL_MAX 512

/* Of colours, behind those of the palette. */
enum outer_colour {
    OUTER_FOREGROUND = OUTER_PALETTE,
    OUTER_BACKGROUND,
    OUTER_CURSOR,
    OUTER_COLOURS
};
enum outer_scheme { OUTER_SCHEME_UNKNOWN, OUTER_DARK, OUTER_LIGHT };

struct outer {
    uint32_t known; /* 1 << colour */
    /* red, green, blue, as X11 counts them: 65535 is all of it */
    uint16_t colours[OUTER_COLOURS][3];
    enum outer_scheme scheme; /* as it says */
    int cell_height, cell_width; /* in pixels; 0: not known */
};

/* A colour in the words of terminals: rgb:r/g/b or rgba:r/g/b/a with one to four hexadecimal digits
 * each. */
bool outer_parse_colour(const char *text, size_t size, uint16_t colour[3]);
/* As it says; else its background decides, and where that is not known either it is dark, like
 * most. Never unknown. */
enum outer_scheme outer_scheme(const struct outer *outer); /* NULL: nobody's */
bool outer_equal(const struct outer *a, const struct outer *b);

/* As a JSON object, and back: false when it is none; members that are unknown or make no sense are
 * left out. */
void outer_print(struct buf *out, const struct outer *outer);
bool outer_parse(struct outer *outer, const char *data, size_t size);
#endif
