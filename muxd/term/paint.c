/* paint: owns the copy of what a person's terminal shows, and the bytes that change it. */
#include "term/paint.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "term/paint_modes.h"
#include "term/paint_sent.h"
#include <stdlib.h>
#include <string.h>

#define PROMPT_ROWS 3 /* on each side of the cursor's */
#define WIDTH_DOUBT 0x1f000 /* terminals don't agree how wide characters from here on are */

struct paint {
    int rows, cols;
    struct cell *cells; /* rows * cols, as shown: blanks are spaces */
    uint64_t *marks;    /* of each row: a hash of its combining characters */
    /* of each row: the stamp of the line that it shows; 0: compare the cells */
    uint64_t *stamps;
    const struct colours *colours; /* of the screen, during a drawing */
    uint64_t recoloured;           /* screen_recoloured() of the last one */
    bool known;         /* false: what the terminal shows is unknown */
    int top, left;      /* the screen's row and column in the terminal's first */
    struct paint_pass pass;
    struct paint_sent sent;
    struct paint_modes modes;
};

static const struct cell blank = {.rune = ' ', .width = 1};

static void clip(int *rows, int *cols)
{
    *cols = *cols < 1 ? 1 : *cols > SCREEN_SIZE_MAX ? SCREEN_SIZE_MAX : *cols;
    *rows = *rows < 1 ? 1 : *rows > SCREEN_SIZE_MAX ? SCREEN_SIZE_MAX : *rows;
    if (*rows > PAINT_CELLS_MAX / *cols)
        *rows = PAINT_CELLS_MAX / *cols;
}

struct paint *paint_new(int rows, int cols)
{
    struct paint *paint = xcalloc(1, sizeof *paint);
    paint_resize(paint, rows, cols);
    return paint;
}

void paint_pass(struct paint *paint, const struct paint_pass *pass)
{
    paint->pass = *pass;
}

void paint_free(struct paint *paint)
{
    if (!paint)
        return;
    free(paint->cells);
    free(paint->marks);
    free(paint->stamps);
    paint_modes_fini(&paint->modes);
    free(paint);
}

void paint_resize(struct paint *paint, int rows, int cols)
{
    clip(&rows, &cols);
    free(paint->cells);
    free(paint->marks);
    free(paint->stamps);
    paint->cells = xcalloc((size_t)rows * (size_t)cols, sizeof *paint->cells);
    paint->marks = xcalloc((size_t)rows, sizeof *paint->marks);
    paint->stamps = xcalloc((size_t)rows, sizeof *paint->stamps);
    paint->rows = rows;
    paint->cols = cols;
    paint->known = false;
}

void paint_forget(struct paint *paint)
{
    paint->known = false;
}

int paint_rows(const struct paint *paint)
{
    return paint->rows;
}

int paint_cols(const struct paint *paint)
{
    return paint->cols;
}

/* What the terminal shows of the line in this column; line is NULL below the screen. */
static struct cell seen(const struct paint *paint, const struct line *line, int col)
{
    int from = col + paint->left;
    if (!line || from >= line->cols)
        return blank;
    struct cell cell = line->cells[from];
    if (paint->colours)
        cell.pen = colours_pen(paint->colours, cell.pen);
    bool control = cell.rune < ' ' || (cell.rune >= 0x7f && cell.rune < 0xa0);
    bool cut = (cell.width == 2 && col + 1 >= paint->cols) || (cell.width == 0 && col == 0);
    if (cell.width == 0 && !cut)
        cell.rune = 0;
    else if (control || cut)
        cell.rune = ' ', cell.width = 1;
    fold_pen(&cell.pen, paint->pass.fold);
    if (!paint->pass.links)
        cell.pen.link = 0;
    return cell;
}

static bool same(const struct cell *a, const struct cell *b)
{
    return a->rune == b->rune && a->width == b->width && pen_equal(&a->pen, &b->pen);
}

static uint64_t hash_marks(const struct line *line)
{
    uint64_t hash = 0;
    if (!line || !line->marks)
        return 0;
    for (int i = 0; i < line->marks->count; i++)
        hash = (hash ^ (uint64_t)line->marks->list[i].rune ^
                (uint64_t)line->marks->list[i].col << 32) *
               0x100000001b3u;
    return hash;
}

static const struct line *line_of(const struct paint *paint, const struct screen *screen, int row)
{
    return row + paint->top < screen_rows(screen) ? screen_line(screen, row + paint->top) : NULL;
}

struct span {
    int from, to;
};

/* The columns to draw, beginning and ending with whole characters. False: none. */
static bool differs(const struct paint *paint, const struct line *line, int row, struct span *span)
{
    const struct cell *shown = paint->cells + (size_t)row * (size_t)paint->cols;
    if (paint->marks[row] != hash_marks(line)) {
        *span = (struct span){0, paint->cols};
        return true;
    }
    *span = (struct span){paint->cols, 0};
    for (int col = 0; col < paint->cols; col++) {
        struct cell cell = seen(paint, line, col);
        if (same(&cell, &shown[col]))
            continue;
        if (span->from > col)
            span->from = col;
        span->to = col + 1;
    }
    while (span->from > 0 && span->from < paint->cols &&
           (seen(paint, line, span->from).width == 0 || shown[span->from].width == 0))
        span->from--;
    while (span->to > 0 && span->to < paint->cols &&
           (seen(paint, line, span->to).width == 0 || shown[span->to].width == 0))
        span->to++;
    return span->from < span->to;
}

