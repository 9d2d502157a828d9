/* feed: `exec --stdin`: feeds ue's standard input to a command. */
#ifndef MUXD_CLIENT_FEED_H
#define MUXD_CLIENT_FEED_H
#include "client/rpc/ue.h"
#include "wire/json.h"

/* Starts the command of params, feeds standard input to it and waits as params say. Returns ue's
 * exit status. */
int feed_talk(struct ue *ue, struct json *params);
#endif
