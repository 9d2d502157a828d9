/* race: owns the race of a wait's patterns: where each goes on, which match is the first, and
 * which does not count. */
#include "session/race.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/internal.h"
#include "session/unmarked.h"
#include <stdlib.h>
#include <string.h>

#define LOOKBEHIND_BYTES 1024 /* kept before the place where a pattern is searched on */
#define ANY_OUTPUT "(?s)."    /* the pattern that an echo matches, too */
#define REFUSED_MAX 64        /* matches that don't count, before another turn goes on */

struct runner { /* one pattern */
    struct pattern_search search;
    struct race_match *match; /* owned; found, and not told yet; NULL: none */
    bool any;                 /* it asks for any output, echoes too */
    bool done;                /* it is not searched for any more */
};

struct race {
    struct sought sought;
    unsigned left; /* matches to come, until one counts */
    uint64_t base; /* output offset of the first byte that the searches count from */
    struct unmarked output; /* from `base` on, as of the last look */
    struct runner runners[RACE_PATTERNS_MAX];
};

struct piece { /* of the output, from `base` on */
    const char *data;
    size_t size; /* what may be searched */
    size_t open; /* the same, and behind it what may be an echo */
    bool last;   /* up to the head */
    bool ended;  /* no more bytes will come */
};

static void text_free(struct race_text *text)
{
    free(text->text);
}

void race_match_free(struct race_match *match)
{
    if (!match)
        return;
    text_free(&match->whole);
    text_free(&match->line);
    for (unsigned i = 0; i < match->ngroups; i++)
        text_free(&match->groups[i]);
    free(match);
}

struct race *race_new(const struct sought *sought, uint64_t from)
{
    struct race *race = xcalloc(1, sizeof *race);
    BUG_UNLESS(sought->count > 0 && sought->count <= RACE_PATTERNS_MAX);
    race->sought = *sought;
    race->left = sought->nth ? sought->nth : 1;
    race->base = from;
    for (unsigned i = 0; i < sought->count; i++)
        race->runners[i].any = strcmp(pattern_text(sought->patterns[i].pattern), ANY_OUTPUT) == 0;
    return race;
}

void race_free(struct race *race)
{
    if (!race)
        return;
    for (unsigned i = 0; i < race->sought.count; i++)
        race_match_free(race->runners[i].match);
    unmarked_fini(&race->output);
    free(race);
}

bool race_is_on(const struct race *race)
{
    for (unsigned i = 0; i < race->sought.count; i++)
        if (!race->runners[i].done)
            return true;
    return false;
}

bool race_has_aim(const struct race *race)
{
    for (unsigned i = 0; i < race->sought.count; i++)
        if (!race->sought.patterns[i].fails)
            return true;
    return false;
}

static struct race_text race_text_of(const struct race *race, const char *data, size_t from,
                                     size_t to)
{
    size_t size = to - from > RACE_TEXT_MAX ? utf8_cut(data + from, to - from, RACE_TEXT_MAX)
                                            : to - from;
    struct race_text text = {.from = unmarked_offset(&race->output, from),
                             .to = unmarked_end(&race->output, to),
                             .set = true,
                             .size = size};
    if (to == from)
        text.to = text.from;
    text.text = xmalloc(size + 1);
    memcpy(text.text, data + from, size);
    text.text[size] = '\0';
    return text;
}

/* The line that has the match, of which no line end is a part. */
static struct race_text race_line_of(const struct race *race, const struct piece *piece,
                                     size_t from, size_t to)
{
    const char *before = memrchr(piece->data, '\n', from),
               *end = memchr(piece->data + to, '\n', piece->size - to);
    size_t first = before ? (size_t)(before + 1 - piece->data) : 0,
           last = end ? (size_t)(end - piece->data) : piece->size;
    if (last > to && piece->data[last - 1] == '\r')
        last--;
    return race_text_of(race, piece->data, first, last);
}

