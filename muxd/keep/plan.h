/* plan: how to start a program, in a sealed memfd that the worker writes and the forked child
 * reads. Opaque to the keeper. It holds offsets, not pointers; the reader checks all bounds, is
 * async-signal-safe and allocates nothing. */
#ifndef MUXD_KEEP_PLAN_H
#define MUXD_KEEP_PLAN_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum plan_step {
    PLAN_OK,
    PLAN_READ,
    PLAN_FORK,
    PLAN_SETSID,
    PLAN_TTY,
    PLAN_STDIO,
    PLAN_LIMITS,
    PLAN_CHDIR,
    PLAN_EXEC,
    PLAN_HAND_OVER /* the keeper could not be given the plan */
};

struct plan_limit { int resource; rlim_t soft, hard; };

struct plan {             /* everything borrowed by plan_write */
    const char *program;  /* path, or a name looked up in PATH of env; NULL: argv[0] */
    char *const *argv;
    char *const *env;
    const char *cwd;      /* absolute */
    bool tty;             /* child's 0 becomes the controlling terminal */
    mode_t umask;
    const struct plan_limit *limits;
    size_t nlimits;
    uint64_t nofile_soft; /* soft RLIMIT_NOFILE to restore; 0: leave */
};
/* A memfd sealed against every change; the caller's. ERR_TOO_LARGE over the caps of the arguments,
 * ERR_SYSTEM. */
int plan_write(const struct plan *plan, int *memfd, struct err *err);
/* In the forked child, never returns: maps the plan, becomes what it says, executes. On failure
 * writes {step, errno} to status_fd and exits 127. */
void plan_execute(int plan_fd, const int stdio[3], int status_fd) __attribute__((__noreturn__));
/* "change to the directory", "execute the program" … for error texts */
const char *plan_step_text(int step);
#endif
