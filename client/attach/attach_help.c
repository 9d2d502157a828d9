/* attach_help: owns the page of keys, made from wire/attach.def. */
#include "client/attach/attach_help.h"
#include "client/terminal/overlay.h"
#include "wire/attach.h"

#define NAME_COLS 30 /* room for the longest list of keys */

struct page {
    const char *prefix, *session, *keyboard;
};

static void line(struct buf *out, int *row, int rows, int cols, const char *style, struct buf *text)
{
    if (*row < rows)
        overlay_line(out, *row, cols, style, text->data ? text->data : "", text->len);
    ++*row;
    buf_clear(text);
}

static void list(struct buf *out, int *row, int rows, int cols, const struct attach_key *keys)
{
    struct buf text = BUF_INIT;
    for (; keys->keys; keys++) {
        buf_printf(&text, "  %-*s %s", NAME_COLS, keys->keys, keys->help);
        line(out, row, rows, cols, "", &text);
    }
    buf_fini(&text);
}

static void attach_help_draw(void *arg, struct buf *out, int rows, int cols)
{
    const struct page *page = arg;
    struct buf text = BUF_INIT;
    int row = 0;
    buf_printf(&text, "Keys after %s, in session '%s'", page->prefix, page->session);
    line(out, &row, rows, cols, "\033[1m", &text);
    list(out, &row, rows, cols, attach_keys);
    buf_append_text(&text, "In the scrolled view");
    line(out, &row, rows, cols, "\033[1m", &text);
    list(out, &row, rows, cols, attach_view_keys);
    if (page->keyboard) {
        buf_printf(&text, "The keyboard: %s", page->keyboard);
        line(out, &row, rows, cols, "", &text);
    }
    buf_append_text(&text, "Any key goes back.");
    line(out, &row, rows, cols, "\033[2m", &text);
    buf_fini(&text);
}

static bool attach_help_on_key(void *arg, int32_t key, int rows)
{
    (void)arg;
    (void)key;
    (void)rows;
    return true;
}

bool attach_help_run(const char *prefix, const char *session, const char *keyboard, struct buf *out)
{
    struct page page = {.prefix = prefix, .session = session, .keyboard = keyboard};
    struct overlay overlay = {.draw = attach_help_draw, .key = attach_help_on_key, .arg = &page};
    return overlay_run(&overlay, out);
}
