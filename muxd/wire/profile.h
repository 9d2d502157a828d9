/* profile: the profile of a person's terminal: what only that terminal knows, its colours and the
 * size of its cells. ue queries the terminal (client/terminal/query.h) and sends the profile to
 * the daemon (ATTACH_TERMINAL), which replies to programs with it. What the terminal can do is
 * not in it: programs draw on muxd's own model. */
#ifndef MUXD_WIRE_PROFILE_H
#define MUXD_WIRE_PROFILE_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* colours of the palette; the others are the same in all terminals, unless they were redefined */
#define PROFILE_PALETTE 16
#define PROFILE_CELL_MAX 512 /* pixels */

/* The colours behind those of the palette. */
enum profile_colour {
    PROFILE_FOREGROUND = PROFILE_PALETTE,
    PROFILE_BACKGROUND,
    PROFILE_CURSOR,
    PROFILE_COLOURS
};
enum profile_scheme { PROFILE_SCHEME_UNKNOWN, PROFILE_DARK, PROFILE_LIGHT };

struct profile {
    uint32_t known; /* bits 1 << colour */
    /* red, green, blue, from 0 to 65535 as in X11 */
    uint16_t colours[PROFILE_COLOURS][3];
    enum profile_scheme scheme;  /* as the terminal says */
    int cell_height, cell_width; /* in pixels; 0: unknown */
};

/* Parses a colour as terminals spell it: rgb:r/g/b or rgba:r/g/b/a, each part with one to four
 * hexadecimal digits. */
bool profile_parse_colour(const char *text, size_t size, uint16_t colour[3]);
/* As the terminal says; else by its background; else dark, as most are. Never unknown. profile
 * NULL: no terminal. */
enum profile_scheme profile_scheme(const struct profile *profile);
bool profile_equal(const struct profile *a, const struct profile *b);

/* As a JSON object, and back. False: it is no object. Members that are unknown or make no sense are
 * left out. */
void profile_print(struct buf *out, const struct profile *profile);
bool profile_parse(struct profile *profile, const char *data, size_t size);
#endif
