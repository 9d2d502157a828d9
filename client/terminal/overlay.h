/* overlay: the person's terminal while ue itself uses it, for a list, a page or old lines: owns the
 * loop of keys and drawings until it is left. The terminal must have been entered; whatever it
 * showed has to be drawn anew afterwards. */
#ifndef MUXD_CLIENT_OVERLAY_H
#define MUXD_CLIENT_OVERLAY_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OVERLAY_AHEAD 4096 /* bytes typed ahead */

/* Beyond the code points. */
enum overlay_key {
    OVERLAY_UP = 0x110000,
    OVERLAY_DOWN,
    OVERLAY_RIGHT,
    OVERLAY_LEFT,
    OVERLAY_HOME,
    OVERLAY_END,
    OVERLAY_PAGE_UP,
    OVERLAY_PAGE_DOWN,
    OVERLAY_WHEEL_UP,
    OVERLAY_WHEEL_DOWN,
    OVERLAY_OTHER /* a key that means nothing here */
};

struct overlay {
    /* all of it, from an empty terminal */
    void (*draw)(void *arg, struct buf *out, int rows, int cols);
    /* a code point or enum overlay_key; true: leave */
    bool (*key)(void *arg, int32_t key, int rows);
    void *arg;
    bool mouse; /* the wheel counts */
};

/* out: what the terminal has not taken yet; it is written first, and empty afterwards. False: the
 * terminal is gone. ^C (3) and Escape come as keys. */
bool overlay_run(const struct overlay *overlay, struct buf *out);

/* Keys that were read before overlay_run, at most OVERLAY_AHEAD bytes, are its first; what it has
 * read and not used comes back into data, which has as much room. */
void overlay_type_ahead(const char *data, size_t size);
size_t overlay_unused(char *data);

/* The first key of data. Bytes it takes; 0: more are needed. */
size_t overlay_key_next(const char *data, size_t size, int32_t *key);
/* For drawings: the cursor to row (from 0), column 0, and text cut at cols; the rest of the line is
 * erased. style: SGR, "" for none. */
void overlay_line(struct buf *out, int row, int cols, const char *style, const char *text,
                  size_t size);
#endif
