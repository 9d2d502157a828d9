/* attach_help: the page of keys that the prefix key and ? show. */
#ifndef MUXD_CLIENT_ATTACH_HELP_H
#define MUXD_CLIENT_ATTACH_HELP_H
#include "base/buf.h"

/* prefix: the key, as people write it. keyboard: who has it, NULL: nobody said. Until any key is
 * pressed; out: as for overlay_run. False: the terminal is gone. */
bool attach_help_run(const char *prefix, const char *session, const char *keyboard,
                     struct buf *out);
#endif
