/* attach_pick: which session `ue attach` is about when none is named. */
#ifndef MUXD_CLIENT_ATTACH_PICK_H
#define MUXD_CLIENT_ATTACH_PICK_H
#include "client/rpc/ue.h"

/* The operand; else the only live session with a terminal but the one that we run in; else the one
 * that the person chooses, when ask: then the terminal has been entered. 0 and *session (the
 * caller's), or the exit status, all said. */
int attach_pick(struct ue *ue, bool ask, char **session);
#endif
