/* screen: owns the model's life, the feeding of bytes, and changes of size. */
#include "term/screen.h"
#include "base/bug.h"
#include "base/mem.h"
#include "term/internal.h"
#include <stdlib.h>
#include <string.h>

#define COLUMNS 132 /* of DECCOLM */

static int clamp_size(int size)
{
    return screen_clamp(size, 1, SCREEN_SIZE_MAX + 1);
}

struct screen *screen_new(int rows, int cols, size_t scrollback_bytes)
{
    struct screen *screen = xcalloc(1, sizeof *screen);
    screen->rows = clamp_size(rows);
    screen->cols = screen->own_cols = clamp_size(cols);
    screen->work_max = SIZE_MAX;
    screen->scrollback = scrollback_new(scrollback_bytes);
    screen->grids[0] = screen_grid_new(screen->rows, screen->cols);
    screen_reset(screen);
    return screen;
}

void screen_free(struct screen *screen)
{
    if (!screen)
        return;
    screen_grid_free(screen->grids[0], screen->rows);
    screen_grid_free(screen->grids[1], screen->rows);
    scrollback_free(screen->scrollback);
    for (int i = 0; i < screen->title_count; i++)
        free(screen->titles[i]);
    free(screen);
}

void screen_touch(struct screen *screen, size_t cells)
{
    screen->version++;
    screen->work += cells;
    if (screen->work >= screen->work_max)
        screen->tokens.halt = true;
}

/* What holds between any two tokens, whatever the program writes. */
static void screen_check(const struct screen *screen)
{
    const struct screen_cursor *at = &screen->cursor;
    BUG_UNLESS(at->row >= 0 && at->row < screen->rows && at->col >= 0 && at->col < screen->cols);
    BUG_UNLESS(screen->top >= 0 && screen->top < screen->bottom && screen->bottom <= screen->rows);
    BUG_UNLESS(!screen->pending || (at->col == screen->cols - 1 && screen->modes.autowrap));
}

/* The rest of a sequence can't be told from text: skips to where a line or a sequence begins. */
static size_t screen_skip(struct screen *screen, const char *data, size_t size)
{
    size_t at = 0;
    while (at < size && screen->skipping) {
        char byte = data[at];
        if (byte == 033 || byte == '\n' || byte == '\r' || screen->skipped >= 4096) {
            screen->skipping = false;
            break;
        }
        screen->skipped++;
        at++;
    }
    return at;
}

size_t screen_feed_some(struct screen *screen, const char *data, size_t size, size_t work)
{
    size_t at = screen_skip(screen, data, size);
    screen->work = 0;
    screen->work_max = work;
    if (at < size)
        at += tokens_feed(&screen->tokens, data + at, size - at, &screen_sink, screen);
    screen_check(screen);
    screen->work_max = SIZE_MAX;
    return at;
}

void screen_feed(struct screen *screen, const char *data, size_t size)
{
    for (size_t at = 0; at < size;)
        at += screen_feed_some(screen, data + at, size - at, SIZE_MAX);
}

void screen_gap(struct screen *screen)
{
    tokens_reset(&screen->tokens);
    screen->skipping = true;
    screen->skipped = 0;
}

void screen_gap_in_string(struct screen *screen)
{
    tokens_reset_in_string(&screen->tokens);
    screen->skipping = false;
}

void screen_say(struct screen *screen, const char *sequences, size_t size)
{
    bool skipping = screen->skipping;
    screen->skipping = false;
    screen_feed(screen, sequences, size);
    screen->skipping = skipping;
}

/* Moves the lines of one grid to a new size; *row is where its cursor stands, before and after. */
static void resize_grid(struct screen *screen, int which, int rows, int cols, int *row)
{
    int old = screen->rows, drop = old - rows;
    struct line *from = screen->grids[which];
    if (!from)
        return;
    struct line *to = xcalloc((size_t)rows, sizeof *to);
    int below = old - 1 - *row, off = drop > below ? drop - below : 0, back = 0;
    for (int i = 0; i < off; i++) {
        if (which == 0)
            scrollback_push(screen->scrollback, &from[i]);
        line_fini(&from[i]);
    }
    if (which == 0 && drop < 0)
        back = screen_clamp(-drop, 0, (int)scrollback_count(screen->scrollback) + 1);
    for (int i = back; i > 0; i--)
        scrollback_pop(screen->scrollback, &to[i - 1], cols);
    int kept = old - off < rows - back ? old - off : rows - back;
    memcpy(to + back, from + off, (size_t)kept * sizeof *to);
    for (int i = off + kept; i < old; i++)
        line_fini(&from[i]);
    for (int i = back; i < back + kept; i++)
        line_resize(&to[i], cols);
    for (int i = back + kept; i < rows; i++)
        line_init(&to[i], cols);
    free(from);
    screen->grids[which] = to;
    *row += back - off;
    BUG_UNLESS(*row >= 0 && *row < rows);
}

/* 132 columns, or as many as the terminal has: its size belongs to those who look at it, not to the
 * program. */
void screen_columns(struct screen *screen, bool many)
{
    int own = screen->own_cols;
    screen_resize(screen, screen->rows, many ? COLUMNS : own);
    screen->own_cols = own;
    screen->modes.origin = false;
    screen_margins(screen, 0, screen->rows);
    screen_erase_display(screen, 2);
}

void screen_resize(struct screen *screen, int rows, int cols)
{
    bool pending = screen->pending;
    int row = screen->cursor.row, col = screen->cursor.col;
    int *main_row = &screen->before_alternate.cursor.row;
    rows = clamp_size(rows);
    cols = clamp_size(cols);
    screen->own_cols = cols;
    if (rows == screen->rows && cols == screen->cols)
        return;
    *main_row = screen->current ? screen_clamp(*main_row, 0, screen->rows) : row;
    resize_grid(screen, 0, rows, cols, main_row);
    resize_grid(screen, 1, rows, cols, &row);
    screen->rows = rows;
    screen->cols = cols;
    screen->modes.origin = false;
    screen_margins(screen, 0, rows);
    screen_move(screen, screen->current ? row : *main_row, col + pending);
    screen->pending = pending && col + 1 >= cols;
    screen_check(screen);
}
