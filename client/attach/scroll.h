/* scroll: the scrolled view, in which a person reads, searches and copies lines of the history. */
#ifndef MUXD_CLIENT_SCROLL_H
#define MUXD_CLIENT_SCROLL_H
#include "client/attach/history.h"

/* Shows the lines, beginning at the end, until the person leaves. Appends the lines to copy to
 * copied (initialized, empty), each with a newline. name: of the session. out: as for overlay_run.
 * rolled: the wheel was turned once already. False: the terminal is gone. */
bool scroll_run(const struct history *history, const char *name, bool mouse, bool rolled,
                struct buf *out, struct buf *copied);
#endif
