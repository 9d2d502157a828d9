/* sentinel: a third, tiny process that outlives keeper and worker by a moment. It reads a socket whose other end only those two hold;
 * when both are gone at once it ends the programs that they left, pipe sessions above all, which no terminal hangs up. */
#ifndef MUXD_KEEP_SENTINEL_H
#define MUXD_KEEP_SENTINEL_H
#include <sys/types.h>

struct keeper;
void sentinel_start(struct keeper *keeper);   /* none when it can't be forked: the keeper does without */
void sentinel_restart(struct keeper *keeper); /* it died: a new one, told of all programs */
/* All: fd -1 is fine (no sentinel). Never block; a sentinel that is too slow misses a program. */
void sentinel_add(int fd, pid_t pid, int pidfd);
void sentinel_remove(int fd, pid_t pid);
void sentinel_dismiss(int fd); /* a clean end: it goes without ending anybody */
#endif
