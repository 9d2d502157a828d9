/* log: one line an event, escaped, to a file or stderr. Never blocks the loop for long: lines go
 * out with one write(2) to a file; what does not fit on the disk is counted and told when there is
 * room again. */
#ifndef MUXD_BASE_LOG_H
#define MUXD_BASE_LOG_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>
enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
/* path NULL or "-": stderr. Opened 0600, O_APPEND|O_NOFOLLOW|O_CLOEXEC. The directory must exist.
 * May be called again. */
int log_open(const char *path, enum log_level level, struct err *err);
/* the directory of it is not to be trusted: lines go to stderr, and log_trouble says so */
void log_go_without(const char *path);
void log_set_level(enum log_level level);
void log_set_role(const char *role); /* borrowed; "keeper", "worker" */
void log_close(void); /* what is written after it goes to stderr */
struct log_trouble {
    char text[256];    /* what is wrong and what to do */
    int64_t since_ms;  /* clock_real_ms of the line or look that met it first */
    uint64_t lost;     /* lines since the last one that went out whole */
};
/* Looks whether lines still go to the file of the path that was opened last. True, with out filled
 * in, when not. */
bool log_trouble(struct log_trouble *out);
void log_at(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)
#endif
