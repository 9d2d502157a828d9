/* screen_text: owns the way of characters into cells: their width, the line drawing set, marks that join the cell before, and the
 * knowledge which lines go on in the next one. */
#include "base/utf8.h"
#include "term/internal.h"
#include <string.h>

#define STAND_IN_1 "\xc3\xa9"     /* what the engine gets for a narrow character beyond ASCII, */
#define STAND_IN_2 "\xe4\xb8\x80" /* and for a wide one */

#define PAST_EDGE 3 /* characters that take the cursor past the right edge, from where it is left to the engine */

/* DEC special graphics, 0x5f to 0x7e (VT100 user guide, table 3-9). */
static const int32_t drawing[] = {0xa0,   0x25c6, 0x2592, 0x2409, 0x240c, 0x240d, 0x240a, 0xb0,   0xb1,   0x2424, 0x240b,
                                  0x2518, 0x2510, 0x250c, 0x2514, 0x253c, 0x23ba, 0x23bb, 0x2500, 0x23bc, 0x23bd, 0x251c,
                                  0x2524, 0x2534, 0x252c, 0x2502, 0x2264, 0x2265, 0x3c0,  0x2260, 0xa3,   0xb7};

/* A line goes on when the engine has put this character at the beginning of the next one for want of room behind the last. */
static void note_wrap(struct screen *screen, int row, int col, int width)
{
    if (!screen->flowing || col != 0 || screen->flow_end + width <= screen->cols)
        return;
    bool next = row == screen->flow_row + 1 && screen->flow_scrolls == 0;
    bool scrolled = row == screen->flow_row && screen->flow_scrolls == 1;
    if (!next && !scrolled)
        return;
    if (row > 0)
        screen->grids[screen->current][row - 1].wrapped = true;
    else if (screen->current == 0)
        scrollback_wrap(screen->scrollback);
}

void screen_put(struct screen *screen, int row, int col, int32_t rune, int width)
{
    if (row < 0 || row >= screen->rows || col < 0 || width < 1 || width > 2 || col + width > screen->cols)
        return;
    note_wrap(screen, row, col, width);
    line_put(&screen->grids[screen->current][row], col, rune, width, &screen->pen);
    screen->flowing = true;
    screen->flow_row = screen->mark_row = row;
    screen->flow_end = col + width;
    screen->flow_scrolls = 0;
    screen->mark_col = col;
    screen->last_rune = rune;
    screen_touch(screen, (size_t)width);
}

/* Marks without a shape that change how other text is read: reordering, line ends, hidden tags. Never kept. */
static bool is_harmful(int32_t rune)
{
    return rune == 0x200e || rune == 0x200f || (rune >= 0x2028 && rune <= 0x202e) || (rune >= 0x2060 && rune <= 0x206f) || rune == 0x61c ||
           rune == 0xfeff || (rune >= 0xfff9 && rune <= 0xfffb) || (rune >= 0xe0000 && rune <= 0xe00ff);
}

struct pending { /* characters that the engine has not been given yet */
    char bytes[TOKENS_RUN * 3];
    int32_t runes[TOKENS_RUN];
    size_t size, count;
};

static void flush(struct screen *screen, struct pending *pending)
{
    if (pending->count == 0)
        return;
    screen->queue = pending->runes;
    screen->queue_at = 0;
    screen->queue_count = pending->count;
    screen_drive(screen, pending->bytes, pending->size);
    screen->queue_count = 0;
    pending->size = pending->count = 0;
}

static void add(struct pending *pending, int32_t rune, int width)
{
    const char *stand_in = width == 2 ? STAND_IN_2 : STAND_IN_1;
    pending->runes[pending->count++] = rune;
    if (rune < 0x80) {
        pending->bytes[pending->size++] = (char)rune;
        return;
    }
    memcpy(pending->bytes + pending->size, stand_in, strlen(stand_in));
    pending->size += strlen(stand_in);
}

/* What the engine would do wrong with wide characters. False: there is no place for it. */
static bool make_room(struct screen *screen)
{
    bool fits = screen->cursor.col + 2 <= screen->cols;
    if (screen->cols < 2 || (!screen->modes.autowrap && !fits))
        return false;
    if (screen->modes.insert && fits)
        screen_drive(screen, "\033[@", 3);
    return true;
}

void screen_on_text(struct screen *screen, const int32_t *runes, size_t count)
{
    struct pending pending; /* not zeroed: large, and mostly not needed */
    bool drawn = screen->sets[screen->shift] == '0', careful = !screen->modes.autowrap || screen->modes.insert || screen->cols < 2;
    bool direct = !drawn && !screen->modes.insert && screen_may_go_direct(screen);
    screen->keeps_history = true;
    pending.size = pending.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (direct && pending.count == PAST_EDGE)
            flush(screen, &pending);
        if (direct && pending.count == 0)
            i += screen_put_direct(screen, runes + i, count - i);
        if (i == count)
            break;
        int32_t rune = runes[i];
        if (drawn && rune >= 0x5f && rune <= 0x7e)
            rune = drawing[rune - 0x5f];
        int width = rune < 0x300 ? 1 : utf8_width(rune);
        if (width == 0) {
            flush(screen, &pending);
            if (screen->mark_row >= 0 && !is_harmful(rune)) {
                line_mark(&screen->grids[screen->current][screen->mark_row], screen->mark_col, rune);
                screen_touch(screen, 1);
            }
            continue;
        }
        if (width == 2 && careful) {
            flush(screen, &pending);
            if (!make_room(screen))
                continue;
        }
        add(&pending, rune, width);
    }
    flush(screen, &pending);
}

void screen_repeat(struct screen *screen, int count)
{
    int32_t runes[TOKENS_RUN];
    char sets[2] = {screen->sets[0], screen->sets[1]};
    int width = screen->last_rune ? utf8_width(screen->last_rune) : 0, room = width > 0 ? (screen->cols - screen->cursor.col) / width : 0;
    int left = count < 1 ? 1 : count;
    left = left < room ? left : room;
    for (int i = 0; i < TOKENS_RUN; i++)
        runes[i] = screen->last_rune;
    memset(screen->sets, 'B', sizeof screen->sets); /* it was translated already */
    for (; left > 0; left -= TOKENS_RUN)
        screen_on_text(screen, runes, (size_t)(left < TOKENS_RUN ? left : TOKENS_RUN));
    memcpy(screen->sets, sets, sizeof sets);
}
