/* echo: owns what was typed and what was found, and the way of the output to the rules
 * (echo_find.c). */
#include "base/bug.h"
#include "base/mem.h"
#include "term/echo_lines.h"
#include <stdlib.h>
#include <string.h>

#define FOUND_MAX 65536 /* bytes of output after which a line is not waited for any more */
#define MODE_PASTE 2004

static void echo_on_down(void *arg);
static void echo_on_mode(void *arg, int mode, bool on);

struct echo *echo_new(size_t width)
{
    struct echo *echo = xcalloc(1, sizeof *echo);
    echo_rows_init(&echo->rows, width);
    echo->rows.on_down = echo_on_down;
    echo->rows.on_mode = echo_on_mode;
    echo->rows.arg = echo;
    echo->redraw_at = UINT64_MAX;
    return echo;
}

void echo_drop_line(struct echo *echo, size_t index)
{
    BUG_UNLESS(echo->lines && index < echo->count);
    echo_line_fini(&echo->lines[index]);
    echo->count--;
    memmove(echo->lines + index, echo->lines + index + 1,
            (echo->count - index) * sizeof *echo->lines);
}

static void drop_lines(struct echo *echo)
{
    while (echo->count > 0)
        echo_drop_line(echo, echo->count - 1);
}

void echo_free(struct echo *echo)
{
    if (!echo)
        return;
    drop_lines(echo);
    free(echo->lines);
    echo_rows_fini(&echo->rows);
    free(echo);
}

void echo_rest(struct echo *echo)
{
    if (!echo_waits(echo))
        echo_rows_rest(&echo->rows);
}

void echo_resize(struct echo *echo, size_t width)
{
    echo_rows_resize(&echo->rows, width);
}

struct echo_line *echo_add_line(struct echo *echo, uint64_t at, enum echo_by by)
{
    struct echo_line *last = echo->count > 0 ? &echo->lines[echo->count - 1] : NULL;
    if (last && !last->sealed && last->by == by)
        return last;
    if (echo->count == ECHO_LINES_MAX)
        echo_drop_line(echo, 0);
    if (echo->count == echo->room) {
        echo->room = echo->room ? echo->room * 2 : 4;
        echo->lines = xreallocarray(echo->lines, echo->room, sizeof *echo->lines);
    }
    BUG_UNLESS(echo->lines);
    last = &echo->lines[echo->count++];
    *last = (struct echo_line){.at = at, .by = by};
    return last;
}

void echo_typed(struct echo *echo, uint64_t at, const char *text, size_t size, enum echo_by by)
{
    echo_lines_cut(echo, at, text, size, by);
}

bool echo_waits(const struct echo *echo)
{
    return echo->count > 0 || echo->trails || echo->paste_found;
}

uint64_t echo_next(const struct echo *echo)
{
    return echo->next;
}

void echo_begin(struct echo *echo, uint64_t at, bool paste, bool full)
{
    drop_lines(echo);
    echo_rows_reset(&echo->rows);
    tokens_reset(&echo->rows.tokens);
    echo->trails = false;
    echo->next = echo->tail = at;
    echo->paste = paste;
    echo->full = full;
    echo->paste_found = false;
    echo->paste_at = at;
    echo->redraw_at = UINT64_MAX;
    echo->floor_row = echo->direct_row = 0;
}

void echo_add_span(struct echo *echo, uint64_t from, uint64_t to, bool soft)
{
    if (from < to)
        echo->spans[echo->span_count++ % ECHO_SPANS] = (struct echo_span){from, to, soft};
}

/* Placing. */

/* One that is empty tells nothing: that of before may come again. */
static void keep_prompt(struct echo *echo)
{
    uint64_t row = echo_rows_line(&echo->rows, echo->rows.row);
    const struct echo_row *cells = echo_rows_get(&echo->rows, row);
    size_t count = row == echo->rows.row ? echo->rows.col : ECHO_PROMPT_MAX + 1;
    if (!cells || count == 0 || count > ECHO_PROMPT_MAX || count > cells->used)
        return;
    for (size_t i = 0; i < count; i++)
        echo->prompt[i] = cells->cells[i].rune ? cells->cells[i].rune : ' ';
    echo->prompt_count = count;
}

