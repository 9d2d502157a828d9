/* limit: the limits that the kernel sets for a user or for all (getrlimit(2), /proc/sys, control
 * groups): which one it was that refused something, what raises it, and which of them hold
 * something up now. */
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
    const char *what; /* goes without it */
    char raise[200];  /* what to do, "raise it with …" */
    int64_t since_ms; /* clock_real_ms of the first refusal; limit_each only */
};

/* Which limit an errno speaks of; false: none. */
bool limit_explain(enum limit_use use, int error, struct limit_text *out);
/* It was refused: where that is a limit it counts as reached until limit_passed. True: since
 * now. */
bool limit_met(enum limit_use use, int error);
/* it went well; costs nothing when it was not refused before */
void limit_passed(enum limit_use use);
/* limit_met, and "format: strerror: the limit of … is reached; raise it …" as err's text.
 * Returns code. */
int limit_err(struct err *err, int code, enum limit_use use, int error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Those that are reached now. One that was raised meanwhile is none any more, unless it is tried
 * again anyway. */
void limit_each(void (*fn)(void *arg, const struct limit_text *text), void *arg);
#endif
