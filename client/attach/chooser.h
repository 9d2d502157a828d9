/* chooser: a person picks one of the live sessions that have a terminal. */
#ifndef MUXD_CLIENT_CHOOSER_H
#define MUXD_CLIENT_CHOOSER_H
#include "base/buf.h"
#include "wire/json.h"
#include <stdint.h>

/* Whether `ue attach` can show it: it has a terminal, and we don't run in it. *number is set. */
bool chooser_takes(const struct json *session, int64_t *number);
/* sessions: of list_sessions. current: the one that is marked first; 0: none. On an entered
 * terminal; out: as for overlay_run. 0 and *chosen (0: left without one), or -1: the terminal is
 * gone. */
int chooser_run(const struct json *sessions, int64_t current, struct buf *out, int64_t *chosen);
#endif
