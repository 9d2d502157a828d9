/* keeper: the process that must never fail. It holds descriptors, is the parent of all session
 * programs and restarts the worker. It is linked with libc only (tests/keeper.sh) and allocates
 * nothing once it runs. */
#ifndef MUXD_KEEP_KEEPER_H
#define MUXD_KEEP_KEEPER_H
#include <stdbool.h>

struct keeper_options {
    char *const *worker_argv; /* what a worker is started with; NULL-terminated, borrowed */
    /* what an upgraded keeper is started with; "--resume" and its value come after [0] */
    char *const *keeper_argv;
    /* the worker's program on disk, for upgrades, and where our own is looked for then; borrowed as
     * long as the keeper lives */
    const char *worker_path;
    /* the worker's program itself (O_PATH), wherever its path leads by now; 0: worker_path is
     * executed */
    int worker_exe;
    /* gets one byte when the daemon listens; then stderr leads where stdin does; -1: none */
    int ready_fd;
    bool sentinel;            /* start a sentinel too */
};

/* Each returns the exit status of the process: 0 after KEEP_STOP; the worker's own when the first
 * worker exits before it listens (it has told why on stderr); else 1. Without sessions the keeper
 * gives up after some workers in a row that did not come up. SIGTERM, SIGINT, SIGQUIT: clean stop;
 * SIGHUP: reload; SIGUSR2: upgrade. keeper_run closes all descriptors from 3
 * on, save those of options and a service manager's listening socket (LISTEN_FDS), which the first
 * worker gets by listener() like every successor. */
int keeper_run(const struct keeper_options *options);
/* After an upgrade: state is the value of "--resume". Goes back to the old programs when the
 * state can't be read or the new worker does not come up. */
int keeper_resume(const struct keeper_options *options, const char *state);
/* In a process that a worker started to replace a dead keeper (adopt.h): link_fd leads to that
 * living worker. */
int keeper_adopt(const struct keeper_options *options, int link_fd);
/* 0 when this program can take over the state in the memfd, else 1. Releases before the trial had
 * an answer of its own (keep/trial.h) ask so. */
int keeper_check(int state_fd);
/* Another keeper asks whether this program and the worker's can take over from it: value is that of
 * "--trial" (keep/trial.h). Returns the exit status unless it becomes the worker's program. */
int keeper_trial(const struct keeper_options *options, const char *value);
#endif
