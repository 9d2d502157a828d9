/* sentinel: a third, tiny process that outlives keeper and worker by a moment. It reads a socket
 * whose other end only those two hold. When both die at once it ends the programs that they left,
 * above all those of pipe sessions, which no terminal hangs up. This is what the two say to it; the
 * process itself belongs to the keeper (keeper/sentinel_process.c). */
#ifndef MUXD_KEEP_SENTINEL_H
#define MUXD_KEEP_SENTINEL_H
#include <stdint.h>
#include <sys/types.h>

enum sentinel_type { SENTINEL_ADD = 1, SENTINEL_REMOVE, SENTINEL_DISMISS };
struct sentinel_msg {
    int32_t type, pid; /* SENTINEL_ADD: with a descriptor, the pidfd */
    /* SENTINEL_ADD: the RLIMIT_LOCKS that all descendants of the program bear, too, or
     * SENTINEL_NO_MARK */
    uint64_t mark;
};
#define SENTINEL_NO_MARK (UINT64_MAX - 1) /* nobody has such a limit */

/* All: fd -1 is fine (no sentinel). Never block; a sentinel that is too slow misses a program.
 * sentinel_add: once the program has been executed. */
void sentinel_add(int fd, pid_t pid, int pidfd);
void sentinel_remove(int fd, pid_t pid);
/* For who takes the socket over and can't know how much waits in it: has all of it heard. */
void sentinel_listen(int fd);
void sentinel_dismiss(int fd); /* a clean end: it goes without ending any program */
#endif
