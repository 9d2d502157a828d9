/* outer: the profile of a person's terminal: what only that terminal knows, its colours and the
 * size of its cells. ue queries the terminal (client/terminal/query.h) and sends the profile to
 * the daemon (ATTACH_TERMINAL), which replies to programs with it. What the terminal can do is
 * not in it: programs draw on muxd's own model. */
#ifndef MUXD_WIRE_OUTER_H
#define MUXD_WIRE_OUTER_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* colours of the palette; the others are the same in all terminals, unless they were redefined */
#define OUTER_PALETTE 16
#define OUTER_CELL_MAX 512 /* pixels */

/* The colours behind those of the palette. */
enum outer_colour {
    OUTER_FOREGROUND = OUTER_PALETTE,
    OUTER_BACKGROUND,
    OUTER_CURSOR,
    OUTER_COLOURS
};
enum outer_scheme { OUTER_SCHEME_UNKNOWN, OUTER_DARK, OUTER_LIGHT };

struct outer {
    uint32_t known; /* bits 1 << colour */
    /* red, green, blue, from 0 to 65535 as in X11 */
    uint16_t colours[OUTER_COLOURS][3];
    enum outer_scheme scheme;    /* as the terminal says */
    int cell_height, cell_width; /* in pixels; 0: unknown */
};

/* Parses a colour as terminals spell it: rgb:r/g/b or rgba:r/g/b/a, each part with one to four
 * hexadecimal digits. */
bool outer_parse_colour(const char *text, size_t size, uint16_t colour[3]);
/* As the terminal says; else by its background; else dark, as most are. Never unknown. outer
 * NULL: no terminal. */
enum outer_scheme outer_scheme(const struct outer *outer);
bool outer_equal(const struct outer *a, const struct outer *b);

/* As a JSON object, and back. False: it is no object. Members that are unknown or make no sense are
 * left out. */
void outer_print(struct buf *out, const struct outer *outer);
bool outer_parse(struct outer *outer, const char *data, size_t size);
#endif
