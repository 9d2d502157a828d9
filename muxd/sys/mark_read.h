/* mark_read: the limits of a process in which marks stand; for mark.c and mark_read.c alone. */
#ifndef MUXD_SYS_MARK_READ_H
#define MUXD_SYS_MARK_READ_H
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { MARK_LOCKS, MARK_RSS, MARK_LIMITS };
extern const __rlimit_resource_t mark_resources[MARK_LIMITS];

/* others: also of other users' processes, from a file. *is_other is set when it is one. False: it
 * is gone or hidden. Any thread. */
bool mark_read(pid_t pid, bool others, bool *is_other, struct rlimit out[MARK_LIMITS]);
#endif