/* To be called right after pattern_search has found it. */
static struct race_match *match_of(const struct race *race, const struct piece *piece,
                                   unsigned index, size_t from, size_t to)
{
    struct pattern_group groups[PATTERN_GROUPS_MAX];
    struct race_match *match = xcalloc(1, sizeof *match);
    match->index = index;
    match->ngroups = pattern_groups(race->sought.patterns[index].pattern, groups);
    match->whole = race_text_of(race, piece->data, from, to);
    if (race->sought.line)
        match->line = race_line_of(race, piece, from, to);
    for (unsigned i = 0; i < match->ngroups; i++) {
        if (groups[i].set)
            match->groups[i] = race_text_of(race, piece->data, groups[i].from, groups[i].to);
        match->groups[i].name = groups[i].name;
    }
    return match;
}

/* Moves on to where the journal still has bytes. False: nothing new. */
static bool race_piece(struct race *race, struct session *session, struct piece *piece)
{
    struct unmarked *output = &race->output;
    bool any = unmarked_look(output, session, race->base);
    for (unsigned i = 0; output->base > race->base && i < race->sought.count; i++)
        pattern_search_shift(&race->runners[i].search, output->base - race->base);
    race->base = output->base;
    if (!any)
        return false;
    *piece = (struct piece){.data = output->data,
                            .size = output->size,
                            .open = output->size,
                            .last = output->last,
                            .ended = output->ended};
    uint64_t hold = echoes_hold(session);
    if (hold < race->base + output->raw) { /* what follows may be an echo */
        piece->size = unmarked_index(output, hold);
        piece->ended = false;
    }
    return true;
}

/* What one pattern may search of the piece now. */
static struct piece piece_for(const struct race *race, const struct piece *piece,
                              const struct runner *runner)
{
    struct piece own = *piece;
    if (runner->any)
        own.size = own.open;
    if (race->sought.line && !(own.ended && own.last)) { /* whole lines */
        const char *end = memrchr(own.data, '\n', own.size);
        own.size = end ? (size_t)(end + 1 - own.data) : 0;
        own.ended = false;
    }
    return own;
}

/* Drops what no match can begin with any more, nor a lookbehind see. */
static void drop_searched(struct race *race)
{
    size_t done = SIZE_MAX;
    for (unsigned i = 0; i < race->sought.count; i++) {
        const struct pattern_search *one = &race->runners[i].search;
        /* In the middle of a pass the starts before `next` are tried, and `at` is the first of them
         * that lacked bytes (SIZE_MAX: none did). */
        size_t at = one->pass && one->next < one->at ? one->next : one->at;
        if (!race->runners[i].done && at < done)
            done = at;
    }
    if (done == SIZE_MAX || done <= LOOKBEHIND_BYTES)
        return;
    size_t drop = done - LOOKBEHIND_BYTES;
    for (unsigned i = 0; i < race->sought.count; i++)
        pattern_search_shift(&race->runners[i].search, drop);
    race->base = unmarked_offset(&race->output, drop);
}

/* The start after `at`: never in the middle of a character. */
static size_t next_start(const struct piece *piece, size_t at)
{
    for (at++; at < piece->size && ((unsigned char)piece->data[at] & 0xc0) == 0x80;)
        at++;
    return at;
}

/* Whether a match counts; else *next: where to go on. */
static bool race_counts(const struct race *race, struct session *session, const struct piece *piece,
                        size_t from, size_t to, size_t *next)
{
    uint64_t behind;
    const struct unmarked *output = &race->output;
    if (session && echoes_cover(session, unmarked_offset(output, from), unmarked_end(output, to),
                                &behind)) {
        size_t index = unmarked_index(output, behind);
        *next = next_start(piece, index > from ? index - 1 : from);
        return false;
    }
    if (race->sought.line && memchr(piece->data + from, '\n', to - from)) {
        *next = next_start(piece, from);
        return false;
    }
    return true;
}

