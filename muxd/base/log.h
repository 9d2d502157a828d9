/* log: one line for each event, escaped, to a file or stderr. Never blocks the loop for long: a
 * line is one write(2) to a file. Lines that don't fit on the disk are counted, and the count is
 * logged when there is room again. */
#ifndef MUXD_BASE_LOG_H
#define MUXD_BASE_LOG_H
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>
enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
/* path NULL or "-": stderr. Opened 0600, O_APPEND|O_NOFOLLOW|O_CLOEXEC. The directory must exist.
 * May be called again. */
int log_open(const char *path, enum log_level level, struct err *err);
/* the log's directory is refused: lines go to stderr, and log_trouble says so */
void log_go_without(const char *path);
void log_set_level(enum log_level level);
void log_set_role(const char *role); /* borrowed; "keeper", "worker" */
void log_close(void); /* later lines go to stderr */
struct log_trouble {
    char text[256];    /* what is wrong and what to do */
    int64_t since_ms;  /* clock_real_ms of when it was first noticed */
    uint64_t lost;     /* lines since the last one that was written whole */
};
/* Checks whether lines still reach the file at the path that was opened last. True, with out filled
 * in: they don't. */
bool log_trouble(struct log_trouble *out);
void log_at(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)
#endif
