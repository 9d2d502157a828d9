/* echo_lines: owns how typed bytes become lines, and how a line is found in what is drawn. */
#include "term/echo_lines.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

#define PASTE_BEGIN "\033[200~"
#define PASTE_END "\033[201~"
#define APART 2 /* blanks that set something apart: a prompt at the right, a hint */

void echo_line_fini(struct echo_line *line)
{
    free(line->runes);
}

static void echo_lines_line_add(struct echo_line *line, int32_t rune)
{
    if (line->open)
        return;
    if (line->count == line->room) {
        line->room = line->room ? line->room * 2 : 32;
        line->runes = xreallocarray(line->runes, line->room, sizeof *line->runes);
    }
    line->runes[line->count++] = rune;
}

static bool echo_lines_is_mark(const char *text, size_t size, const char *mark)
{
    return size >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0;
}

/* One control character: how it shows. */
static void echo_lines_control(struct echo_line *line, unsigned char byte)
{
    if (byte == 0177 || byte == '\b') { /* takes one back */
        line->count -= line->count > 0 && !line->open;
    } else if (byte == 3 || byte == 26 || byte == 28) { /* ^C: it ends what was begun */
        echo_lines_line_add(line, '^');
        echo_lines_line_add(line, byte ^ 0100);
        line->sealed = true;
    } else {
        line->open = true;
    }
}

void echo_lines_cut(struct echo *echo, uint64_t at, const char *text, size_t size, enum echo_by by)
{
    struct echo_line *line = NULL;
    size = size < ECHO_BYTES_MAX ? size : utf8_cut(text, size, ECHO_BYTES_MAX);
    for (size_t i = 0; i < size;) {
        unsigned char byte = (unsigned char)text[i];
        if (echo_lines_is_mark(text + i, size - i, PASTE_BEGIN) ||
            echo_lines_is_mark(text + i, size - i, PASTE_END)) {
            i += strlen(PASTE_BEGIN);
            continue;
        }
        if (!line)
            line = echo_add_line(echo, at, by);
        int32_t rune = byte;
        size_t taken = byte < 0x80 ? 1 : utf8_decode(text + i, size - i, &rune);
        i += taken ? taken : size - i;
        if (byte == '\r' || byte == '\n')
            line->ended = line->sealed = true;
        else if (byte < ' ' || byte == 0177)
            echo_lines_control(line, byte);
        else if (taken == 0 || rune < 0)
            line->open = true;
        else if (utf8_width(rune) > 0)
            echo_lines_line_add(line, rune);
        if (line->sealed)
            line = NULL;
    }
}

/* The cell at a place; NULL: nothing was drawn there. */
static const struct echo_cell *echo_lines_cell_at(const struct echo_rows *rows, uint64_t row,
                                                  size_t col)
{
    const struct echo_row *found = echo_rows_get(rows, row);
    return found && col < found->used ? &found->cells[col] : NULL;
}

static bool echo_lines_is_blank(const struct echo_cell *cell)
{
    return !cell || cell->rune == 0 || cell->rune == ' ';
}

/* How many blanks follow from there, up to the end of the line; SIZE_MAX: nothing else does. */
static size_t echo_lines_blanks_from(const struct echo_rows *rows, uint64_t row, size_t col)
{
    size_t count = 0;
    const struct echo_row *at;
    for (; (at = echo_rows_get(rows, row)); row++, col = 0) {
        for (; col < at->used; col++, count++)
            if (!echo_lines_is_blank(&at->cells[col]))
                return count;
        if (!at->goes_on)
            break;
    }
    return SIZE_MAX;
}

static void echo_lines_shown_cell(struct echo_shown *shown, int32_t rune,
                                  const struct echo_cell *cell, uint64_t row)
{
    char bytes[4];
    shown->count++;
    shown->bytes += utf8_encode(rune, bytes);
    shown->row = row;
    if (!cell || !cell->first) /* a blank that nobody has drawn */
        return;
    shown->first = cell->first - 1 < shown->first ? cell->first - 1 : shown->first;
    shown->last = cell->last > shown->last ? cell->last : shown->last;
}

struct echo_shown echo_line_shown(const struct echo_rows *rows, const struct echo_line *line,
                                  uint64_t row, size_t col)
{
    struct echo_shown shown = {.row = row, .first = UINT64_MAX};
    for (size_t i = 0; i < line->count; i++) {
        int width = utf8_width(line->runes[i]);
        if (col + (size_t)width > rows->width) {
            row++;
            col = 0;
        }
        const struct echo_cell *cell = echo_lines_cell_at(rows, row, col);
        if (line->runes[i] == ' ' ? !echo_lines_is_blank(cell)
                                  : !cell || cell->rune != line->runes[i])
            break;
        echo_lines_shown_cell(&shown, line->runes[i], cell, row);
        col += (size_t)width;
    }
    size_t blanks = echo_lines_blanks_from(rows, row, col);
    shown.whole = shown.count == line->count;
    shown.bare = blanks == SIZE_MAX;
    shown.alone = shown.bare || (shown.whole && blanks >= APART);
    return shown;
}
