/* arrival: the pieces of one slot of a hand-over, put together. */
#ifndef MUXD_KEEP_ARRIVAL_H
#define MUXD_KEEP_ARRIVAL_H
#include "keep/keep.h"
#include <stdbool.h>
#include <stddef.h>

struct arrival { /* zeroed: nothing has come */
    uint64_t session;
    pid_t pid;
    int fds[KEEP_FD_COUNT];
    bool open;
    bool cut; /* there was no room for a part of it, and more parts follow */
};
/* Takes the descriptors of a KEEP_SLOT. True when that was the last part: session, pid and fds are
 * the caller's then. */
bool arrival_add(struct arrival *arrival, const struct keep_msg *msg, int fds[], size_t nfds);
/* The same for one whose descriptors did not all come: they are closed. True when nothing more
 * follows; *journal: the session's, to be closed by the caller, or -1. */
bool arrival_cut(struct arrival *arrival, const struct keep_msg *msg, int fds[], size_t nfds,
                 int *journal);
void arrival_drop(struct arrival *arrival); /* closes what has come so far */
#endif
