/* attach: a session on the person's own terminal. */
#ifndef MUXD_CLIENT_ATTACH_H
#define MUXD_CLIENT_ATTACH_H
#include "client/rpc/ue.h"
#include "wire/json.h"

/* `ue exec -a`: exec_command with params, which get the terminal's size, then shows the session.
 * Exit status of ue. */
int attach_new_session(struct ue *ue, struct json *params);
#endif
