/* scroll: the scrolled view: what has scrolled off a session's screen, to be read, searched and
 * copied from. */
#ifndef MUXD_CLIENT_SCROLL_H
#define MUXD_CLIENT_SCROLL_H
#include "client/attach/history.h"

/* Shows the lines, beginning at the end, until the person leaves. *copied (initialized) gets the
 * lines to be copied, each with a newline; empty: none. name: of the session. out: as for
 * overlay_run. False: the terminal is gone. */
bool scroll_run(const struct history *history, const char *name, bool mouse, struct buf *out,
                struct buf *copied);
#endif
