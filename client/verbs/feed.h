/* feed: `exec --stdin`: a command that reads what ue reads. */
#ifndef MUXD_CLIENT_FEED_H
#define MUXD_CLIENT_FEED_H
#include "client/rpc/ue.h"
#include "wire/json.h"

/* Starts the command, feeds standard input to it, waits as asked. Returns ue's exit status. */
int feed_talk(struct ue *ue, struct json *params);
#endif
