/* screen_direct: owns the short ways past the engine: where what it would do is plain, the model does it by itself, and the engine hears
 * of the cursor's new place only when it is needed again (screen->away). That is text that keeps clear of the right edge, ends of lines,
 * tabs that nobody has moved, and sequences that move the cursor or erase: nearly all of what programs print. Wrapping and insertion stay
 * the engine's. Not in origin mode, and not on a terminal too narrow to keep clear of its edge. */
#include "base/utf8.h"
#include "term/internal.h"

#define TAB 8 /* columns, as after a reset */

/* From this column on the engine may have a wrap pending, which only it knows. A wide character in the last two columns, too. */
static int edge_of(const struct screen *screen)
{
    return screen->cols - 2;
}

bool screen_may_go_direct(const struct screen *screen)
{
    return screen->cols > 2 && !screen->modes.origin;
}

static int clamp(int at, int size)
{
    return at < 0 ? 0 : at < size ? at : size - 1;
}

static void move_to(struct screen *screen, int row, int col)
{
    screen->cursor = (struct screen_cursor){.row = clamp(row, screen->rows), .col = clamp(col, screen->cols)};
    screen->away = true;
    screen->version++;
}

static size_t plain_run(const int32_t *runes, size_t count)
{
    size_t n = 0;
    while (n < count && runes[n] < 0x300)
        n++;
    return n;
}

size_t screen_put_direct(struct screen *screen, const int32_t *runes, size_t count)
{
    int from = screen->cursor.col, col = from, row = screen->cursor.row, edge = edge_of(screen);
    size_t taken = 0;
    if (!screen_may_go_direct(screen) || screen->modes.insert || col >= edge)
        return 0;
    struct line *line = &screen->grids[screen->current][row];
    while (taken < count && col < edge) {
        size_t left = count - taken, room = (size_t)(edge - col), n = plain_run(runes + taken, left < room ? left : room);
        int width = n > 0 ? (int)n : utf8_width(runes[taken]);
        if (width == 0 || col + width > edge)
            break;
        if (n > 0)
            line_put_run(line, col, runes + taken, (int)n, &screen->pen);
        else
            line_put(line, col, runes[taken], width, &screen->pen);
        taken += n > 0 ? n : 1;
        col += width;
        screen->mark_col = n > 0 ? col - 1 : col - width;
    }
    if (taken == 0)
        return 0;
    screen->flowing = true;
    screen->flow_row = screen->mark_row = row;
    screen->flow_end = col;
    screen->flow_scrolls = 0;
    screen->last_rune = runes[taken - 1];
    move_to(screen, row, col);
    screen_touch(screen, (size_t)(col - from));
    return taken;
}

bool screen_control_direct(struct screen *screen, char byte)
{
    int row = screen->cursor.row, col = screen->cursor.col, bottom = screen->bottom ? screen->bottom : screen->rows;
    if (!screen_may_go_direct(screen))
        return false;
    switch (byte) {
    case '\b':
        move_to(screen, row, col - 1);
        return true;
    case '\r':
        move_to(screen, row, 0);
        return true;
    case '\t':
        if (col >= edge_of(screen) || screen->tabs_set)
            return false;
        move_to(screen, row, col / TAB * TAB + TAB);
        return true;
    case '\n':
    case '\v':
    case '\f':
        if (col >= edge_of(screen))
            return false;
        if (row == bottom - 1)
            screen_scroll(screen, screen->top, bottom, 0, screen->cols, 1, 0);
        else
            row++;
        move_to(screen, row, screen->modes.newline ? 0 : col);
        return true;
    default:
        return false;
    }
}

bool screen_move_direct(struct screen *screen, char final, int first, int second)
{
    int row = screen->cursor.row, col = screen->cursor.col, by = first < 1 ? 1 : first;
    if (!screen_may_go_direct(screen))
        return false;
    switch (final) {
    case 'A': move_to(screen, row - by, col); return true;
    case 'B': move_to(screen, row + by, col); return true;
    case 'C': move_to(screen, row, col + by); return true;
    case 'D': move_to(screen, row, col - by); return true;
    case 'G': move_to(screen, row, first - 1); return true;
    case 'd': move_to(screen, first - 1, col); return true;
    case 'H':
    case 'f': move_to(screen, first - 1, second - 1); return true;
    default: return false;
    }
}

void screen_erase_line(struct screen *screen, int what)
{
    int row = screen->cursor.row, col = screen->cursor.col;
    screen_erase(screen, row, row + 1, what == 0 ? col : 0, what == 1 ? col + 1 : screen->cols);
}

void screen_erase_display(struct screen *screen, int what)
{
    int row = screen->cursor.row;
    if (what == 2) {
        screen_erase(screen, 0, screen->rows, 0, screen->cols);
        return;
    }
    screen_erase_line(screen, what);
    screen_erase(screen, what == 0 ? row + 1 : 0, what == 0 ? screen->rows : row, 0, screen->cols);
}
