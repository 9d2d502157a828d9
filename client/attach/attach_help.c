/* attach_help: owns the page of keys, made from wire/attach.def. */
#include "client/attach/attach_help.h"
#include "client/terminal/overlay.h"
#include "wire/attach.h"

#define NAME_COLS 30 /* room for the longest list of keys */

struct page {
    const char *prefix, *session, *keyboard;
    int first; /* the line at the top */
    bool more; /* lines follow below the last row */
    /* while it is drawn */
    struct buf *out;
    int line, room, cols;
};

static void help_line(struct page *page, const char *style, struct buf *text)
{
    int row = page->line++ - page->first;
    if (row >= 0 && row < page->room)
        overlay_line(page->out, row, page->cols, style, text->data ? text->data : "", text->len);
    buf_clear(text);
}

static void help_keys(struct page *page, const struct attach_key *keys)
{
    struct buf text = BUF_INIT;
    for (; keys->keys; keys++) {
        buf_printf(&text, "  %-*s %s", NAME_COLS, keys->keys, keys->help);
        help_line(page, "", &text);
    }
    buf_fini(&text);
}

static void help_lines(struct page *page)
{
    struct buf text = BUF_INIT;
    page->line = 0;
    buf_printf(&text, "Keys after %s, in session '%s'", page->prefix, page->session);
    help_line(page, "\033[1m", &text);
    help_keys(page, attach_keys);
    buf_append_text(&text, "In the scrolled view");
    help_line(page, "\033[1m", &text);
    help_keys(page, attach_view_keys);
    if (page->keyboard) {
        buf_printf(&text, "The keyboard: %s", page->keyboard);
        help_line(page, "", &text);
    }
    buf_append_text(&text, "Any key goes back.");
    help_line(page, "\033[2m", &text);
    buf_fini(&text);
}

static void attach_help_draw(void *arg, struct buf *out, int rows, int cols)
{
    static const char more[] = "There is more: Space shows it, any other key goes back.";
    struct page *page = arg;
    page->out = out;
    page->cols = cols;
    page->room = 0; /* counts only */
    help_lines(page);
    page->more = page->line - page->first > rows && rows > 1;
    page->room = page->more ? rows - 1 : rows;
    help_lines(page);
    if (page->more)
        overlay_line(out, rows - 1, cols, "\033[2m", more, sizeof more - 1);
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
