/* scroll: owns the cursor in the history, the search and the selection. Its keys are the
 * ATTACH_VIEW rows of wire/attach.def. */
#include "client/attach/scroll.h"
#include "base/bug.h"
#include "base/utf8.h"
#include "client/terminal/fit.h"
#include "client/terminal/overlay.h"
#include "client/terminal/terminal.h"
#include <stdio.h>
#include <string.h>

#define WORDS_MAX 200 /* bytes searched for */
#define WHEEL_LINES 3
#define SIDE_COLS 8

struct scroll {
    const struct history *history;
    const char *name;
    struct buf *copied;
    size_t top, line;         /* the first line on the screen; the cursor's line */
    int left;
    bool selects;
    size_t anchor;            /* the other end of the selection */
    char words[WORDS_MAX + 1];
    bool typing, up;          /* the person types the words; the search goes up */
    bool sought;              /* a search was made: matches are marked */
    const char *said;         /* shown in place of the usual last line; NULL: nothing */
};

static int body(int rows)
{
    return rows > 1 ? rows - 1 : 1; /* the last line shows the position */
}

static void keep_in_sight(struct scroll *scroll, int rows)
{
    size_t shown = (size_t)body(rows),
           last_top = scroll->history->count > shown ? scroll->history->count - shown : 0;
    if (scroll->line < scroll->top)
        scroll->top = scroll->line;
    if (scroll->line >= scroll->top + shown)
        scroll->top = scroll->line - shown + 1;
    if (scroll->top > last_top)
        scroll->top = last_top;
}

static void selection(const struct scroll *scroll, size_t *from, size_t *to)
{
    *from = scroll->selects && scroll->anchor < scroll->line ? scroll->anchor : scroll->line;
    *to = scroll->selects && scroll->anchor > scroll->line ? scroll->anchor : scroll->line;
}

static void append_state(const struct scroll *scroll, struct buf *full, struct buf *brief,
                         struct buf *keys)
{
    size_t from, to;
    selection(scroll, &from, &to);
    if (scroll->typing) {
        buf_printf(full, "%c%s", scroll->up ? '?' : '/', scroll->words);
    } else if (scroll->said) {
        buf_append_text(full, scroll->said);
    } else if (scroll->selects) {
        buf_printf(full, "%zu line%s selected: y copies, v drops the selection, q leaves",
                   to - from + 1, to > from ? "s" : "");
        buf_printf(brief, "%zu selected: y v q", to - from + 1);
        buf_append_text(keys, "y v q");
    } else {
        buf_printf(full, "%s, line %zu of %zu: q leaves, / searches, v selects, y copies",
                   scroll->name, scroll->line + 1, scroll->history->count);
        buf_printf(brief, "%s, line %zu of %zu: q / v y", scroll->name, scroll->line + 1,
                   scroll->history->count);
        buf_printf(keys, "q / v y, line %zu of %zu", scroll->line + 1, scroll->history->count);
    }
}

static void draw_last_line(const struct scroll *scroll, struct buf *out, int rows, int cols)
{
    struct buf full = BUF_INIT, brief = BUF_INIT, keys = BUF_INIT;
    append_state(scroll, &full, &brief, &keys);
    const char *const texts[] = {full.data, brief.data, keys.data, NULL};
    const char *text = fit_one(texts, cols);
    overlay_line(out, rows - 1, cols, "\033[7m", text, strlen(text));
    buf_fini(&full);
    buf_fini(&brief);
    buf_fini(&keys);
}

static void scroll_draw(void *arg, struct buf *out, int rows, int cols)
{
    struct scroll *scroll = arg;
    size_t from, to;
    keep_in_sight(scroll, rows);
    selection(scroll, &from, &to);
    for (int row = 0; row < body(rows) && scroll->top + (size_t)row < scroll->history->count;
         row++) {
        size_t line = scroll->top + (size_t)row;
        buf_printf(out, "\033[%d;1H", row + 1);
        history_draw(scroll->history, line, scroll->left, cols,
                     scroll->sought && scroll->words[0] ? scroll->words : NULL,
                     scroll->selects && line >= from && line <= to, out);
    }
    if (rows > 1)
        draw_last_line(scroll, out, rows, cols);
    if (!scroll->typing)
        buf_printf(out, "\033[%zu;1H", scroll->line - scroll->top + 1);
    buf_append_text(out, "\033[?25h");
}

static void scroll_move(struct scroll *scroll, long by)
{
    long line = (long)scroll->line + by, last = (long)scroll->history->count - 1;
    scroll->line = (size_t)(line < 0 ? 0 : line > last ? last : line);
}

/* The view moves; the cursor stays at its line while that is in sight. */
static void roll(struct scroll *scroll, long by, int rows)
{
    long shown = body(rows), count = (long)scroll->history->count,
         last = count > shown ? count - shown : 0;
    keep_in_sight(scroll, rows); /* keys may have come since the last drawing */
    long top = (long)scroll->top + by;
    top = top < 0 ? 0 : top > last ? last : top;
    scroll->top = (size_t)top;
    if ((long)scroll->line < top)
        scroll->line = (size_t)top;
    if ((long)scroll->line >= top + shown)
        scroll->line = (size_t)(top + shown - 1);
}

