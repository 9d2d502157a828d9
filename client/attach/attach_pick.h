/* attach_pick: finds the session for `ue attach`. */
#ifndef MUXD_CLIENT_ATTACH_PICK_H
#define MUXD_CLIENT_ATTACH_PICK_H
#include "client/rpc/ue.h"

/* The operand; else the only live session that chooser_takes; else, with ask, the one that the
 * person chooses: then the terminal stays entered. 0 and *session (the caller's), or the exit
 * status after an error was printed. */
int attach_pick(struct ue *ue, bool ask, char **session);
#endif
