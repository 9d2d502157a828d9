/* screen_read: owns what other rooms read of a screen. */
#include "base/bug.h"
#include "term/internal.h"

int screen_rows(const struct screen *screen)
{
    return screen->rows;
}

int screen_cols(const struct screen *screen)
{
    return screen->cols;
}

const struct line *screen_line(const struct screen *screen, int row)
{
    BUG_UNLESS(row >= 0 && row < screen->rows);
    return &screen->grids[screen->current][row];
}

struct screen_cursor screen_cursor_told(const struct screen *screen)
{
    struct screen_cursor cursor = screen->cursor;
    cursor.row -= screen->modes.origin ? screen->top : 0;
    return cursor;
}

struct screen_cursor screen_cursor(const struct screen *screen)
{
    return screen->cursor;
}

const struct screen_modes *screen_modes(const struct screen *screen)
{
    return &screen->modes;
}

const char *screen_title(const struct screen *screen)
{
    return screen->title;
}

int screen_report(const struct screen *screen, int mode)
{
    bool set = mode == 6 ? screen->modes.origin : screen->saved[screen->current].asked;
    return mode != 6 && mode != 1048 ? 0 : set ? 1 : 2;
}

const struct colours *screen_colours(const struct screen *screen)
{
    return screen->colours;
}

uint64_t screen_recoloured(const struct screen *screen)
{
    return screen->recoloured;
}

bool screen_is_alternate(const struct screen *screen)
{
    return screen->current == 1;
}

const struct scrollback *screen_scrollback(const struct screen *screen)
{
    return screen->scrollback;
}

uint64_t screen_version(const struct screen *screen)
{
    return screen->version;
}

size_t screen_work(const struct screen *screen)
{
    return screen->work;
}

/* FNV-1a, 64 bit: <http://www.isthe.com/chongo/tech/comp/fnv/>, public domain. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t screen_hash(const struct screen *screen, bool with_cursor)
{
    struct buf text = BUF_INIT;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t blank_lines = 0;
    for (int row = 0; row < screen->rows; row++) {
        const struct line *line = screen_line(screen, row);
        buf_clear(&text);
        line_append_text(line, &text, line_used(line, false));
        while (text.len > 0 && text.data[text.len - 1] == ' ')
            buf_truncate(&text, text.len - 1);
        for (; text.len > 0 && blank_lines > 0; blank_lines--)
            hash = hash_bytes(hash, "\n", 1);
        hash = hash_bytes(hash, text.data ? text.data : "", text.len);
        blank_lines++;
    }
    buf_clear(&text);
    if (with_cursor)
        buf_printf(&text, "\n%d;%d;%d", screen->cursor.row, screen->cursor.col,
                   screen->modes.cursor_visible);
    hash = hash_bytes(hash, text.data ? text.data : "", text.len);
    buf_fini(&text);
    return hash;
}

size_t screen_memory(const struct screen *screen)
{
    size_t grid = (size_t)screen->rows *
                  ((size_t)screen->cols * sizeof(struct cell) + sizeof(struct line));
    size_t marks = 0;
    for (int which = 0; which < 2; which++)
        for (int row = 0; screen->grids[which] && row < screen->rows; row++)
            marks += line_marks_memory(&screen->grids[which][row]);
    return sizeof *screen + grid * (screen->grids[1] ? 2 : 1) + marks +
           screen_pass_memory(&screen->pass) + scrollback_bytes(screen->scrollback) +
           (screen->colours ? sizeof *screen->colours : 0);
}
