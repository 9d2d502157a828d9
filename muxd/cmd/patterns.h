/* patterns: the patterns that a call waits for (`until`) or that must not come (`fail_on`), from
 * its arguments to what its answer says of a match. */
#ifndef MUXD_CMD_PATTERNS_H
#define MUXD_CMD_PATTERNS_H
#include "base/err.h"
#include "session/race.h"

struct json;
struct tool;

struct patterns { /* zeroed: none */
    struct pattern *owned[RACE_PATTERNS_MAX];
    struct race_pattern rows[RACE_PATTERNS_MAX];
    const char *names[RACE_PATTERNS_MAX]; /* borrowed from the arguments; NULL: it has none */
    struct sought sought;                 /* of these rows */
};

/* Takes `until`, `fail_on`, `count` and `line` from the arguments, which must live as long. 0;
 * ERR_PATTERN for one that is no expression, ERR_ARGUMENTS. To be ended by patterns_fini also after
 * an error. */
int patterns_init(struct patterns *patterns, const struct tool *tool, const struct json *params,
                  struct err *err);
void patterns_fini(struct patterns *patterns);
bool patterns_have_aim(const struct patterns *patterns);      /* one of `until` is there */
bool patterns_have_failures(const struct patterns *patterns); /* one of `fail_on` is there */
/* ERR_PATTERN: that one takes too much time */
int patterns_costly(const struct patterns *patterns, unsigned index, struct err *err);
/* `match` of an answer */
void patterns_describe(struct json *answer, const struct patterns *patterns,
                       const struct race_match *match);
#endif
