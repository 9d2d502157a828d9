/* clipboard: delivers the lines that a person copies, by [attach] clipboard. */
#ifndef MUXD_CLIENT_CLIPBOARD_H
#define MUXD_CLIENT_CLIPBOARD_H
#include "base/buf.h"
#include "base/err.h"

/* where: "terminal" (appends OSC 52 to out), "print" (appends to later, which is printed when the
 * terminal was restored) or a path (overwrites that file, 0600, never through a symbolic link).
 * copied is not empty. Appends to said a line for the person. */
void clipboard_put(const char *where, const struct buf *copied, struct buf *out, struct buf *later,
                   struct buf *said);
#endif
