/* keeper: the process that must never fail. Holds descriptors, is the parent of all session
 * programs, restarts the worker. Linked with libc only (tests/keeper.sh); allocates nothing once it
 * runs. */
#ifndef MUXD_KEEP_KEEPER_H
#define MUXD_KEEP_KEEPER_H
#include <stdbool.h>

struct keeper_options {
    char *const *worker_argv; /* what a worker is started with; NULL-terminated, borrowed */
    /* what an upgraded keeper is started with; "--resume", its value are put behind [0] */
    char *const *keeper_argv;
    /* the worker's program on disk, for upgrades. Must stay valid, as path */
    const char *worker_path;
    /* the worker's program itself (O_PATH), wherever its path leads by now; 0: worker_path is
     * executed */
    int worker_exe;
    const char *path;         /* our own program on disk, for upgrades; NULL: unknown */
    /* gets one byte when the daemon listens, and stderr goes to where stdin is then; -1: none */
    int ready_fd;
    bool sentinel;            /* start a sentinel too */
};

/* Each returns the exit status of the process: 0 after KEEP_STOP; the worker's own when the first
 * worker ends by itself before it listens (it has told why on stderr); else 1. SIGTERM, SIGINT,
 * SIGQUIT: clean stop; SIGHUP: reload; SIGUSR2: upgrade. keeper_run closes all descriptors from 3
 * on, save those of options and a service manager's listening socket (LISTEN_FDS), which the first
 * worker gets by listener() like every successor. */
int keeper_run(const struct keeper_options *options);
/* After an upgrade: state is the value of "--resume". Goes back to the programs before when the
 * state can't be read or the new worker does not come up. */
int keeper_resume(const struct keeper_options *options, const char *state);
/* In a process that a worker started to replace a dead keeper (adopt.h): link_fd leads to that
 * living worker. */
int keeper_adopt(const struct keeper_options *options, int link_fd);
/* 0 when this program can take over the state in the memfd, else 1. */
int keeper_check(int state_fd);
/* "N:N:N", as many numbers as are wanted and nothing else. */
bool keeper_numbers(const char *text, int numbers[], int count);
#endif
