/* echo_find: owns the rules by which what is drawn is the echo of a line that was typed. */
#include "base/bug.h"
#include "base/mem.h"
#include "term/echo_lines.h"
#include <stdlib.h>
#include <string.h>

#define LONG 4        /* characters that are no accident */
#define DIRECT_MAX 40 /* columns of a prompt that nobody has seen before */
#define AGAIN_MAX 4   /* lines that the kernel has repeated, and a program may once more */

static bool behind_prompt(const struct echo *echo, uint64_t row)
{
    const struct echo_row *cells = echo_rows_get(&echo->rows, row);
    if (!cells || cells->used < echo->prompt_count)
        return false;
    for (size_t i = 0; i < echo->prompt_count; i++) {
        int32_t rune = cells->cells[i].rune ? cells->cells[i].rune : ' ';
        if (rune != echo->prompt[i])
            return false;
    }
    return echo->prompt_count > 0;
}

static bool shows_at(const struct echo *echo, const struct echo_line *line, uint64_t row,
                     size_t col, enum echo_much much, struct echo_shown *shown)
{
    *shown = echo_line_shown(&echo->rows, line, row, col);
    if (shown->row != echo->rows.row || shown->count == 0 || shown->first == UINT64_MAX)
        return false;
    return much == ECHO_PART ? shown->bare
                             : shown->whole && (much == ECHO_WHOLE || shown->alone || line->open);
}

/* Behind any prompt that ends with a blank. */
static bool shows_behind_blank(const struct echo *echo, const struct echo_line *line, uint64_t row,
                               size_t most, enum echo_much much, struct echo_shown *shown)
{
    const struct echo_row *cells = echo_rows_get(&echo->rows, row);
    for (size_t col = 1; col <= most && col < cells->used; col++) {
        int32_t before = cells->cells[col - 1].rune;
        if ((before == ' ' || before == 0) && shows_at(echo, line, row, col, much, shown))
            return true;
    }
    return false;
}

/* As the kernel repeats it, in one go: at the beginning of a row, or behind what was printed
 * meanwhile. Whoever reads raw keys may have changed the mode before the kernel saw what was typed:
 * so it is looked for in any case, if it is long enough to be no accident. */
static bool shows_in_one(const struct echo *echo, const struct echo_line *line, uint64_t row,
                         enum echo_much much, struct echo_shown *shown)
{
    const struct echo_row *cells = echo_rows_get(&echo->rows, row);
    bool kernel = line->by == ECHO_BY_KERNEL, is_long = line->count >= LONG;
    size_t most = is_long && kernel ? cells->used : 1;
    for (size_t col = 0; col < most && (kernel || is_long); col++) {
        if (!shows_at(echo, line, row, col, much, shown))
            continue;
        if (col == 0 && !is_long)
            return true;
        if (shown->last - shown->first == shown->bytes && (col == 0 || shown->count > 1))
            return true;
    }
    return false;
}

/* Whether a line shows in the row of the cursor, though it was typed elsewhere. *kernel: as the
 * kernel would repeat it. */
bool echo_shows_here(const struct echo *echo, const struct echo_line *line, enum echo_much much,
                     struct echo_shown *shown, bool *kernel)
{
    uint64_t row = echo_rows_line(&echo->rows, echo->rows.row);
    const struct echo_row *cells = echo_rows_get(&echo->rows, row);
    *kernel = false;
    if (!cells || !line->placed)
        return false;
    if (!line->again && shows_in_one(echo, line, row, much, shown)) {
        *kernel = true;
        return true;
    }
    if (behind_prompt(echo, row) && shows_at(echo, line, row, echo->prompt_count, much, shown))
        return true;
    bool edited = echo->paste || cells->edited;
    if (!edited && (line->by == ECHO_BY_KERNEL || row != echo->direct_row))
        return false;
    return shows_behind_blank(echo, line, row, edited ? cells->used : DIRECT_MAX, much, shown);
}

/* Where the cursor was when it was typed. */
bool echo_is_in_place(const struct echo *echo, const struct echo_line *line)
{
    return line->placed && !line->again && line->row >= echo->floor_row &&
           line->row >= echo->rows.top;
}

static void set_found(struct echo *echo, uint64_t row)
{
    if (echo->paste && !echo->paste_found)
        echo->paste_row = row;
    echo->floor_row = echo->direct_row = echo->rows.row + 1;
    echo->paste_found = echo->paste;
    echo->trails = true;
}