static bool changed(struct paint *paint, const struct line *line, int row, struct span *span)
{
    if (line && paint->stamps[row] == line->stamp)
        return false;
    bool other = differs(paint, line, row, span);
    paint->stamps[row] = line && !other ? line->stamp : 0;
    return other;
}

static void move_to(struct buf *out, int row, int col)
{
    buf_printf(out, "\033[%d;%dH", row + 1, col + 1);
}

static void use_pen(struct buf *out, const struct screen *screen, struct pen *pen,
                    const struct pen *wanted)
{
    const struct pen plain = {.link = wanted->link};
    if (pen->link != wanted->link)
        paint_sent_link(screen, wanted->link, out);
    pen->link = wanted->link;
    if (pen_equal(pen, wanted))
        return;
    *pen = *wanted;
    if (pen_equal(pen, &plain))
        buf_append_text(out, "\033[m");
    else
        pen_append_sgr(out, pen);
}

static void paint_append_cell(const struct paint *paint, struct buf *out, const struct line *line,
                              int row, int col, const struct cell *cell)
{
    const struct mark *marks;
    int count = line && col + paint->left < line->cols
                    ? line_marks(line, col + paint->left, &marks)
                    : 0;
    bool doubt = cell->rune >= WIDTH_DOUBT || count > 0;
    utf8_append_rune(out, cell->rune);
    for (int i = 0; i < count; i++)
        utf8_append_rune(out, marks[i].rune);
    if (doubt && col + cell->width < paint->cols)
        move_to(out, row, col + cell->width);
}

static void draw_span(struct paint *paint, struct buf *out, const struct screen *screen, int row,
                      struct span span)
{
    struct cell *shown = paint->cells + (size_t)row * (size_t)paint->cols;
    const struct line *line = line_of(paint, screen, row);
    struct pen pen = {0};
    int end = span.to;
    while (span.to == paint->cols && end > span.from) {
        struct cell last = seen(paint, line, end - 1);
        if (!same(&last, &blank))
            break;
        end--;
    }
    move_to(out, row, span.from);
    for (int col = span.from; col < end; col++) {
        struct cell cell = seen(paint, line, col);
        shown[col] = cell;
        if (cell.width == 0)
            continue;
        use_pen(out, screen, &pen, &cell.pen);
        paint_append_cell(paint, out, line, row, col, &cell);
    }
    use_pen(out, screen, &pen, &blank.pen);
    if (end < span.to)
        buf_append_text(out, "\033[K");
    for (int col = end; col < span.to; col++)
        shown[col] = blank;
    paint->marks[row] = hash_marks(line);
    paint->stamps[row] = line ? line->stamp : 0;
}

static void start_again(struct paint *paint, struct buf *out)
{
    buf_append_text(out, "\033[m\033[r\033[2J");
    for (size_t i = 0; i < (size_t)paint->rows * (size_t)paint->cols; i++)
        paint->cells[i] = blank;
    memset(paint->marks, 0, (size_t)paint->rows * sizeof *paint->marks);
    memset(paint->stamps, 0, (size_t)paint->rows * sizeof *paint->stamps);
    paint_modes_forget(&paint->modes);
    paint->known = true;
}

/* Chooses the part of a larger screen that has the cursor in it. */
static void choose_part(struct paint *paint, const struct screen *screen)
{
    struct screen_cursor cursor = screen_cursor(screen);
    int old_top = paint->top, old_left = paint->left;
    int last_top = screen_rows(screen) - paint->rows, last_left = screen_cols(screen) - paint->cols;
    if (cursor.row < paint->top)
        paint->top = cursor.row;
    if (cursor.row >= paint->top + paint->rows)
        paint->top = cursor.row - paint->rows + 1;
    if (cursor.col < paint->left)
        paint->left = cursor.col;
    if (cursor.col >= paint->left + paint->cols)
        paint->left = cursor.col - paint->cols + 1;
    if (paint->top > last_top)
        paint->top = last_top > 0 ? last_top : 0;
    if (paint->left > last_left)
        paint->left = last_left > 0 ? last_left : 0;
    BUG_UNLESS(cursor.row >= paint->top && cursor.row - paint->top < paint->rows);
    BUG_UNLESS(cursor.col >= paint->left && cursor.col - paint->left < paint->cols);
    if (paint->top != old_top || paint->left != old_left)
        memset(paint->stamps, 0, (size_t)paint->rows * sizeof *paint->stamps);
}

