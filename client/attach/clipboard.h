/* clipboard: where the lines go that a person copies: [attach] clipboard. */
#ifndef MUXD_CLIENT_CLIPBOARD_H
#define MUXD_CLIENT_CLIPBOARD_H
#include "base/buf.h"
#include "base/err.h"

/* where: "terminal", "print" or a path. Appends to out what the terminal needs (OSC 52), to later
 * what is to be printed when it was left, or writes the file anew (0600, never through a symbolic
 * link). *said gets a line for the person. */
void clipboard_put(const char *where, const struct buf *copied, struct buf *out, struct buf *later,
                   struct buf *said);
#endif
