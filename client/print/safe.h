/* safe: what a program wrote, for a person's own terminal: characters, colours and what moves the
 * cursor and draws; never a title, the clipboard, a question that the terminal would answer as if
 * it were typed, or a mode that changes what keys and mouse send. */
#ifndef MUXD_CLIENT_SAFE_H
#define MUXD_CLIENT_SAFE_H
#include "base/buf.h"
#include "wire/tokens.h"

struct safe { /* zeroed: at the beginning */
    struct tokens tokens;
    struct buf *out;       /* while it is fed */
    bool alternate, shape; /* what has to be taken back at the end */
};

void safe_feed(struct safe *safe, const char *data, size_t size, struct buf *out);
/* modes and colours back to what they usually are; the cursor stays */
void safe_end(struct safe *safe, struct buf *out);
#endif
