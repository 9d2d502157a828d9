/* screen_move: owns the cursor's place: moves, margins, the origin, tabs, line feeds, saving and
 * restoring. Every move ends a pending wrap (DEC's last column flag), as in xterm and VT510, except
 * a tab that can't go further. */
#include "base/bug.h"
#include "term/internal.h"
#include <string.h>

void screen_move(struct screen *screen, int row, int col)
{
    screen->cursor.row = screen_clamp(row, 0, screen->rows);
    screen->cursor.col = screen_clamp(col, 0, screen->cols);
    screen->pending = false;
    screen->version++;
}

void screen_place(struct screen *screen, int row, int col)
{
    if (screen->modes.origin)
        row = screen_clamp(row + screen->top, screen->top, screen->bottom);
    screen_move(screen, row, col);
}

void screen_climb(struct screen *screen, int by, int col)
{
    int from = screen->cursor.row, row = from + by;
    if (row < screen->top && from >= screen->top)
        row = screen->top;
    if (row >= screen->bottom && from < screen->bottom)
        row = screen->bottom - 1;
    screen_move(screen, row, col);
}

void screen_margins(struct screen *screen, int top, int bottom)
{
    BUG_UNLESS(top >= 0 && top < bottom && bottom <= screen->rows);
    screen->top = top;
    screen->bottom = bottom;
    screen_place(screen, 0, 0);
}

void screen_linefeed(struct screen *screen)
{
    if (screen->cursor.row == screen->bottom - 1)
        screen_scroll(screen, screen->top, screen->bottom, 1, true);
    else if (screen->cursor.row < screen->rows - 1)
        screen->cursor.row++;
    screen->pending = false;
    screen->version++;
}

void screen_reverse_linefeed(struct screen *screen)
{
    if (screen->cursor.row == screen->top)
        screen_scroll(screen, screen->top, screen->bottom, -1, false);
    else
        screen_move(screen, screen->cursor.row - 1, screen->cursor.col);
    screen->pending = false;
}

static bool is_tab(const struct screen *screen, int col)
{
    return screen->tabs[col / 8] >> col % 8 & 1;
}

void screen_tab(struct screen *screen, int count)
{
    int col = screen->cursor.col, step = count < 0 ? -1 : 1, end = step < 0 ? 0 : screen->cols - 1;
    while (count != 0 && col != end) {
        col += step;
        count -= is_tab(screen, col) ? step : 0;
    }
    if (col != screen->cursor.col)
        screen_move(screen, screen->cursor.row, col);
}

void screen_tab_set(struct screen *screen, bool set)
{
    int col = screen->cursor.col;
    uint8_t *byte = &screen->tabs[col / 8], bit = (uint8_t)(1 << col % 8);
    *byte = set ? *byte | bit : *byte & (uint8_t)~bit;
}

void screen_tabs_fill(struct screen *screen, bool set)
{
    /* the lowest bit of each byte is an eighth column */
    memset(screen->tabs, set, sizeof screen->tabs);
}

void screen_save_cursor(const struct screen *screen, struct screen_saved *saved)
{
    *saved = (struct screen_saved){.cursor = screen->cursor,
                                   .pending = screen->pending,
                                   .pen = screen->pen,
                                   .origin = screen->modes.origin,
                                   .shift = screen->shift,
                                   .asked = true};
    memcpy(saved->sets, screen->sets, sizeof saved->sets);
}

void screen_restore_cursor(struct screen *screen, const struct screen_saved *saved)
{
    screen->pen = saved->pen;
    screen->shift = saved->shift;
    memcpy(screen->sets, saved->sets, sizeof screen->sets);
    screen->modes.origin = saved->origin;
    screen_place(screen, saved->cursor.row - (saved->origin ? screen->top : 0), saved->cursor.col);
    screen->pending =
        saved->pending && saved->cursor.col == screen->cols - 1 && screen->modes.autowrap;
}
