/* screen: owns the model's life, and the feeding of bytes. */
#include "term/screen.h"
#include "base/bug.h"
#include "base/mem.h"
#include "term/internal.h"
#include <stdlib.h>
#include <string.h>

struct screen *screen_new(int rows, int cols, size_t scrollback_bytes)
{
    struct screen *screen = xcalloc(1, sizeof *screen);
    screen->rows = screen_clamp_size(rows);
    screen->cols = screen->own_cols = screen_clamp_size(cols);
    screen->work_max = SIZE_MAX;
    screen->scrollback = scrollback_new(scrollback_bytes, screen->cols);
    buf_init(&screen->pass.copying, SCREEN_CLIPBOARD_MAX);
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
    colours_reset(&screen->colours);
    for (int i = 0; i < screen->title_count; i++)
        free(screen->titles[i]);
    screen_pass_fini(&screen->pass);
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
void screen_check(const struct screen *screen)
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
