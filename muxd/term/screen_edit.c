/* screen_edit: owns lines and their parts: erasing, inserting, deleting, scrolling, the two
 * screens. While a wrap is pending the cursor counts as behind the last column, as in tmux: an
 * erase to the right erases nothing, so that grep's "ESC [ K" behind a full line takes no
 * character. */
#include "base/bug.h"
#include "base/mem.h"
#include "term/internal.h"
#include <stdlib.h>
#include <string.h>

struct line *screen_grid_new(int rows, int cols)
{
    BUG_UNLESS(rows > 0 && rows <= SCREEN_SIZE_MAX && cols <= SCREEN_SIZE_MAX);
    struct line *grid = xcalloc((size_t)rows, sizeof *grid);
    for (int row = 0; row < rows; row++)
        line_init(&grid[row], cols);
    return grid;
}

void screen_grid_free(struct line *grid, int rows)
{
    for (int row = 0; grid && row < rows; row++)
        line_fini(&grid[row]);
    free(grid);
}

/* The columns [left, right) of the rows [top, bottom). */
static void screen_edit_erase(struct screen *screen, int top, int bottom, int left, int right)
{
    struct line *lines = screen->grids[screen->current];
    size_t cells = 0;
    for (int row = top; row < bottom && left < right; row++)
        cells += line_erase(&lines[row], left, right, screen->pen.bg) ? (size_t)(right - left) : 1;
    screen_touch(screen, cells);
}

static int right_of_cursor(const struct screen *screen)
{
    return screen->cursor.col + screen->pending;
}

void screen_erase_line(struct screen *screen, int what)
{
    int row = screen->cursor.row;
    screen_edit_erase(screen, row, row + 1, what == 0 ? right_of_cursor(screen) : 0,
          what == 1 ? screen->cursor.col + 1 : screen->cols);
}

void screen_erase_display(struct screen *screen, int what)
{
    int row = screen->cursor.row;
    if (screen->current == 0 && (what == 2 || (what == 0 && row + right_of_cursor(screen) == 0)))
        scrollback_end_line(screen->scrollback);
    screen_erase_line(screen, what);
    if (what != 1)
        screen_edit_erase(screen, row + 1, screen->rows, 0, screen->cols);
    if (what != 0)
        screen_edit_erase(screen, 0, row, 0, screen->cols);
}

void screen_erase_chars(struct screen *screen, int count)
{
    int row = screen->cursor.row, col = right_of_cursor(screen), most = screen->cols - col;
    screen_edit_erase(screen, row, row + 1, col, col + (count < most ? count : most));
}

void screen_insert_chars(struct screen *screen, int count)
{
    int col = right_of_cursor(screen);
    line_shift(screen_cursor_line(screen), col, screen->cols, count, screen->pen.bg);
    screen_touch(screen, (size_t)(screen->cols - col));
}

void screen_insert_lines(struct screen *screen, int count)
{
    if (screen->cursor.row >= screen->top && screen->cursor.row < screen->bottom)
        screen_scroll(screen, screen->cursor.row, screen->bottom, -count, false);
}

static void reverse(struct line *lines, int from, int to)
{
    for (to--; from < to; from++, to--) {
        struct line line = lines[from];
        lines[from] = lines[to];
        lines[to] = line;
    }
}

/* Moves lines up (down when negative); the caller erases those that come in. */
static void rotate(struct line *lines, int size, int by)
{
    int split = by > 0 ? by : size + by;
    if (by == 1) {
        struct line line = lines[0];
        memmove(lines, lines + 1, (size_t)(size - 1) * sizeof *lines);
        lines[size - 1] = line;
        return;
    }
    reverse(lines, 0, split);
    reverse(lines, split, size);
    reverse(lines, 0, size);
}

/* The line above that row, which may be the scrollback's last, does not go on in it. */
static void screen_edit_break(struct screen *screen, int below)
{
    if (below > 0)
        screen->grids[screen->current][below - 1].wrapped = false;
    else if (screen->current == 0)
        scrollback_end_line(screen->scrollback);
}

void screen_scroll(struct screen *screen, int top, int bottom, int by, bool kept)
{
    struct line *lines = screen->grids[screen->current];
    int size = bottom - top;
    BUG_UNLESS(top >= 0 && size > 0 && bottom <= screen->rows);
    by = screen_clamp(by, -size, size + 1);
    for (int row = 0; kept && top == 0 && screen->current == 0 && row < by; row++)
        scrollback_push(screen->scrollback, &lines[row]);
    /* what moves away from its neighbour no longer goes on with it */
    if (by < 0 || top > 0 || !kept)
        screen_edit_break(screen, top);
    if (by < 0)
        lines[bottom - 1 + (by > -size ? by : 0)].wrapped = false;
    rotate(lines + top, size, by);
    screen_edit_erase(screen, by > 0 ? bottom - by : top, by > 0 ? bottom : top - by, 0,
                      screen->cols);
    screen_touch(screen, (size_t)size / 8);
}

void screen_align(struct screen *screen)
{
    static const struct pen plain = {0};
    for (int row = 0; row < screen->rows; row++)
        for (int col = 0; col < screen->cols; col++)
            line_put(&screen->grids[screen->current][row], col, 'E', 1, &plain);
    screen_touch(screen, (size_t)screen->rows * (size_t)screen->cols);
    screen_margins(screen, 0, screen->rows);
}

void screen_alternate(struct screen *screen, bool alternate)
{
    int count = screen->kitty_count[alternate];
    if (alternate && !screen->grids[1])
        screen->grids[1] = screen_grid_new(screen->rows, screen->cols);
    screen->current = alternate;
    screen->pending = false;
    screen->modes.kitty = count ? screen->kitty[alternate][count - 1] : 0;
    screen->version++;
    if (alternate)
        screen_edit_erase(screen, 0, screen->rows, 0, screen->cols);
}
