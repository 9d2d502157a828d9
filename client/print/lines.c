/* lines: owns the cells of the current line, and the cursor in it. */
#include "client/print/lines.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

static void lines_append_cell(struct buf *out, const struct lines_cell *cell)
{
    char bytes[4];
    size_t size = utf8_encode(cell->rune ? cell->rune : ' ', bytes);
    if (cell->rune == '\t')
        buf_append_byte(out, '\t');
    else
        utf8_append_escaped(out, bytes, size, false);
    if (cell->mark) {
        size = utf8_encode(cell->mark, bytes);
        utf8_append_escaped(out, bytes, size, false);
    }
}

static void lines_emit(struct lines *lines)
{
    const struct pen plain = {0};
    struct pen pen = plain;
    struct buf out = BUF_INIT;
    size_t count = lines->count;
    while (count > 0 && (lines->cells[count - 1].rune == ' ' || lines->cells[count - 1].rune == 0))
        count--;
    for (size_t i = 0; i < count; i++) {
        const struct lines_cell *cell = &lines->cells[i];
        if (cell->rune < 0) /* the right half of a wide character */
            continue;
        if (lines->colors && !pen_equal(&pen, &cell->pen)) {
            pen = cell->pen;
            if (pen_equal(&pen, &plain))
                buf_append_text(&out, "\033[m");
            else
                pen_append_sgr(&out, &pen);
        }
        lines_append_cell(&out, cell);
    }
    if (!pen_equal(&pen, &plain))
        buf_append_text(&out, "\033[m");
    lines->fresh = false;
    lines->fn(lines->arg, out.data ? out.data : "", out.len);
    buf_fini(&out);
}

static void lines_forget(struct lines *lines)
{
    lines->count = lines->at = 0;
    lines->fresh = false;
}

static void grow_to(struct lines *lines, size_t count)
{
    if (count > lines->room) {
        lines->room = count < 128 ? 128 : 2 * count;
        lines->cells = xreallocarray(lines->cells, lines->room, sizeof *lines->cells);
    }
    while (lines->count < count)
        lines->cells[lines->count++] = (struct lines_cell){.rune = ' '};
}

static void lines_put(struct lines *lines, int32_t rune)
{
    if (lines->at >= LINES_CELLS_MAX) {
        lines_emit(lines);
        lines_forget(lines);
    }
    grow_to(lines, lines->at + 1);
    lines->cells[lines->at++] = (struct lines_cell){.rune = rune, .pen = lines->pen};
    lines->fresh = true;
}

static void lines_on_text(void *arg, const int32_t *runes, size_t count)
{
    struct lines *lines = arg;
    for (size_t i = 0; i < count; i++) {
        int width = utf8_width(runes[i]);
        if (width == 0 && lines->at > 0 && lines->at <= lines->count) {
            lines->cells[lines->at - 1].mark = runes[i];
        } else if (width > 0) {
            lines_put(lines, runes[i]);
            if (width == 2)
                lines_put(lines, -1);
        }
    }
}

/* The cursor goes elsewhere on the screen: the line ends here. */
static void lines_leave(struct lines *lines)
{
    if (lines->fresh && lines->count > 0)
        lines_emit(lines);
    lines_forget(lines);
}

static void lines_on_control(void *arg, char byte)
{
    struct lines *lines = arg;
    if (byte == '\n') {
        if (lines->fresh || lines->count == 0)
            lines_emit(lines);
        lines_forget(lines);
    } else if (byte == '\r') {
        lines->at = 0;
    } else if (byte == '\b' && lines->at > 0) {
        lines->at--;
    } else if (byte == '\t' && lines->at >= lines->count) {
        lines_put(lines, '\t');
    } else if (byte == '\t') {
        lines->at = (lines->at / 8 + 1) * 8;
    }
}

static void lines_erase(struct lines *lines, size_t from, size_t to)
{
    to = to < lines->count ? to : lines->count;
    for (size_t i = from; i < to; i++)
        lines->cells[i] = (struct lines_cell){.rune = ' '};
    if (to == lines->count && from < to)
        lines->count = from;
    lines->fresh |= from < to;
}

