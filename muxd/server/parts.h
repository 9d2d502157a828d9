/* parts: the table of what hangs on sessions (session/part.h). */
#ifndef MUXD_SERVER_PARTS_H
#define MUXD_SERVER_PARTS_H
#include "session/part.h"

extern const struct part *const server_parts[]; /* NULL at its end */
#endif
