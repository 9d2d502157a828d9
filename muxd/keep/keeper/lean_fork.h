/* lean_fork: how a new child of the keeper comes by its own descriptors and by no others, at the
 * same cost however many the keeper has. */
#ifndef MUXD_KEEP_LEAN_FORK_H
#define MUXD_KEEP_LEAN_FORK_H
#include <sys/types.h>

#define LEAN_FORK_FDS 5

/* while low numbers are free; without them, or on a kernel that can't, lean_fork always says -1 */
void lean_fork_init(void);
/* A child that has nothing above stdio but those descriptors, under other numbers, in fds, and some
 * that exec closes. *place: to be given to lean_fork_over once. Returns 0 in the child; -1, and
 * nothing was done: fork(2) is the other way. */
pid_t lean_fork(int fds[LEAN_FORK_FDS], int *place);
/* The child has executed its program or is dead, or tells that it failed. At the latest then
 * nothing of fds is left here. -1 is fine. */
void lean_fork_over(int *place);
#endif