/* Moves the cells right of the cursor to the left; to the right when by is negative. */
static void shift(struct lines *lines, int by)
{
    size_t at = lines->at, n = (size_t)(by < 0 ? -by : by);
    if (at >= lines->count)
        return;
    if (by > 0) {
        n = n < lines->count - at ? n : lines->count - at;
        memmove(lines->cells + at, lines->cells + at + n,
                (lines->count - at - n) * sizeof *lines->cells);
        lines->count -= n;
    } else if (lines->count + n <= LINES_CELLS_MAX) {
        size_t old = lines->count;
        grow_to(lines, old + n);
        memmove(lines->cells + at + n, lines->cells + at, (old - at) * sizeof *lines->cells);
        for (size_t i = at; i < at + n; i++)
            lines->cells[i] = (struct lines_cell){.rune = ' '};
    }
    lines->fresh = true;
}

static void erase_line(struct lines *lines, int what)
{
    if (what <= 0)
        lines_erase(lines, lines->at, SIZE_MAX);
    else if (what == 1)
        lines_erase(lines, 0, lines->at + 1);
    else if (what == 2)
        lines_erase(lines, 0, SIZE_MAX);
}

static void lines_on_csi(void *arg, const struct token_csi *csi)
{
    struct lines *lines = arg;
    int first = csi->count > 0 ? csi->args[0] : -1, n = first > 0 ? first : 1;
    if (csi->leader || csi->intermediate) {
        if (csi->leader == '?' && (first == 1049 || first == 47 || first == 1047))
            lines_leave(lines);
        return;
    }
    n = n < LINES_CELLS_MAX ? n : LINES_CELLS_MAX - 1;
    switch (csi->final) {
    case 'm': pen_sgr(&lines->pen, csi); break;
    case 'C':
        lines->at = lines->at + (size_t)n < LINES_CELLS_MAX ? lines->at + (size_t)n
                                                            : LINES_CELLS_MAX - 1;
        break;
    case 'D': lines->at = lines->at > (size_t)n ? lines->at - (size_t)n : 0; break;
    case 'G':
    case '`': lines->at = (size_t)n - 1; break;
    case 'K': erase_line(lines, first); break;
    case 'X': lines_erase(lines, lines->at, lines->at + (size_t)n); break;
    case 'P': shift(lines, n); break;
    case '@': shift(lines, -n); break;
    case 'J':
        if (first <= 0)
            erase_line(lines, 0);
        else
            lines_leave(lines);
        break;
    case 'A':
    case 'B':
    case 'E':
    case 'F':
    case 'd':
        lines_leave(lines);
        break;
    case 'H':
    case 'f':
        lines_leave(lines);
        lines->at = csi->count > 1 && csi->args[1] > 0 && csi->args[1] < LINES_CELLS_MAX
                        ? (size_t)csi->args[1] - 1
                        : 0;
        break;
    default: break;
    }
}

static void lines_on_escape(void *arg, char intermediate, char final)
{
    struct lines *lines = arg;
    if (!intermediate && strchr("DEMc", final))
        lines_leave(lines);
    if (!intermediate && final == 'c')
        lines->pen = (struct pen){0};
}

static const struct token_sink sink = {.text = lines_on_text,
                                       .control = lines_on_control,
                                       .escape = lines_on_escape,
                                       .csi = lines_on_csi};

void lines_feed(struct lines *lines, const char *data, size_t size)
{
    BUG_UNLESS(lines->fn && lines->count <= lines->room);
    tokens_feed(&lines->tokens, data, size, &sink, lines);
}

bool lines_has_rest(const struct lines *lines)
{
    return lines->fresh && lines->count > 0;
}

void lines_emit_rest(struct lines *lines)
{
    if (lines_has_rest(lines))
        lines_emit(lines);
}

void lines_end(struct lines *lines)
{
    lines_emit_rest(lines);
    lines_forget(lines);
    tokens_reset(&lines->tokens);
    lines->pen = (struct pen){0};
}

void lines_fini(struct lines *lines)
{
    free(lines->cells);
    lines->cells = NULL;
    lines->room = lines->count = 0;
}
