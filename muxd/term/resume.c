/* resume: owns the bytes that rebuild a terminal's state from a screen. */
#include "term/resume.h"
#include "base/utf8.h"
#include "term/internal.h"
#include <string.h>

static void append_shown(struct buf *out, int32_t rune)
{
    bool control = rune < ' ' || (rune >= 0x7f && rune < 0xa0);
    utf8_append_rune(out, control ? ' ' : rune);
}

static void draw_line(struct buf *out, const struct line *line, int row)
{
    struct pen pen = {0};
    int used = line_used(line, true);
    if (used == 0)
        return;
    buf_printf(out, "\033[%d;1H", row + 1);
    for (int col = 0; col < used; col++) {
        const struct cell *cell = &line->cells[col];
        const int32_t *marks = line_marks(line, col);
        if (!pen_equal(&pen, &cell->pen) && cell->width > 0)
            pen_append_sgr(out, &cell->pen), pen = cell->pen;
        if (cell->width > 0)
            append_shown(out, cell->rune);
        for (int i = 0; marks && i < CELL_MARKS && marks[i]; i++)
            append_shown(out, marks[i]);
    }
    buf_append_text(out, "\033[m");
}

static void draw_grid(struct buf *out, const struct line *grid, int rows)
{
    for (int row = 0; row < rows; row++)
        draw_line(out, &grid[row], row);
}

static void draw_saved(struct buf *out, const struct screen_saved *saved)
{
    if (saved->row == 0 && saved->col == 0)
        return;
    buf_printf(out, "\033[%d;%dH", saved->row + 1, saved->col + 1);
    pen_append_sgr(out, &saved->pen);
    buf_append_text(out, "\0337\033[m");
}

static void set(struct buf *out, int mode, bool on)
{
    buf_printf(out, "\033[?%d%c", mode, on ? 'h' : 'l');
}

static void draw_sets(struct buf *out, const char sets[2], int shift)
{
    buf_printf(out, "\033(%c\033)%c%c", sets[0], sets[1], shift ? '\016' : '\017');
}

static void draw_modes(struct buf *out, const struct screen *screen)
{
    const struct screen_modes *modes = &screen->modes;
    if (screen->top || screen->bottom)
        buf_printf(out, "\033[%d;%dr", screen->top + 1, screen->bottom ? screen->bottom : screen->rows);
    if (modes->origin)
        set(out, 6, true);
    if (modes->reverse)
        set(out, 5, true);
    if (modes->insert)
        buf_append_text(out, "\033[4h");
    if (modes->newline)
        buf_append_text(out, "\033[20h");
    if (modes->application_cursor)
        set(out, 1, true);
    if (!modes->cursor_visible)
        set(out, 25, false);
    if (modes->cursor_shape)
        buf_printf(out, "\033[%d q", modes->cursor_shape);
    if (modes->bracketed_paste)
        set(out, 2004, true);
    draw_sets(out, screen->sets, screen->shift);
}

void resume_draw(const struct screen *screen, struct buf *out)
{
    int row = screen->cursor.row, top = screen->modes.origin ? screen->top : 0;
    set(out, 7, false); /* a full last line must not scroll */
    draw_grid(out, screen->grids[0], screen->rows);
    if (screen->current && screen->grids[1]) {
        draw_saved(out, &screen->saved[0]);
        buf_printf(out, "\033[%d;%dH", screen->before_alternate.row + 1, screen->before_alternate.col + 1);
        draw_sets(out, screen->before_alternate.sets, screen->before_alternate.shift);
        pen_append_sgr(out, &screen->before_alternate.pen);
        set(out, 1049, true);
        buf_append_text(out, "\033[m\033(B\033)B\017\033[2J");
        draw_grid(out, screen->grids[1], screen->rows);
    }
    draw_saved(out, &screen->saved[screen->current]);
    draw_modes(out, screen);
    if (screen->modes.autowrap)
        set(out, 7, true);
    buf_printf(out, "\033[%d;%dH", (row > top ? row - top : 0) + 1, screen->cursor.col + 1);
    pen_append_sgr(out, &screen->pen);
    if (screen->title[0]) {
        buf_append_text(out, "\033]2;");
        utf8_append_escaped(out, screen->title, strlen(screen->title), false);
        buf_append_text(out, "\033\\");
    }
}
