/* launch: muxd -d. */
#ifndef MUXD_KEEP_LAUNCH_H
#define MUXD_KEEP_LAUNCH_H
#include "base/err.h"
/* Returns 0 in the process that is to become the keeper (start.h): a session of its own, stdin and
 * stdout at /dev/null, stderr a pipe to the process that was started. That one stays behind: it
 * passes on what comes through the pipe and ends with 0 when a byte comes through *ready_fd, or
 * with the keeper's exit status if the keeper ends before. ERR_SYSTEM: nothing was started. */
int launch_detached(int *ready_fd, struct err *err);
#endif
