/* limit: the kernel's limits for a user or for the machine (getrlimit(2), /proc/sys, control
 * groups): which of them refused a call, how to raise it, and which of them hold something up
 * now. */
#ifndef MUXD_BASE_LIMIT_H
#define MUXD_BASE_LIMIT_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

enum limit_use { /* what was asked of the kernel, limits.def */
#define LIMIT(ident, ...) LIMIT_##ident,
#include "base/limits.def"
#undef LIMIT
    LIMIT_USES
};

struct limit_text {
    char limit[160];  /* "inotify instances (fs.inotify.max_user_instances=128)" */
    const char *what; /* does not work until then */
    char raise[200];  /* what to do, "raise it with …" */
    int64_t since_ms; /* clock_real_ms of the first refusal; limit_each only */
};

/* Which limit an errno stands for; false: none. */
bool limit_explain(enum limit_use use, int error, struct limit_text *out);
/* The kernel refused it. If that was a limit, the limit counts as reached until limit_passed. True:
 * it was not reached before. */
bool limit_met(enum limit_use use, int error);
/* The kernel allowed it. Costs nothing. */
void limit_passed(enum limit_use use);
/* limit_met, and "format: strerror: the limit of … is reached; raise it …" as err's text.
 * Returns code. */
int limit_err(struct err *err, int code, enum limit_use use, int error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* RLIMIT_STACK is too low for muxd: the kernel would end it by SIGSEGV, at any call. Then err's
 * text says so, and how to raise it. */
int limit_check_stack(struct err *err);
/* Tries to send a descriptor from us to us (unix(7)): 0, or the errno. */
int limit_try_passing(void);
/* Calls fn for each limit that is reached now. One that was raised meanwhile no longer counts,
 * unless muxd tries again by itself (.again); nor does the one of descriptors under way when these
 * have come. */
void limit_each(void (*fn)(void *arg, const struct limit_text *text), void *arg);
#endif
