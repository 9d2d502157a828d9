/* pattern: regular expressions of users, searched in bytes that keep coming, in bounded time. PCRE2
 * behind it: UTF-8 with ill-formed bytes allowed (nothing matches them), (?m) on, `$` and `.` know
 * CR LF, LF and CR. */
#ifndef MUXD_SYS_PATTERN_H
#define MUXD_SYS_PATTERN_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATTERN_TEXT_MAX = 16384 }; /* bytes of an expression */

/* compiled; shared by all that ask for the same text, 16 more are kept when nobody uses them */
struct pattern;
/* NULL and ERR_PATTERN with what is wrong at which byte. An empty text is refused. */
struct pattern *pattern_new(const char *text, size_t len, struct err *err);
void pattern_free(struct pattern *pattern); /* NULL is fine */
const char *pattern_text(const struct pattern *pattern);

enum pattern_result {
    PATTERN_NONE,   /* not in here; go on when more bytes have come */
    PATTERN_MATCH,  /* *from and *to are set */
    PATTERN_MORE,   /* the time of this call is up: the caller calls again in a later turn */
    /* it has used PATTERN_COST_MAX_MS or too many steps from one start: refuse it */
    PATTERN_COSTLY
};

struct pattern_search { /* zero it to begin; one a stream of bytes */
    /* No match begins before this offset; the bytes before it are needed only for lookbehind. While
     * a pass is under way: the first start, of those tried, that lacked bytes; SIZE_MAX: none did. */
    size_t at;
    /* next start to be tried, and the size of data when this pass over the starts began; 0: none
     * under way */
    size_t next, pass;
    int64_t used_ns;
    size_t window;      /* starts tried in one go, adapted to what they cost */
};
enum { PATTERN_TURN_MS = 2, PATTERN_COST_MAX_MS = 1000 };

/* Goes on with the search in data[0..size): the same bytes as in the last call with new ones
 * behind. A match that could become longer with more bytes is taken as it is; one that is not
 * complete yet is resumed where it begins. ended: no more bytes will come. Offsets count from
 * data. */
enum pattern_result pattern_search(const struct pattern *pattern, struct pattern_search *search,
                                   const char *data, size_t size, bool ended, size_t *from,
                                   size_t *to);
/* The same bytes begin later now (the ring has moved on): drops `bytes` from the front of what the
 * offsets count. */
void pattern_search_shift(struct pattern_search *search, size_t bytes);
#endif
