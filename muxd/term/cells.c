/* cells: owns what a line may hold: a wide character has both its halves or none. */
#include "term/cells.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

static uint64_t stamps; /* given out so far */

/* The place of the first mark in that column or right of it. */
static int marks_find(const struct marks *marks, int col)
{
    int from = 0, to = marks->count;
    while (from < to) {
        int middle = from + (to - from) / 2;
        if (marks->list[middle].col < col)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void marks_drop(struct line *line, int from, int to)
{
    struct marks *marks = line->marks;
    int first = marks_find(marks, from), end = from < to ? marks_find(marks, to) : first;
    memmove(marks->list + first, marks->list + end,
            (size_t)(marks->count - end) * sizeof *marks->list);
    marks->count -= end - first;
    if (marks->count == 0) {
        free(marks);
        line->marks = NULL;
    }
}

/* The marks in the columns [from, to), all that are there, move by that many columns. */
static void marks_shift(struct marks *marks, int from, int to, int by)
{
    for (int i = marks_find(marks, from), end = marks_find(marks, to); i < end; i++)
        marks->list[i].col += by;
}

static void marks_add(struct line *line, int col, int32_t rune)
{
    struct marks *marks = line->marks;
    if (!marks || marks->count == marks->room) {
        int room = marks ? 2 * marks->room : 4;
        line->marks = xrealloc(marks, sizeof *marks + (size_t)room * sizeof *marks->list);
        if (!marks)
            line->marks->count = 0;
        marks = line->marks;
        marks->room = room;
    }
    int at = marks_find(marks, col + 1);
    memmove(marks->list + at + 1, marks->list + at,
            (size_t)(marks->count - at) * sizeof *marks->list);
    marks->list[at] = (struct mark){.col = col, .rune = rune};
    marks->count++;
}

/* For cells below reach or new ones; the caller sets reach. */
static void fill(struct line *line, int from, int to, uint32_t bg)
{
    line->stamp = ++stamps;
    for (int col = from; col < to; col++)
        line->cells[col] = (struct cell){.width = 1, .pen = {.bg = bg}};
    if (line->marks)
        marks_drop(line, from, to);
}

static void blank(struct line *line, int from, int to, uint32_t bg)
{
    if (bg != COLOR_DEFAULT) {
        fill(line, from, to, bg);
        line->reach = line->reach > to ? line->reach : to;
        return;
    }
    fill(line, from, to < line->reach ? to : line->reach, bg);
    if (to >= line->reach && from < line->reach)
        line->reach = from;
}

void line_init(struct line *line, int cols)
{
    BUG_UNLESS(cols > 0);
    *line = (struct line){.cells = xreallocarray(NULL, (size_t)cols, sizeof *line->cells),
                          .cols = cols};
    fill(line, 0, cols, COLOR_DEFAULT);
    line->empty = true;
}

void line_fini(struct line *line)
{
    free(line->cells);
    free(line->marks);
    *line = (struct line){0};
}

/* What is said of its end holds no longer. */
static void forget_end(struct line *line)
{
    line->wrapped = false;
    line->behind = COLOR_DEFAULT;
}

static bool cells_written(const struct line *line, int col)
{
    return col >= 0 && (line->cells[col].rune || line->cells[col].width == 0);
}

void line_wrap(struct line *line)
{
    int last = line->cols - 1;
    line->wrapped = cells_written(line, last) || cells_written(line, last - 1);
}

static void drop_half(struct line *line, int col)
{
    if (col < 0 || col >= line->cols)
        return;
    blank(line, col, col + 1, line->cells[col].pen.bg);
}

/* A wide character that lies across the left edge of col loses both halves. */
static void cut_at(struct line *line, int col)
{
    if (col > 0 && col < line->cols && line->cells[col].width == 0) {
        drop_half(line, col - 1);
        drop_half(line, col);
    }
}

void line_resize(struct line *line, int cols)
{
    int old = line->cols;
    BUG_UNLESS(cols > 0);
    if (cols == old)
        return;
    if (cols < old)
        cut_at(line, cols);
    line->cells = xreallocarray(line->cells, (size_t)cols, sizeof *line->cells);
    if (line->marks && cols < old)
        marks_drop(line, cols, old);
    line->cols = cols;
    forget_end(line);
    fill(line, old < cols ? old : cols, cols, COLOR_DEFAULT);
    line->reach = line->reach < cols ? line->reach : cols;
    line->empty = line->empty && line->empty_bg == COLOR_DEFAULT;
}

bool line_erase(struct line *line, int from, int to, uint32_t bg)
{
    BUG_UNLESS(from >= 0 && from <= to && to <= line->cols);
    if (to >= line->cols - 1)
        forget_end(line);
    if (line->empty && line->empty_bg == bg)
        return false;
    cut_at(line, from);
    cut_at(line, to);
    blank(line, from, to, bg);
    line->empty = from == 0 && to == line->cols;
    line->empty_bg = bg;
    if (line->empty) {
        free(line->marks);
        line->marks = NULL;
    }
    return true;
}

void line_put(struct line *line, int col, int32_t rune, int width, const struct pen *pen)
{
    BUG_UNLESS((width == 1 || width == 2) && col >= 0 && col + width <= line->cols);
    cut_at(line, col);
    cut_at(line, col + width);
    line->empty = false;
    line->stamp = ++stamps;
    line->cells[col] = (struct cell){.rune = rune, .width = (uint8_t)width, .pen = *pen};
    if (width == 2)
        line->cells[col + 1] = (struct cell){
            .width = 0,
            .pen = {.fg = pen->fg, .bg = pen->bg, .attrs = pen->attrs, .link = pen->link}};
    if (line->marks)
        marks_drop(line, col, col + width);
    line->reach = line->reach > col + width ? line->reach : col + width;
    if (col + width == line->cols)
        forget_end(line);
}

void line_put_run(struct line *line, int col, const int32_t *runes, int count,
                  const struct pen *pen)
{
    struct cell *cells = line->cells + col;
    const struct pen look = *pen; /* a copy, which stores to cells can't change */
    int end = col + count;
    BUG_UNLESS(col >= 0 && count >= 0 && end <= line->cols);
    cut_at(line, col);
    cut_at(line, end);
    const uint32_t narrow = cell_word((struct cell){.width = 1}),
                   one = cell_word((struct cell){.rune = 1});
    for (int i = 0; i < count; i++) {
        uint32_t word = narrow | (uint32_t)runes[i] * one;
        memcpy(&cells[i], &word, sizeof word);
        cells[i].pen = look;
    }
    if (line->marks)
        marks_drop(line, col, end);
    line->empty = false;
    line->stamp = ++stamps;
    line->reach = line->reach > end ? line->reach : end;
    if (end == line->cols)
        forget_end(line);
}

bool line_mark(struct line *line, int col, int32_t mark)
{
    const struct mark *marks;
    BUG_UNLESS(col >= 0 && col < line->cols);
    if (line_marks(line, col, &marks) == CELL_MARKS)
        return false;
    marks_add(line, col, mark);
    line->reach = line->reach > col + 1 ? line->reach : col + 1;
    line->stamp = ++stamps;
    line->empty = false;
    return true;
}

void line_shift(struct line *line, int from, int to, int by, uint32_t bg)
{
    int size = to - from, distance = by < 0 ? -by : by;
    BUG_UNLESS(from >= 0 && from <= to && to <= line->cols);
    if (distance > size)
        distance = size;
    if (line->empty && line->empty_bg == bg)
        return;
    line->empty = false;
    int kept = size - distance, source = by < 0 ? from + distance : from,
        target = by < 0 ? from : from + distance;
    cut_at(line, from);
    cut_at(line, to);
    cut_at(line, by < 0 ? source : from + kept);
    memmove(line->cells + target, line->cells + source, (size_t)kept * sizeof *line->cells);
    line->reach = line->reach > to ? line->reach : to; /* at most */
    line->stamp = ++stamps;
    if (by < 0 && to == line->cols)
        forget_end(line);
    if (line->marks && by < 0)
        marks_drop(line, from, source);
    else if (line->marks)
        marks_drop(line, from + kept, to);
    if (line->marks)
        marks_shift(line->marks, source, source + kept, target - source);
    if (by < 0)
        blank(line, from + kept, to, bg);
    else
        blank(line, from, from + distance, bg);
}

int line_marks(const struct line *line, int col, const struct mark **marks)
{
    if (!line->marks)
        return 0;
    int first = marks_find(line->marks, col), end = first;
    while (end < line->marks->count && line->marks->list[end].col == col)
        end++;
    *marks = line->marks->list + first;
    return end - first;
}

size_t line_marks_memory(const struct line *line)
{
    return line->marks ? sizeof *line->marks + (size_t)line->marks->room * sizeof *line->marks->list
                       : 0;
}

bool line_ends_free(const struct line *line)
{
    const struct cell *last = &line->cells[line->cols - 1];
    const struct mark *marks;
    return line->wrapped && last->rune == 0 && last->width == 1 &&
           line_marks(line, line->cols - 1, &marks) == 0;
}

/* empty: the character that shows nothing, as 0 does. */
static int used(const struct line *line, int32_t empty, bool looks)
{
    const uint32_t shown = PEN_REVERSE | PEN_UNDERLINES | PEN_STRIKE | PEN_OVERLINE;
    const struct mark *marks;
    for (int col = line->reach; col > 0; col--) {
        const struct cell *cell = &line->cells[col - 1];
        if (cell->width == 0 || (cell->rune && cell->rune != empty) ||
            line_marks(line, col - 1, &marks) > 0)
            return col;
        if (looks && (cell->pen.bg != COLOR_DEFAULT || (cell->pen.attrs & shown)))
            return col;
    }
    return 0;
}

int line_used(const struct line *line, bool looks)
{
    return used(line, ' ', looks);
}

int line_written(const struct line *line)
{
    return line->behind != COLOR_DEFAULT ? line->cols : used(line, 0, true);
}

void line_append_text(const struct line *line, struct buf *out, int cols)
{
    for (int col = 0; col < cols && col < line->cols; col++) {
        const struct cell *cell = &line->cells[col];
        const struct mark *marks;
        int count = line_marks(line, col, &marks);
        if (cell->width > 0)
            utf8_append_rune(out, cell->rune ? cell->rune : ' ');
        for (int i = 0; i < count; i++)
            utf8_append_rune(out, marks[i].rune);
    }
}