/* The lines that were typed here get their place. */
static void place_lines(struct echo *echo)
{
    for (size_t i = 0; i < echo->count; i++) {
        struct echo_line *line = &echo->lines[i];
        if (line->placed || line->at > echo->next)
            continue;
        line->placed = true;
        line->row = echo->rows.row;
        line->col = echo->rows.col;
        line->in_editor = echo->paste;
        if (line->by == ECHO_BY_PROGRAM)
            keep_prompt(echo);
    }
    if (echo->full)
        drop_lines(echo);
}

/* Looking. */

static void echo_on_down(void *arg)
{
    struct echo *echo = arg;
    if (!echo->full)
        echo_take_row(echo);
}

static void echo_on_mode(void *arg, int mode, bool on)
{
    struct echo *echo = arg;
    if (mode == 47 || mode == 1047 || mode == 1049) {
        echo->full = on;
        if (on)
            drop_lines(echo);
    } else if (mode == MODE_PASTE && on) {
        echo->paste = true;
        echo->paste_found = false;
        echo->redraw_at = UINT64_MAX;
        echo->paste_at = echo->rows.at + 1;
    } else if (mode == MODE_PASTE && echo->paste) {
        echo_editor_ends(echo);
    }
}

/* What an editor draws of a line at most, if it draws it anew for each key. */
static uint64_t echo_most_of(const struct echo *echo, const struct echo_line *line)
{
    uint64_t count = line->count, most = 2048 + 128 * count + count * count;
    return echo_is_edited(echo, line) && most < FOUND_MAX ? most : FOUND_MAX;
}

static void drop_old(struct echo *echo)
{
    while (echo->count > 0 && echo->next > echo->lines[0].at &&
           echo->next - echo->lines[0].at > echo_most_of(echo, &echo->lines[0]))
        echo_drop_line(echo, 0);
}

bool echo_in_string(const struct echo *echo)
{
    const struct tokens *tokens = &echo->rows.tokens;
    return tokens->state == TOKENS_OSC || tokens->state == TOKENS_DCS ||
           tokens->state == TOKENS_TITLE;
}

/* What the kernel repeats of a line that has no end yet, before a line editor draws over it. */
static void echo_note_open(struct echo *echo)
{
    struct echo_line *line = echo->count > 0 ? &echo->lines[echo->count - 1] : NULL;
    if (!line || line->ended || line->by != ECHO_BY_KERNEL || line->noted == line->count ||
        !echo_is_in_place(echo, line))
        return;
    struct echo_shown shown = echo_line_shown(&echo->rows, line, line->row, line->col);
    if (!shown.whole)
        return;
    line->noted = line->count;
    echo_add_span(echo, shown.first, shown.last, true);
}

/* An editor goes back to lines that were found, and draws them anew. One that goes further up draws
 * more than what was typed. */
static void note_redraw(struct echo *echo)
{
    uint64_t row = echo->rows.row;
    if (!echo->paste_found)
        return;
    if (row < echo->paste_row)
        echo->paste_found = false;
    bool redraws = echo->paste_found && row < echo->floor_row;
    if (redraws && echo->redraw_at == UINT64_MAX)
        echo->redraw_at = echo->sequence_at;
    if (redraws || echo->redraw_at == UINT64_MAX)
        return;
    echo_add_span(echo, echo->redraw_at, echo->paste_found ? echo->tail : echo->redraw_at, false);
    echo->redraw_at = UINT64_MAX;
}

static void echo_feed_byte(struct echo *echo, char byte)
{
    const struct tokens *tokens = &echo->rows.tokens;
    bool string = echo_in_string(echo);
    if (tokens->state == TOKENS_GROUND)
        echo->sequence_at = echo->next;
    uint64_t drawn = echo->rows.drawn;
    echo_rows_feed(&echo->rows, echo->next, byte);
    echo->next++;
    if (byte != '\r' && byte != '\n')
        echo->tail = echo->next;
    if (echo->rows.drawn != drawn) {
        echo->trails = false;
        echo_note_open(echo);
    }
    if (echo->trails && string && !echo_in_string(echo))
        echo_add_span(echo, echo->sequence_at, echo->next, false);
    note_redraw(echo);
}

void echo_feed(struct echo *echo, const char *data, size_t size)
{
    size_t i = 0;
    for (place_lines(echo); i < size && echo_waits(echo); i++) {
        echo_feed_byte(echo, data[i]);
        place_lines(echo);
    }
    echo->next += size - i;
    drop_old(echo);
}
