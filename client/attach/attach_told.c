/* attach_told: owns the lines for the person on an attached terminal. They stand beside the line
 * that the person types in, for a few seconds or until the next key. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "client/attach/attached.h"
#include "client/terminal/fit.h"
#include "client/terminal/terminal.h"
#include <stdlib.h>
#include <string.h>

#define NOTICE_MS 4000

/* A row of the terminal; 0: it names none. */
static int notice_row_of(const struct attach *attach, const struct json *status, const char *key)
{
    int64_t row;
    if (!json_get_int(status, key, &row) || row < 1)
        return 0;
    return row < attach->rows ? (int)row : attach->rows; /* it may just have shrunk */
}

void attach_notice_place(struct attach *attach, const struct json *status)
{
    attach->notice_row = notice_row_of(attach, status, "notice_row");
    attach->prompt_first = notice_row_of(attach, status, "prompt_first");
    attach->prompt_last = notice_row_of(attach, status, "prompt_last");
}

/* The first row of so many lines: where the daemon wants them, at the bottom, or at the top. 0:
 * nowhere without covering the prompt. */
static int place_of(const struct attach *attach, int lines, int rows)
{
    const int places[] = {attach->notice_row, rows - lines + 1, 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int first = places[i], last = first + lines - 1;
        if (first >= 1 && last <= rows &&
            (last < attach->prompt_first || first > attach->prompt_last))
            return first;
    }
    return 0;
}

/* In as many lines as it needs; where they have no place it rings instead. True: it is shown. */
static bool draw_notice(const struct attach *attach, const char *text, size_t size,
                        struct buf *out)
{
    int rows, cols, lines = 0;
    terminal_size(&rows, &cols);
    for (size_t at = 0; at < size; lines++)
        at += fit_line(text + at, size - at, cols);
    int row = place_of(attach, lines, rows);
    if (row == 0) {
        buf_append_byte(out, '\a');
        return false;
    }
    buf_append_text(out, "\0337");
    for (size_t at = 0; at < size; row++) {
        size_t part = fit_line(text + at, size - at, cols);
        buf_printf(out, "\033[%d;1H\033[m\033[2K\033[7m", row);
        buf_append(out, text + at, part);
        buf_append_text(out, "\033[m");
        at += part;
    }
    buf_append_text(out, "\0338");
    return true;
}

void attach_notice(struct attach *attach, const char *text, size_t size)
{
    if (attach->stale > 0) { /* the drawing that is due would cover it */
        free(attach->said);
        attach->said = xstrndup(text, size);
        return;
    }
    struct buf shown = BUF_INIT;
    const char *key = memchr(text, ATTACH_PREFIX, size);
    size_t before = key ? (size_t)(key - text) : size, behind = before + (key != NULL);
    utf8_append_escaped(&shown, text, before, false);
    buf_append_text(&shown, key ? attach->prefix_word : "");
    utf8_append_escaped(&shown, text + behind, size - behind, false);
    if (shown.len > 0 && draw_notice(attach, shown.data, shown.len, &attach->out))
        attach->notice_until_ms = clock_mono_ms() + NOTICE_MS;
    attach->notice_row = 0;
    buf_fini(&shown);
}

void attach_notice_end(struct attach *attach)
{
    if (!attach->notice_until_ms)
        return;
    attach->notice_until_ms = 0;
    attach_redraw(attach);
}
