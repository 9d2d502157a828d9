/* screen_text: owns how characters become cells: their width, the line drawing set, marks that join
 * the cell before, wrapping, and which lines continue in the next one. */
#include "base/utf8.h"
#include "term/internal.h"

/* DEC special graphics, 0x5f to 0x7e (VT100 user guide, table 3-9). */
static const int32_t drawing[] = {
    0xa0,   0x25c6, 0x2592, 0x2409, 0x240c, 0x240d, 0x240a, 0xb0,   0xb1,   0x2424, 0x240b,
    0x2518, 0x2510, 0x250c, 0x2514, 0x253c, 0x23ba, 0x23bb, 0x2500, 0x23bc, 0x23bd, 0x251c,
    0x2524, 0x2534, 0x252c, 0x2502, 0x2264, 0x2265, 0x3c0,  0x2260, 0xa3,   0xb7};

static void screen_text_wrap(struct screen *screen)
{
    line_wrap(screen_cursor_line(screen));
    screen_linefeed(screen);
    screen->cursor.col = 0;
}

/* Characters of one width; of width 2 only one. Returns how many were taken: as many as the line
 * has room for, and one that fits nowhere. */
static size_t screen_text_put(struct screen *screen, const int32_t *runes, size_t count, int width)
{
    struct screen_cursor *at = &screen->cursor;
    if (screen->pending || at->col + width > screen->cols) {
        if (!screen->modes.autowrap || width > screen->cols)
            return 1;
        screen_text_wrap(screen);
    }
    size_t room = (size_t)(screen->cols - at->col), taken = count < room ? count : room;
    int used = (int)taken * width;
    if (screen->modes.insert)
        screen_insert_chars(screen, used);
    if (width == 1)
        line_put_run(screen_cursor_line(screen), at->col, runes, used, &screen->pen);
    else
        line_put(screen_cursor_line(screen), at->col, *runes, width, &screen->pen);
    screen->last_rune = runes[taken - 1];
    screen->pending = at->col + used == screen->cols && screen->modes.autowrap;
    at->col = screen_clamp(at->col + used, 0, screen->cols);
    screen_touch(screen, (size_t)used);
    return taken;
}

/* Marks without a shape that change how other text is read: reordering, line ends, hidden tags.
 * They are dropped. */
static bool is_harmful(int32_t rune)
{
    return rune == 0x200e || rune == 0x200f || (rune >= 0x2028 && rune <= 0x202e) ||
           (rune >= 0x2060 && rune <= 0x206f) || rune == 0x61c || rune == 0xfeff ||
           (rune >= 0xfff9 && rune <= 0xfffb) || (rune >= 0xe0000 && rune <= 0xe00ff);
}

/* A mark joins the character left of the cursor, as in tmux, wherever the cursor came from. In the
 * first column that is the last character of the line that goes on here; else the mark stays in
 * this column. */
static void put_mark(struct screen *screen, int32_t rune)
{
    struct line *line = screen_cursor_line(screen);
    bool on_last = screen->pending ||
                   (!screen->modes.autowrap && screen->cursor.col == screen->cols - 1 &&
                    line->cells[screen->cols - 1].rune);
    int col = screen->cursor.col - !on_last;
    if (is_harmful(rune))
        return;
    if (col < 0 && screen->cursor.row > 0 && line[-1].wrapped) {
        line--;
        col = screen->cols - 1;
    }
    col = col < 0 ? 0 : col;
    line_mark(line, line->cells[col].width > 0 ? col : col - 1, rune);
    screen_touch(screen, 1);
}

static void print(struct screen *screen, const int32_t *runes, size_t count)
{
    for (size_t at = 0; at < count;) {
        size_t plain = 0;
        while (at + plain < count && runes[at + plain] < 0x300)
            plain++;
        int width = plain > 0 ? 1 : utf8_width(runes[at]);
        if (width > 0)
            at += screen_text_put(screen, runes + at, plain > 0 ? plain : 1, width);
        else
            put_mark(screen, runes[at++]);
    }
}

void screen_on_text(struct screen *screen, const int32_t *runes, size_t count)
{
    int32_t drawn[TOKENS_RUN];
    if (screen->sets[screen->shift] != '0') {
        print(screen, runes, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        drawn[i] = runes[i] >= 0x5f && runes[i] <= 0x7e ? drawing[runes[i] - 0x5f] : runes[i];
    print(screen, drawn, count);
}

void screen_repeat(struct screen *screen, int count)
{
    int width = utf8_width(screen->last_rune);
    int room = screen->pending || width == 0 ? 0 : (screen->cols - screen->cursor.col) / width;
    for (int left = count < room ? count : room; left > 0; left--)
        print(screen, &screen->last_rune, 1);
}
