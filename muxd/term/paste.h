/* paste: text as a terminal sends it to its program when a person pastes it. No fd, no clock. */
#ifndef MUXD_TERM_PASTE_H
#define MUXD_TERM_PASTE_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

/* Line ends become Enter; of other control characters only tabs stay, so that nothing in the text
 * can end the paste or act as a key. bracketed: put the marks around it that the program has asked
 * for (?2004). Source: xterm ctlseqs, "Bracketed Paste Mode". */
void paste_append(struct buf *out, const char *text, size_t size, bool bracketed);
#endif
