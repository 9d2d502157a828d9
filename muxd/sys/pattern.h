/* pattern: regular expressions of users, searched in bytes that keep coming, in bounded time.
 * They are PCRE2's, with UTF-8 that may have ill-formed bytes (nothing matches these), (?m) on,
 * and CR LF, LF and CR as line ends for `$` and `.`. */
#ifndef MUXD_SYS_PATTERN_H
#define MUXD_SYS_PATTERN_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PATTERN_TEXT_MAX = 16384, /* bytes of an expression */
    PATTERN_GROUPS_MAX = 32   /* that are told of; further ones still match */
};

/* compiled, and shared by all users of the same text; up to 16 unused ones are kept */
struct pattern;
/* NULL and ERR_PATTERN with what is wrong at which byte. An empty text is refused. */
struct pattern *pattern_new(const char *text, size_t len, struct err *err);
void pattern_free(struct pattern *pattern); /* NULL is fine */
const char *pattern_text(const struct pattern *pattern);

enum pattern_result {
    PATTERN_NONE,  /* not in these bytes; go on when more have come */
    PATTERN_MATCH, /* *from and *to are set */
    PATTERN_MORE,  /* the time of this call is up: call again in a later turn */
    /* the search has cost PATTERN_COST_MAX_MS, or too many steps from one start: refuse it */
    PATTERN_COSTLY
};

struct pattern_search { /* zero it to begin; one a stream of bytes */
    /* No match begins before this offset; earlier bytes are needed only for lookbehind. While a
     * pass is under way: the first of the starts tried that lacked bytes; SIZE_MAX: none did. */
    size_t at;
    size_t next; /* the next start to be tried */
    /* 1 + the size of data when this pass over the starts began; 0: no pass is under way */
    size_t pass;
    int64_t used_ns;
    size_t window; /* starts tried in one go, adapted to their cost: a power of two; 0: not set */
};
enum { PATTERN_TURN_MS = 2, PATTERN_COST_MAX_MS = 1000 };

/* Goes on with the search in data[0..size): the bytes of the last call with new ones behind
 * them. A match that more bytes could make longer is taken as it is; one that is not complete
 * yet is resumed where it begins. ended: no more bytes will come. Offsets count from data. */
enum pattern_result pattern_search(const struct pattern *pattern, struct pattern_search *search,
                                   const char *data, size_t size, bool ended, size_t *from,
                                   size_t *to);
/* Goes on at that offset, as if no match began before it: after a match that doesn't count. What
 * the search has cost stays. */
void pattern_search_from(struct pattern_search *search, size_t at);

struct pattern_group { /* what a pair of parentheses has matched */
    const char *name;  /* of (?<name>…), borrowed from the pattern; NULL: it has none */
    bool set;          /* false: it has no part in this match */
    size_t from, to;   /* as the offsets of the match */
};
/* The groups, from the first, of the match that the last call of pattern_search has found with this
 * pattern: to be asked before any other search. groups has room for PATTERN_GROUPS_MAX. Returns how
 * many there are. */
unsigned pattern_groups(const struct pattern *pattern, struct pattern_group *groups);
/* The caller has dropped bytes from the front of data (the ring has moved on): shifts the
 * offsets. */
void pattern_search_shift(struct pattern_search *search, size_t bytes);
#endif
