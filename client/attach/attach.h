/* attach: shows a session on the person's terminal. */
#ifndef MUXD_CLIENT_ATTACH_H
#define MUXD_CLIENT_ATTACH_H
#include "client/rpc/ue.h"
#include "wire/json.h"

/* `ue exec -a`: runs exec_command with params, adding the terminal's size and looks, then shows the
 * session. Returns ue's exit status. */
int attach_new_session(struct ue *ue, struct json *params);
#endif
