/* lean_fork: gives a new child of the keeper its own descriptors and no others, at the same cost
 * however many the keeper has. */
#ifndef MUXD_KEEP_LEAN_FORK_H
#define MUXD_KEEP_LEAN_FORK_H
#include <sys/types.h>

#define LEAN_FORK_FDS 5

/* Call it while low numbers are free. Without them, or on an old kernel, lean_fork returns -1. */
void lean_fork_init(void);
/* The child has nothing above stdio but these descriptors (fds has their new numbers) and some that
 * exec closes. *place: -1, then for lean_fork_over. Returns 0 in the child; -1: use fork(2). */
pid_t lean_fork(int fds[LEAN_FORK_FDS], int *place);
/* The child has executed its program, has failed to, or is dead. -1 is fine. */
void lean_fork_over(int *place);
#endif
