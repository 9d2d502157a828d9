/* unread: tells who waits that nobody has read his request. */
#ifndef MUXD_CLIENT_UNREAD_H
#define MUXD_CLIENT_UNREAD_H
#include "client/rpc/connect.h"

#define UNREAD_MS                                                                                  \
    5000 /* a daemon that lives reads at once, and one that restarts within a second */

/* To be called once, UNREAD_MS after a request was sent when nothing has come since. */
void unread_look(struct connection *conn);
#endif
