/* race: the patterns of a wait, raced against each other over a session's output as it comes. */
#ifndef MUXD_SESSION_RACE_H
#define MUXD_SESSION_RACE_H
#include "sys/pattern.h"

struct session;

#define RACE_PATTERNS_MAX 16
#define RACE_TEXT_MAX 4096 /* bytes of a text in a match; a longer one is cut */

struct race_pattern {
    const struct pattern *pattern; /* borrowed, as long as the search */
    bool fails;                    /* it must not come: fail_on */
};
struct sought {                          /* what is searched for */
    const struct race_pattern *patterns; /* borrowed, as long as the search */
    unsigned count;                      /* of patterns, up to RACE_PATTERNS_MAX; 0: none */
    unsigned nth; /* which match counts, of all patterns that don't fail; 0 is as 1 */
    bool line;    /* a match has to lie in one complete line */
};

struct race_text {     /* bytes of the output */
    uint64_t from, to; /* absolute offsets */
    bool set;          /* false: a group that has no part in the match */
    const char *name;  /* of a group, borrowed from the pattern; NULL: none */
    char *text;        /* owned; its first RACE_TEXT_MAX bytes at most */
    size_t size;
};
struct race_match {
    unsigned index; /* of the pattern in `sought` */
    struct race_text whole;
    struct race_text line; /* of `line`, without its end */
    unsigned ngroups;
    struct race_text groups[PATTERN_GROUPS_MAX];
};
void race_match_free(struct race_match *match); /* NULL is fine */

/* One search, from that output offset on. It copies `sought`, not the patterns. Never NULL; NULL is
 * fine to free. */
struct race *race_new(const struct sought *sought, uint64_t from);
void race_free(struct race *race);

enum race_result {
    RACE_NOTHING, /* not in what was printed until now */
    RACE_FOUND,   /* *match is the caller's */
    RACE_GOES_ON, /* not all that was printed has been searched: look again in another turn */
    RACE_COSTLY   /* *costly: the pattern that takes too much time */
};
/* Searches what was printed since the last look. Of several matches the one that begins first is
 * found, of those that begin together one that fails, else the first of the order given. The
 * patterns that don't fail are found once; those that do are searched for afterwards, too. */
enum race_result race_look(struct race *race, struct session *session, struct race_match **match,
                           unsigned *costly);
/* Whether a pattern is left to be found. */
bool race_is_on(const struct race *race);
/* Whether it has a pattern that doesn't fail, found or not. */
bool race_has_aim(const struct race *race);
#endif
