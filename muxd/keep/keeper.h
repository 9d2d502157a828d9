/* keeper: the process that must never fail. Holds descriptors, is the parent of all session programs, restarts the worker.
 * Uses libc only and allocates nothing once it runs. */
#ifndef MUXD_KEEP_KEEPER_H
#define MUXD_KEEP_KEEPER_H
#include <stdbool.h>

struct keeper_options {
    char *const *worker_argv; /* what a worker is started with; NULL-terminated, borrowed */
    char *const *keeper_argv; /* what an upgraded keeper is started with; "--keeper-state", FD:FD are put behind [0] */
    const char *worker_path;  /* NULL: our own executable, also when its path leads to another by now */
    const char *path;         /* the binary on disk that an upgrade executes; NULL: where our own came from. Must stay valid */
    int ready_fd;             /* gets one byte when the daemon listens, and stderr goes to where stdin is then; -1: none */
    bool sentinel;            /* start a sentinel.h too */
};

/* Each returns the exit status of the process: 0 after KEEP_STOP; the worker's own when the first worker ends by itself before it
 * listens (it has told why on stderr); else 1. SIGTERM, SIGINT, SIGQUIT: clean stop; SIGHUP: reload; SIGUSR2: upgrade.
 * keeper_run closes all descriptors from 3 on, save a service manager's listening socket (LISTEN_FDS), which the first worker gets by
 * listener() like every successor. */
int keeper_run(const struct keeper_options *options);
/* After an upgrade: state is the argument of "--keeper-state". Goes back to the binary before when the state can't be read. */
int keeper_resume(const struct keeper_options *options, const char *state);
/* In a process that a worker started to replace a dead keeper (adopt.h): link_fd leads to that living worker. */
int keeper_adopt(const struct keeper_options *options, int link_fd);
/* "--keeper-check FD": 0 when this binary can take over the state in the memfd, else 1. */
int keeper_check(const char *fd_text);
#endif
