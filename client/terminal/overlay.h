/* overlay: a list, a page or old lines of ue's own, which cover the person's terminal until they
 * are left. The terminal has been entered; the caller redraws it afterwards. */
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
    /* draws all of it on an empty terminal */
    void (*draw)(void *arg, struct buf *out, int rows, int cols);
    /* key: a code point or enum overlay_key; true: leave */
    bool (*key)(void *arg, int32_t key, int rows);
    void *arg;
    bool mouse; /* report the wheel */
};

/* out: output that the terminal has not taken yet; it is written first, and out is empty
 * afterwards. ^C (3) and Escape arrive as keys. False: the terminal is gone. */
bool overlay_run(const struct overlay *overlay, struct buf *out);

/* This control character leaves every overlay and is not used by it: a prefix key. */
void overlay_leave_on(unsigned char key);
/* Keys that were read already, at most OVERLAY_AHEAD bytes: overlay_run takes them first. None are
 * left from before. */
void overlay_type_ahead(const char *data, size_t size);
/* Takes back what overlay_run has not used; data has room for OVERLAY_AHEAD bytes. Returns the
 * size. */
size_t overlay_unused(char *data);

/* The first key of data, which is not empty. Bytes it takes; 0: more are needed. */
size_t overlay_key_next(const char *data, size_t size, int32_t *key);
/* Draws text, cut at cols, in row (from 0) and erases the rest of the line. style: SGR, "" for
 * none. */
void overlay_line(struct buf *out, int row, int cols, const char *style, const char *text,
                  size_t size);
#endif
