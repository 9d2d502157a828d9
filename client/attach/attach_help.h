/* attach_help: the page of keys (the prefix key, then ?). */
#ifndef MUXD_CLIENT_ATTACH_HELP_H
#define MUXD_CLIENT_ATTACH_HELP_H
#include "base/buf.h"

/* Shows the page until any key is pressed; Space shows what had no room. prefix: the key as people
 * write it. keyboard: who holds the keyboard; NULL: not known. out: as for overlay_run. False: the
 * terminal is gone. */
bool attach_help_run(const char *prefix, const char *session, const char *keyboard,
                     struct buf *out);
#endif
