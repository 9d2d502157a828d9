/* echo_told: owns what is told of the echoes: which bytes are one, and which may be. */
#include "base/bug.h"
#include "base/mem.h"
#include "term/echo_lines.h"
#include <stdlib.h>
#include <string.h>

/* In place, and not complete yet. */
static uint64_t hold_in_place(const struct echo *echo, const struct echo_line *line)
{
    struct echo_shown shown = echo_line_shown(&echo->rows, line, line->row, line->col);
    uint64_t lowest = shown.row > line->row ? shown.row : line->row;
    if (!shown.bare || echo->rows.row > lowest || (shown.whole && !line->ended))
        return UINT64_MAX;
    if (line->by == ECHO_BY_PROGRAM)
        return echo->next > line->at ? line->at : UINT64_MAX;
    return shown.first;
}

uint64_t echo_hold(const struct echo *echo)
{
    if (echo->trails && echo_in_string(echo))
        return echo->sequence_at;
    if (echo->redraw_at != UINT64_MAX)
        return echo->redraw_at;
    const struct echo_line *line = echo_first_line(echo);
    struct echo_shown shown;
    uint64_t hold = UINT64_MAX;
    bool kernel;
    if (line && line->placed && echo_is_edited(echo, line))
        return line->at;
    if (line && echo_is_in_place(echo, line))
        hold = hold_in_place(echo, line);
    for (size_t i = 0; hold == UINT64_MAX && i < echo->count && i < ECHO_LOOKED_AT; i++) {
        line = &echo->lines[i];
        bool whole = !line->ended && echo_shows_here(echo, line, ECHO_WHOLE, &shown, &kernel);
        if (!whole && echo_shows_here(echo, line, ECHO_PART, &shown, &kernel) &&
            shown.first >= line->at)
            hold = shown.first;
    }
    return hold;
}

void echo_give_up(struct echo *echo)
{
    echo->trails = echo->paste_found = false;
    echo->redraw_at = UINT64_MAX;
    for (size_t i = echo->count; echo_hold(echo) != UINT64_MAX && i > 0; i--)
        echo_drop_line(echo, 0);
}

static bool span_covers(const struct echo_span *span, uint64_t from, uint64_t to, uint64_t *next)
{
    bool meets = from < span->to && (to > span->from || (to == from && from == span->from));
    bool within = from >= span->from && to <= span->to;
    bool around = from < span->from && to > span->to;
    if (!meets || around || (span->soft && !within))
        return false;
    *next = from >= span->from && !span->soft ? span->to : from + 1;
    return true;
}

/* A line whose end was not typed yet, as it shows now. */
static bool open_span(const struct echo *echo, const struct echo_line *line, struct echo_span *span)
{
    struct echo_shown shown = {.count = 0};
    if (line->ended)
        return false;
    if (echo_is_in_place(echo, line))
        shown = echo_line_shown(&echo->rows, line, line->row, line->col);
    bool kernel, in_place = shown.whole && shown.count > 0;
    if (!in_place && !echo_shows_here(echo, line, ECHO_WHOLE, &shown, &kernel))
        return false;
    bool drawn = line->by == ECHO_BY_PROGRAM && shown.bare && in_place;
    *span = (struct echo_span){drawn ? line->at : shown.first, drawn ? echo->next : shown.last,
                               true};
    return true;
}

bool echo_covers(const struct echo *echo, uint64_t from, uint64_t to, uint64_t *next)
{
    struct echo_span span;
    size_t count = echo->span_count < ECHO_SPANS ? echo->span_count : ECHO_SPANS;
    for (size_t i = 0; i < count; i++)
        if (span_covers(&echo->spans[i], from, to, next))
            return true;
    for (size_t i = 0; i < echo->count; i++)
        if (open_span(echo, &echo->lines[i], &span) && span_covers(&span, from, to, next))
            return true;
    return false;
}
