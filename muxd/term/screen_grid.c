/* screen_grid: owns lines as a whole: erasing, scrolling, the two screens. */
#include "base/mem.h"
#include "term/internal.h"
#include <stdlib.h>
#include <string.h>

struct line *screen_grid_new(int rows, int cols)
{
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

static void clip(int *from, int *to, int size)
{
    *from = *from < 0 ? 0 : *from > size ? size : *from;
    *to = *to < *from ? *from : *to > size ? size : *to;
}

void screen_erase(struct screen *screen, int top, int bottom, int left, int right)
{
    size_t cells = 0;
    clip(&top, &bottom, screen->rows);
    clip(&left, &right, screen->cols);
    for (int row = top; row < bottom && right > left; row++)
        cells += line_erase(&screen->grids[screen->current][row], left, right, screen->pen.bg) ? (size_t)(right - left) : 1;
    screen_touch(screen, cells);
}

static void reverse(struct line *lines, int from, int to)
{
    for (to--; from < to; from++, to--) {
        struct line line = lines[from];
        lines[from] = lines[to];
        lines[to] = line;
    }
}

/* Whole lines: they change places, and those that come in are erased. */
static void scroll_lines(struct screen *screen, int top, int bottom, int by)
{
    struct line *lines = screen->grids[screen->current];
    int size = bottom - top, distance = by < 0 ? -by : by;
    if (distance > size)
        distance = size;
    bool kept = by > 0 && top == 0 && screen->current == 0 && screen->keeps_history;
    for (int row = 0; kept && row < distance; row++)
        scrollback_push(screen->scrollback, &lines[row]);
    int split = by > 0 ? top + distance : bottom - distance;
    if (distance == 1) {
        struct line line = lines[by > 0 ? top : bottom - 1];
        memmove(&lines[by > 0 ? top : top + 1], &lines[by > 0 ? top + 1 : top], (size_t)(size - 1) * sizeof *lines);
        lines[by > 0 ? bottom - 1 : top] = line;
    } else {
        reverse(lines, top, split);
        reverse(lines, split, bottom);
        reverse(lines, top, bottom);
    }
    int first = by > 0 ? bottom - distance : top;
    for (int row = first; row < first + distance; row++) {
        line_erase(&lines[row], 0, screen->cols, screen->pen.bg);
        lines[row].wrapped = false;
    }
    screen_touch(screen, (size_t)distance * (size_t)screen->cols + (size_t)size / 8);
}

void screen_scroll(struct screen *screen, int top, int bottom, int left, int right, int downward, int rightward)
{
    clip(&top, &bottom, screen->rows);
    clip(&left, &right, screen->cols);
    if (top >= bottom || left >= right)
        return;
    if (downward != 0) {
        scroll_lines(screen, top, bottom, downward); /* there are no side margins: always whole lines */
        screen->flow_scrolls++;
    }
    for (int row = top; rightward != 0 && row < bottom; row++) {
        line_shift(&screen->grids[screen->current][row], left, right, -rightward, screen->pen.bg);
        screen_touch(screen, (size_t)(right - left));
    }
}

void screen_alternate(struct screen *screen, bool alternate)
{
    if (alternate && !screen->grids[1])
        screen->grids[1] = screen_grid_new(screen->rows, screen->cols);
    screen->current = alternate;
    screen->mark_row = -1;
    screen->flowing = false;
    screen->modes.kitty = screen->kitty_count[alternate] ? screen->kitty[alternate][screen->kitty_count[alternate] - 1] : 0;
    screen->version++;
    if (alternate)
        screen_erase(screen, 0, screen->rows, 0, screen->cols);
}
