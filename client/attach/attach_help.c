/* attach_help: owns the page of keys, made from wire/attach.def. */
#include "client/attach/attach_help.h"
#include "client/terminal/fit.h"
#include "client/terminal/overlay.h"
#include "wire/attach.h"
#include <string.h>

#define NAME_COLS 30       /* room for the longest list of keys */
#define NARROW_NAME_COLS 2 /* on a narrow terminal: for one key */
#define KEYS_COLS (NAME_COLS + 3)
#define HELP_COLS 20 /* what they do needs as many, at least */

struct page {
    const char *prefix, *session, *keyboard;
    int first; /* the line at the top */
    bool more; /* lines follow below the last row */
    /* while it is drawn */
    struct buf *out;
    int line, room, cols;
};

static void help_row(struct page *page, const char *style, const char *text, size_t size, int at)
{
    int row = page->line++ - page->first;
    struct buf line = BUF_INIT;
    buf_printf(&line, "%*s", at, "");
    buf_append(&line, text, size);
    if (row >= 0 && row < page->room)
        overlay_line(page->out, row, page->cols, style, line.data, line.len);
    buf_fini(&line);
}

/* In as many rows as it needs; those behind the first begin at column `hang`. Takes the text. */
static void help_line(struct page *page, const char *style, struct buf *text, int hang)
{
    size_t at = fit_words(text->data, text->len, page->cols);
    help_row(page, style, text->data, at, 0);
    hang = hang < page->cols / 2 ? hang : 0;
    while (at < text->len) {
        size_t part = fit_words(text->data + at, text->len - at, page->cols - hang);
        help_row(page, style, text->data + at, part, hang);
        at += part;
    }
    buf_clear(text);
}

/* In two columns; on a narrow terminal the second one begins further left, below long names. */
static void help_keys(struct page *page, const struct attach_key *keys)
{
    struct buf text = BUF_INIT;
    bool narrow = page->cols < KEYS_COLS + HELP_COLS;
    for (; keys->keys; keys++) {
        int name_cols = narrow ? NARROW_NAME_COLS : NAME_COLS;
        buf_printf(&text, "  %-*s ", name_cols, keys->keys);
        if (narrow && strlen(keys->keys) > NARROW_NAME_COLS) {
            help_line(page, "", &text, 2);
            buf_printf(&text, "  %-*s ", name_cols, "");
        }
        buf_append_text(&text, keys->help);
        help_line(page, "", &text, name_cols + 3);
    }
    buf_fini(&text);
}

static void help_lines(struct page *page)
{
    struct buf text = BUF_INIT;
    page->line = 0;
    buf_printf(&text, "Keys after %s, in session '%s'", page->prefix, page->session);
    help_line(page, "\033[1m", &text, 0);
    help_keys(page, attach_keys);
    buf_append_text(&text, "In the scrolled view");
    help_line(page, "\033[1m", &text, 0);
    help_keys(page, attach_view_keys);
    if (page->keyboard) {
        buf_printf(&text, "The keyboard: %s", page->keyboard);
        help_line(page, "", &text, 0);
    }
    buf_append_text(&text, "Any key goes back.");
    help_line(page, "\033[2m", &text, 0);
    buf_fini(&text);
}

static void attach_help_draw(void *arg, struct buf *out, int rows, int cols)
{
    static const char *const more[] = {"There is more: Space shows it, any other key goes back.",
                                       "Space: more. Any other: back.", "Space shows more.", NULL};
    struct page *page = arg;
    page->out = out;
    page->cols = cols;
    page->room = 0; /* counts only */
    help_lines(page);
    page->more = page->line - page->first > rows && rows > 1;
    page->room = page->more ? rows - 1 : rows;
    help_lines(page);
    const char *last = fit_one(more, cols);
    if (page->more)
        overlay_line(out, rows - 1, cols, "\033[2m", last, strlen(last));
}

static bool attach_help_on_key(void *arg, int32_t key, int rows)
{
    struct page *page = arg;
    if (!page->more || (key != ' ' && key != OVERLAY_PAGE_DOWN && key != OVERLAY_DOWN))
        return true;
    page->first += rows - 1;
    return false;
}

bool attach_help_run(const char *prefix, const char *session, const char *keyboard, struct buf *out)
{
    struct page page = {.prefix = prefix, .session = session, .keyboard = keyboard};
    struct overlay overlay = {.draw = attach_help_draw, .key = attach_help_on_key, .arg = &page};
    return overlay_run(&overlay, out);
}
