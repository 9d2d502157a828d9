/* safe: filters a program's output for a person's terminal. Characters, colours, cursor movements
 * and drawing pass; titles, the clipboard, queries (whose replies would be typed) and modes that
 * change what keys and mouse send do not. */
#ifndef MUXD_CLIENT_SAFE_H
#define MUXD_CLIENT_SAFE_H
#include "base/buf.h"
#include "wire/tokens.h"

struct safe { /* zero it */
    struct tokens tokens;
    struct buf *out;       /* borrowed; only within safe_feed */
    bool alternate, shape; /* were set: safe_end resets them */
};

/* Appends to out what passes. */
void safe_feed(struct safe *safe, const char *data, size_t size, struct buf *out);
/* Appends the reset of modes and colours; the cursor stays. */
void safe_end(struct safe *safe, struct buf *out);
#endif