/* One pattern, up to its first match that counts. */
static enum pattern_result race_run(struct race *race, struct session *session,
                                    const struct piece *whole, unsigned index)
{
    struct runner *runner = &race->runners[index];
    const struct piece piece = piece_for(race, whole, runner);
    size_t from, to, next;
    if (piece.size == 0)
        return PATTERN_NONE;
    for (int refused = 0; refused < REFUSED_MAX; refused++) {
        enum pattern_result result = pattern_search(race->sought.patterns[index].pattern,
                                                    &runner->search, piece.data, piece.size,
                                                    piece.ended, &from, &to);
        if (result != PATTERN_MATCH)
            return result;
        if (race_counts(race, runner->any ? NULL : session, &piece, from, to, &next)) {
            runner->match = match_of(race, &piece, index, from, to);
            return result;
        }
        pattern_search_from(&runner->search, next);
    }
    return PATTERN_MORE;
}

/* Which of the matches that were found comes first; NULL: there is none. */
static struct runner *race_first(struct race *race)
{
    struct runner *first = NULL;
    bool fails = false;
    for (unsigned i = 0; i < race->sought.count; i++) {
        struct runner *runner = &race->runners[i];
        bool also = race->sought.patterns[i].fails;
        if (!runner->match)
            continue;
        uint64_t from = runner->match->whole.from,
                 before = first ? first->match->whole.from : UINT64_MAX;
        if (from > before || (from == before && (fails || !also)))
            continue;
        first = runner;
        fails = also;
    }
    return first;
}

/* The match is one of several that are counted: all patterns that don't fail go on behind it. */
static void race_pass(struct race *race, const struct piece *piece, struct runner *passed)
{
    uint64_t from = passed->match->whole.from, to = passed->match->whole.to;
    size_t behind = unmarked_index(&race->output, to),
           next = to > from ? behind : next_start(piece, behind);
    race->left--;
    for (unsigned i = 0; i < race->sought.count; i++) {
        struct runner *runner = &race->runners[i];
        bool stays = runner->match &&
                     runner->match->whole.from >= unmarked_offset(&race->output, next);
        if (race->sought.patterns[i].fails || stays)
            continue;
        race_match_free(runner->match);
        runner->match = NULL;
        pattern_search_from(&runner->search, next);
    }
}

/* The match counts: patterns that don't fail are searched for no longer. */
static struct race_match *race_take(struct race *race, struct runner *found)
{
    struct race_match *match = found->match;
    bool fails = race->sought.patterns[match->index].fails;
    found->match = NULL;
    for (unsigned i = 0; i < race->sought.count; i++) {
        struct runner *runner = &race->runners[i];
        if (!fails && !race->sought.patterns[i].fails) {
            race_match_free(runner->match);
            runner->match = NULL;
            runner->done = true;
        }
    }
    return match;
}

/* All patterns in one piece. */
static enum race_result race_all(struct race *race, struct session *session,
                                 const struct piece *piece, struct race_match **match,
                                 unsigned *costly)
{
    for (;;) {
        bool more = false;
        for (unsigned i = 0; i < race->sought.count; i++) {
            struct runner *runner = &race->runners[i];
            if (runner->done || runner->match)
                continue;
            enum pattern_result result = race_run(race, session, piece, i);
            more |= result == PATTERN_MORE;
            *costly = i;
            if (result == PATTERN_COSTLY)
                return RACE_COSTLY;
        }
        if (more)
            return RACE_GOES_ON;
        struct runner *first = race_first(race);
        if (!first)
            return RACE_NOTHING;
        if (race->sought.patterns[first->match->index].fails || race->left <= 1) {
            *match = race_take(race, first);
            return RACE_FOUND;
        }
        race_pass(race, piece, first);
    }
}

enum race_result race_look(struct race *race, struct session *session, struct race_match **match,
                           unsigned *costly)
{
    struct piece piece;
    while (race_piece(race, session, &piece)) {
        enum race_result result = race_all(race, session, &piece, match, costly);
        if (result != RACE_NOTHING && result != RACE_GOES_ON)
            return result;
        if (piece.last || result == RACE_GOES_ON) {
            drop_searched(race);
            return result;
        }
        /* bytes are missing between the head area and the ring: no match spans them */
        race->base += race->output.raw;
        for (unsigned i = 0; i < race->sought.count; i++)
            pattern_search_from(&race->runners[i].search, 0);
    }
    return RACE_NOTHING;
}