static void seek(struct scroll *scroll, bool up)
{
    long found = scroll->words[0] ? history_find(scroll->history, scroll->line, scroll->words, up)
                                  : -1;
    scroll->sought = true;
    if (found < 0) {
        scroll->said = scroll->words[0] ? "not found"
                                        : "nothing to search for: type / and some words";
        return;
    }
    if ((size_t)found != scroll->line && ((size_t)found > scroll->line) == up)
        scroll->said = up ? "found after going on from the end"
                          : "found after going on from the beginning";
    scroll->line = (size_t)found;
}

static void scroll_type(struct scroll *scroll, int32_t key)
{
    size_t len = strlen(scroll->words);
    if (key == '\r' || key == '\n') {
        scroll->typing = false;
        seek(scroll, scroll->up);
    } else if (key == 033 || key == 3) {
        scroll->typing = false;
        scroll->words[0] = '\0';
    } else if (key == 0x7f || key == '\b') {
        while (len > 0 && !utf8_is_boundary(scroll->words, len, len - 1))
            len--;
        scroll->words[len > 0 ? len - 1 : 0] = '\0';
    } else if (key >= ' ' && key < OVERLAY_UP && len + 4 <= WORDS_MAX) {
        len += utf8_encode(key, scroll->words + len);
        scroll->words[len] = '\0';
    }
}

static void begin_search(struct scroll *scroll, bool up)
{
    scroll->typing = true;
    scroll->up = up;
    scroll->words[0] = '\0';
}

static void scroll_copy(struct scroll *scroll)
{
    size_t from, to;
    selection(scroll, &from, &to);
    for (; from <= to; from++) {
        history_plain(scroll->history, from, scroll->copied);
        buf_append_byte(scroll->copied, '\n');
    }
}

/* True: the key moves the cursor or the view. */
static bool walk(struct scroll *scroll, int32_t key, int rows)
{
    long page = body(rows) > 1 ? body(rows) - 1 : 1;
    switch (key) {
    case OVERLAY_UP:
    case 'k':
        scroll_move(scroll, -1);
        break;
    case OVERLAY_DOWN:
    case 'j':
    case '\n':
        scroll_move(scroll, 1);
        break;
    case OVERLAY_WHEEL_UP:
        roll(scroll, -WHEEL_LINES, rows);
        break;
    case OVERLAY_WHEEL_DOWN:
        roll(scroll, WHEEL_LINES, rows);
        break;
    case OVERLAY_PAGE_UP:
    case 'b':
    case 'B' - '@':
        scroll_move(scroll, -page);
        break;
    case OVERLAY_PAGE_DOWN:
    case ' ':
    case 'F' - '@':
        scroll_move(scroll, page);
        break;
    case OVERLAY_HOME: case 'g': scroll->line = 0; break;
    case OVERLAY_END: case 'G': scroll->line = scroll->history->count - 1; break;
    case OVERLAY_LEFT: scroll->left -= scroll->left > 0 ? SIDE_COLS : 0; break;
    case OVERLAY_RIGHT: scroll->left += scroll->left < 1000 ? SIDE_COLS : 0; break;
    default: return false;
    }
    return true;
}

static bool scroll_on_key(void *arg, int32_t key, int rows)
{
    struct scroll *scroll = arg;
    scroll->said = NULL;
    if (scroll->typing) {
        scroll_type(scroll, key);
        return false;
    }
    if (walk(scroll, key, rows))
        return false;
    switch (key) {
    case '/': begin_search(scroll, false); break;
    case '?': begin_search(scroll, true); break;
    case 'n': seek(scroll, scroll->up); break;
    case 'N': seek(scroll, !scroll->up); break;
    case 'v':
        scroll->selects = !scroll->selects;
        scroll->anchor = scroll->line;
        break;
    case 'y': case '\r':
        scroll_copy(scroll);
        return true;
    case 'q': case 033: case 3:
        return true;
    default:
        break;
    }
    return false;
}

bool scroll_run(const struct history *history, const char *name, bool mouse, bool rolled,
                struct buf *out, struct buf *copied)
{
    struct scroll scroll = {.history = history,
                            .name = name,
                            .copied = copied,
                            .top = history->count,
                            .line = history->count - 1};
    int rows, cols;
    BUG_UNLESS(history->count > 0 && copied->len == 0);
    terminal_size(&rows, &cols);
    if (rolled)
        roll(&scroll, -WHEEL_LINES, rows);
    struct overlay overlay = {
        .draw = scroll_draw, .key = scroll_on_key, .arg = &scroll, .mouse = mouse};
    return overlay_run(&overlay, out);
}
