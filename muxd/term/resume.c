/* resume: owns the bytes that rebuild a terminal's state from a screen. */
#include "term/resume.h"
#include "base/bug.h"
#include "base/utf8.h"
#include "term/internal.h"
#include <string.h>

static void append_shown(struct buf *out, int32_t rune)
{
    bool control = rune < ' ' || (rune >= 0x7f && rune < 0xa0);
    utf8_append_rune(out, control ? ' ' : rune);
}

static void draw_cells(struct buf *out, const struct line *line, int from, int to)
{
    struct pen pen = {0};
    for (int col = from; col < to; col++) {
        const struct cell *cell = &line->cells[col];
        const struct mark *marks;
        int count = line_marks(line, col, &marks);
        if (!pen_equal(&pen, &cell->pen) && cell->width > 0)
            pen_append_sgr(out, &cell->pen), pen = cell->pen;
        if (cell->width > 0)
            append_shown(out, cell->rune);
        for (int i = 0; i < count; i++)
            append_shown(out, marks[i].rune);
    }
    buf_append_text(out, "\033[m");
}

static void resume_set(struct buf *out, int mode, bool on)
{
    buf_printf(out, "\033[?%d%c", mode, on ? 'h' : 'l');
}

static void draw_grid(struct buf *out, const struct line *grid, int rows)
{
    for (int row = 0; row < rows; row++) {
        int used = line_used(&grid[row], true);
        if (used > 0)
            buf_printf(out, "\033[%d;1H", row + 1);
        draw_cells(out, &grid[row], 0, used);
    }
}

static void draw_place(struct buf *out, const struct screen_cursor *at, int top)
{
    buf_printf(out, "\033[%d;%dH", at->row - top + 1, at->col + 1);
}

/* Writing the character in the last column again makes the wrap pending. */
static void draw_pending(struct buf *out, const struct line *lines, const struct screen_cursor *at)
{
    const struct line *line = &lines[at->row];
    bool wide = line->cells[at->col].width == 0;
    resume_set(out, 7, true);
    buf_append_text(out, wide ? "\b" : "");
    draw_cells(out, line, at->col - wide, line->cols);
}

static void draw_saved(struct buf *out, const struct screen *screen, int which)
{
    const struct screen_saved *saved = &screen->saved[which];
    const struct screen_cursor *at = &saved->cursor;
    if (at->row == 0 && at->col == 0)
        return;
    draw_place(out, at, 0);
    if (saved->pending && at->row < screen->rows && at->col == screen->cols - 1)
        draw_pending(out, screen->grids[which], at);
    pen_append_sgr(out, &saved->pen);
    buf_append_text(out, "\0337\033[m");
    resume_set(out, 7, false);
}

static void draw_sets(struct buf *out, const char sets[2], int shift)
{
    buf_printf(out, "\033(%c\033)%c%c", sets[0], sets[1], shift ? '\016' : '\017');
}

static void draw_modes(struct buf *out, const struct screen *screen)
{
    const struct screen_modes *modes = &screen->modes;
    if (screen->top > 0 || screen->bottom < screen->rows)
        buf_printf(out, "\033[%d;%dr", screen->top + 1, screen->bottom);
    if (modes->origin)
        resume_set(out, 6, true);
    if (modes->reverse)
        resume_set(out, 5, true);
    if (modes->insert)
        buf_append_text(out, "\033[4h");
    if (modes->newline)
        buf_append_text(out, "\033[20h");
    if (modes->application_cursor)
        resume_set(out, 1, true);
    if (!modes->cursor_visible)
        resume_set(out, 25, false);
    if (modes->cursor_shape)
        buf_printf(out, "\033[%d q", modes->cursor_shape);
    if (modes->bracketed_paste)
        resume_set(out, 2004, true);
}

static void draw_before_alternate(struct buf *out, const struct screen *screen)
{
    const struct screen_saved *before = &screen->before_alternate;
    BUG_UNLESS(before->cursor.row >= 0 && before->cursor.row < screen->rows);
    draw_saved(out, screen, 0);
    draw_place(out, &before->cursor, 0);
    if (before->pending && before->cursor.col == screen->cols - 1)
        draw_pending(out, screen->grids[0], &before->cursor);
    draw_sets(out, before->sets, before->shift);
    pen_append_sgr(out, &before->pen);
    resume_set(out, 1049, true);
    resume_set(out, 7, false);
    buf_append_text(out, "\033[m\033(B\033)B\017\033[2J");
}

void resume_draw(const struct screen *screen, struct buf *out)
{
    const struct line *lines = screen->grids[screen->current];
    if (screen->colours)
        colours_append(out, screen->colours);
    resume_set(out, 7, false); /* a full last line must not scroll */
    draw_grid(out, screen->grids[0], screen->rows);
    if (screen->current) {
        draw_before_alternate(out, screen);
        draw_grid(out, lines, screen->rows);
    }
    draw_saved(out, screen, screen->current);
    draw_modes(out, screen);
    if (screen->modes.autowrap)
        resume_set(out, 7, true);
    draw_place(out, &screen->cursor, screen->modes.origin ? screen->top : 0);
    if (screen->pending)
        draw_pending(out, lines, &screen->cursor);
    draw_sets(out, screen->sets, screen->shift);
    pen_append_sgr(out, &screen->pen);
    if (screen->title[0]) {
        buf_append_text(out, "\033]2;");
        utf8_append_escaped(out, screen->title, strlen(screen->title), false);
        buf_append_text(out, "\033\\");
    }
}
