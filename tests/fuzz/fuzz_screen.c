/* Any bytes, cut anywhere, with changes of size and gaps between them: the model stays whole and within its bounds, every drawing of it
 * holds no control but those of its format, and where reads cut makes no difference. */
#include "base/bug.h"
#include "base/utf8.h"
#include "term/render.h"
#include "term/screen.h"
#include <stdint.h>
#include <string.h>

#define SCROLLBACK 8192

static void check_line(const struct screen *screen, int row)
{
    const struct line *line = screen_line(screen, row);
    BUG_UNLESS(line->cols == screen_cols(screen));
    for (int col = 0; col < line->cols; col++) {
        const struct cell *cell = &line->cells[col];
        BUG_UNLESS(cell->width <= 2 && cell->rune >= 0 && cell->rune <= 0x10ffff);
        BUG_UNLESS(cell->width != 2 || (col + 1 < line->cols && line->cells[col + 1].width == 0));
        BUG_UNLESS(cell->width != 0 || (col > 0 && line->cells[col - 1].width == 2));
    }
}

static void check_drawings(const struct screen *screen)
{
    for (enum render_format format = RENDER_TEXT; format <= RENDER_SVG; format++) {
        struct buf out = BUF_INIT;
        struct render_options options = {.format = format, .join = format & 1, .cursor = true, .history = 100};
        BUG_UNLESS(render(screen, &options, &out));
        BUG_UNLESS(out.len == 0 || utf8_valid(out.data, out.len));
        for (size_t i = 0; i < out.len; i++) {
            unsigned char byte = (unsigned char)out.data[i];
            BUG_UNLESS((byte >= 0x20 && byte != 0x7f) || byte == '\n' || (byte == 033 && format == RENDER_ANSI));
        }
        buf_fini(&out);
    }
}

/* There are as many rows as it says, of any width. */
static void check_rows(const struct scrollback *scrollback)
{
    struct line line;
    size_t count = scrollback_count(scrollback);
    BUG_UNLESS(!scrollback_get(scrollback, count, &line));
    for (size_t step = count / 7 + 1, age = 0; age < count; age += step) {
        BUG_UNLESS(scrollback_get(scrollback, age, &line));
        BUG_UNLESS(line.cols > 0 && line.cols <= SCREEN_SIZE_MAX);
        line_fini(&line);
    }
}

static void check(const struct screen *screen)
{
    struct screen_cursor cursor = screen_cursor(screen);
    BUG_UNLESS(cursor.row >= 0 && cursor.row < screen_rows(screen) && cursor.col >= 0 && cursor.col < screen_cols(screen));
    BUG_UNLESS(scrollback_bytes(screen_scrollback(screen)) <= SCROLLBACK * 8);
    check_rows(screen_scrollback(screen));
    BUG_UNLESS(utf8_valid(screen_title(screen), strlen(screen_title(screen))));
    for (int row = 0; row < screen_rows(screen); row++)
        check_line(screen, row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    int rows = data[0] % 40 + 1, cols = data[1] % 90 + 1;
    unsigned cuts = data[2];
    const char *bytes = (const char *)data + 3;
    size -= 3;
    struct screen *whole = screen_new(rows, cols, SCROLLBACK), *pieces = screen_new(rows, cols, SCROLLBACK);
    screen_feed(whole, bytes, size);
    for (size_t at = 0; at < size;) {
        size_t piece = (cuts = cuts * 1103515245u + 12345u) >> 16 & 7;
        piece = piece + 1 < size - at ? piece + 1 : size - at;
        at += screen_feed_some(pieces, bytes + at, piece, 16);
    }
    BUG_UNLESS(screen_hash(whole, true) == screen_hash(pieces, true));
    check(whole);
    check_drawings(whole);
    for (size_t at = 0; at < size;) { /* on with the one, now with changes */
        size_t piece = (cuts = cuts * 1103515245u + 12345u) >> 16 & 63;
        piece = piece + 1 < size - at ? piece + 1 : size - at;
        screen_feed(pieces, bytes + at, piece);
        at += piece;
        if (cuts >> 24 & 1)
            screen_resize(pieces, (int)(cuts >> 8 & 31), (int)(cuts >> 13 & 127));
        if ((cuts >> 25 & 7) == 0)
            screen_gap(pieces);
        check(pieces);
    }
    check_drawings(pieces);
    screen_free(whole);
    screen_free(pieces);
    return 0;
}