static int count_changed(struct paint *paint, const struct screen *screen, int enough)
{
    int count = 0;
    struct span span;
    for (int row = 0; row < paint->rows && count < enough; row++)
        count += changed(paint, line_of(paint, screen, row), row, &span);
    return count;
}

static uint64_t stamp_of(const struct paint *paint, const struct screen *screen, int row)
{
    const struct line *line = line_of(paint, screen, row);
    return line ? line->stamp : 0;
}

/* How many lines the terminal has to scroll so that most lines stand where they belong; 0: it needs
 * no scrolling. */
static int find_scroll(const struct paint *paint, const struct screen *screen)
{
    uint64_t first = stamp_of(paint, screen, 0);
    int by = 1, same = 0;
    if (first == 0 || paint->stamps[0] == first)
        return 0;
    while (by < paint->rows && paint->stamps[by] != first)
        by++;
    for (int row = 0; row + by < paint->rows; row++)
        same += paint->stamps[row + by] && paint->stamps[row + by] == stamp_of(paint, screen, row);
    return same > 1 && same * 2 > paint->rows - by ? by : 0;
}

/* Scrolls by line feeds in the last line, which every terminal knows. */
static void scroll(struct paint *paint, int by, struct buf *out)
{
    size_t cols = (size_t)paint->cols, kept = (size_t)(paint->rows - by), gone = (size_t)by;
    move_to(out, paint->rows - 1, 0);
    for (int i = 0; i < by; i++)
        buf_append_byte(out, '\n');
    memmove(paint->cells, paint->cells + gone * cols, kept * cols * sizeof *paint->cells);
    memmove(paint->marks, paint->marks + gone, kept * sizeof *paint->marks);
    memmove(paint->stamps, paint->stamps + gone, kept * sizeof *paint->stamps);
    for (size_t i = kept * cols; i < (kept + gone) * cols; i++)
        paint->cells[i] = blank;
    memset(paint->marks + kept, 0, gone * sizeof *paint->marks);
    memset(paint->stamps + kept, 0, gone * sizeof *paint->stamps);
}

/* With other colours all lines may look different. */
static void use_colours(struct paint *paint, const struct screen *screen)
{
    paint->colours = screen_colours(screen);
    if (paint->recoloured != screen_recoloured(screen))
        memset(paint->stamps, 0, (size_t)paint->rows * sizeof *paint->stamps);
    paint->recoloured = screen_recoloured(screen);
}

bool paint_draw(struct paint *paint, const struct screen *screen, struct buf *out)
{
    size_t begin = out->len;
    bool whole = true, fresh = !paint->known;
    if (fresh)
        start_again(paint, out);
    choose_part(paint, screen);
    use_colours(paint, screen);
    paint_sent_draw(&paint->sent, &paint->pass, screen, fresh, out);
    int up = fresh ? 0 : find_scroll(paint, screen);
    bool several = up > 0 || count_changed(paint, screen, 2) > 1;
    if (several)
        paint_modes_begin(&paint->modes, out);
    if (up > 0)
        scroll(paint, up, out);
    for (int row = 0; row < paint->rows && whole; row++) {
        const struct line *line = line_of(paint, screen, row);
        struct span span;
        if (out->len - begin >= PAINT_BYTES)
            whole = false;
        else if (changed(paint, line, row, &span))
            draw_span(paint, out, screen, row, span);
    }
    struct screen_cursor cursor = screen_cursor(screen);
    bool drawn = out->len > begin;
    paint_modes_end(&paint->modes, screen, several, paint->pass.wheel, out);
    paint_modes_cursor(&paint->modes, cursor.row - paint->top, cursor.col - paint->left, drawn,
                       out);
    if (several)
        buf_append_text(out, "\033[?2026l");
    BUG_UNLESS(out->len - begin <= PAINT_BYTES_MAX);
    return whole;
}

static bool are_free(const struct paint *paint, const struct screen *screen, int row, int count,
                     int cursor)
{
    for (int at = row; at < row + count; at++) {
        const struct line *line = line_of(paint, screen, at);
        if (at == cursor || (line && line_used(line, true) > 0))
            return false;
    }
    return true;
}

void paint_prompt_rows(const struct paint *paint, const struct screen *screen, int *first,
                       int *last)
{
    int at = screen_cursor(screen).row, from = at, to = at;
    while (from > 0 && at - from < PROMPT_ROWS && screen_line(screen, from - 1)->wrapped)
        from--;
    int end = screen_rows(screen) - 1;
    while (to < end && to - at < PROMPT_ROWS && screen_line(screen, to)->wrapped)
        to++;
    *first = from > paint->top ? from - paint->top : 0;
    *last = to - paint->top < paint->rows ? to - paint->top : paint->rows - 1;
}

int paint_free_rows(const struct paint *paint, const struct screen *screen, int count)
{
    int cursor = screen_cursor(screen).row - paint->top, last = paint->rows - count;
    if (last <= 0)
        return 0;
    for (int row = last; row >= 0; row--)
        if (are_free(paint, screen, row, count, cursor))
            return row;
    return cursor >= paint->rows / 2 ? 0 : last;
}