/* Of the lines that may come again the oldest go. */
static void keep_few_again(struct echo *echo)
{
    size_t count = 0;
    for (size_t i = echo->count; i-- > 0;)
        if (echo->lines[i].again && ++count > AGAIN_MAX)
            echo_drop_line(echo, i);
}

/* The line was found: those before it will not be. One that the kernel has repeated may come again,
 * when a line editor reads what was typed ahead. */
static void found(struct echo *echo, size_t index, uint64_t row)
{
    struct echo_line *line = &echo->lines[index];
    bool was_again = line->again;
    line->again = line->by == ECHO_BY_KERNEL && line->ended && !was_again;
    if (!line->again)
        echo_drop_line(echo, index);
    while (index-- > 0)
        if (!echo->lines[index].again || was_again)
            echo_drop_line(echo, index);
    keep_few_again(echo);
    set_found(echo, row);
}

static bool take_in_place(struct echo *echo, size_t index)
{
    struct echo_line *line = &echo->lines[index];
    struct echo_shown shown;
    if (!echo_is_in_place(echo, line))
        return false;
    shown = echo_line_shown(&echo->rows, line, line->row, line->col);
    bool all = shown.whole && (shown.alone || (line->open && shown.count > 0));
    if (!all || shown.row != echo->rows.row)
        return false;
    if (line->by == ECHO_BY_KERNEL)
        echo_add_span(echo, shown.first, shown.last, !line->ended);
    else
        echo_add_span(echo, line->at, echo->tail, !line->ended);
    found(echo, index, line->row);
    return true;
}

static bool take_here(struct echo *echo, size_t index)
{
    struct echo_line *line = &echo->lines[index];
    struct echo_shown shown;
    bool kernel;
    if (!line->ended || !echo_shows_here(echo, line, ECHO_ALONE, &shown, &kernel))
        return false;
    uint64_t from = shown.first > line->at || line->again ? shown.first : line->at;
    echo_add_span(echo, from, kernel ? shown.last : echo->tail, false);
    line->by = kernel ? ECHO_BY_KERNEL : ECHO_BY_PROGRAM;
    found(echo, index, echo_rows_line(&echo->rows, echo->rows.row));
    return true;
}

/* The cursor is about to leave its row: is that a line that was typed? */
bool echo_take_row(struct echo *echo)
{
    for (size_t i = 0; i < echo->count && i < ECHO_LOOKED_AT; i++)
        if (take_in_place(echo, i) || take_here(echo, i))
            return true;
    return false;
}

/* The first line that its program has not drawn yet; NULL: none. */
struct echo_line *echo_first_line(const struct echo *echo)
{
    for (size_t i = 0; i < echo->count; i++)
        if (!echo->lines[i].again)
            return &echo->lines[i];
    return NULL;
}

/* A line editor has taken its line: what it has drawn since is that line, whatever it has made of
 * what was typed. */
void echo_editor_ends(struct echo *echo)
{
    struct echo_line *line = echo_first_line(echo);
    uint64_t end = echo->rows.at + 1;
    bool before = echo->paste_found, taken = before || echo_take_row(echo);
    struct echo_span *last = &echo->spans[(echo->span_count + ECHO_SPANS - 1) % ECHO_SPANS];
    if (taken && (!before || echo->rows.drawn > last->to))
        last->to = end; /* up to here, also what it has drawn once more since */
    if (!taken && line && line->placed && line->ended && line->by == ECHO_BY_PROGRAM) {
        echo_add_span(echo, line->at > echo->paste_at ? line->at : echo->paste_at, end, false);
        found(echo, (size_t)(line - echo->lines), line->row);
        taken = true;
    }
    for (size_t i = echo->count; !taken && i-- > 0;)
        if (echo->lines[i].again)
            echo_drop_line(echo, i);
    echo->paste = echo->paste_found = false;
    echo->redraw_at = UINT64_MAX;
}

/* It draws this line now, and is at it until it takes it. */
bool echo_is_edited(const struct echo *echo, const struct echo_line *line)
{
    return echo->paste && line->placed && line->ended && line->by == ECHO_BY_PROGRAM &&
           line->in_editor && line->at >= echo->paste_at;
}
