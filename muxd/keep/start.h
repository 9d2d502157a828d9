/* start: muxd's way to muxd-keeper, another program: where it lies, and how muxd becomes it. */
#ifndef MUXD_KEEP_START_H
#define MUXD_KEEP_START_H
#include "base/err.h"
#include <limits.h>

struct start_programs { /* paths; "" when nobody tells */
    char muxd[PATH_MAX], keeper[PATH_MAX];
};

/* In a worker, before anything else: where muxd lies stands in the environment, which forgets it,
 * else in argv0. */
void start_told(const char *argv0);
/* In a process that becomes muxd-keeper: tells it and all workers where muxd lies. Not
 * async-signal-safe. */
void start_tell(const char *muxd);

/* Finds muxd, where this process was told or else where it was executed (base/beside.h), and around
 * it muxd-keeper: the programs that a new process is made of, whatever this one runs from.
 * ERR_SYSTEM names both places of muxd-keeper, of which keeper is the second then. */
int start_find(struct start_programs *programs, struct err *err);
/* Becomes the keeper. args: what a worker is to be started with, NULL at the end; ready_fd: as
 * launch.h gives it, -1: none. Returns only with ERR_SYSTEM. */
int start_keeper(struct start_programs *programs, int ready_fd, char *const args[],
                 struct err *err);

#define START_ARGS 8
/* "KEEPER MUXD ARGS…", into which own_args puts the role. */
void start_argv(char *argv[START_ARGS + 2], struct start_programs *programs, char *const args[]);
#endif
