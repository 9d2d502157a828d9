/* plain_edit: what characters, controls and sequences do to the rows of plain. */
#include "base/mem.h"
#include "base/utf8.h"
#include "term/plain_rows.h"
#include <string.h>

#define FAR 4096 /* the last column that sequences reach where lines have no end */

static size_t last_col(const struct plain_rows *rows)
{
    return (rows->width ? rows->width : FAR) - 1;
}

static void row_grow(struct plain_row *row, size_t count)
{
    if (count > row->room) {
        row->room = count < 128 ? 128 : 2 * count;
        row->cells = xreallocarray(row->cells, row->room, sizeof *row->cells);
    }
    if (count > row->count) {
        memset(row->cells + row->count, 0, (count - row->count) * sizeof *row->cells);
        row->count = count;
    }
}

/* A character that loses one of its columns is gone: the others are blanks. */
static void row_break(struct plain_row *row, size_t col)
{
    size_t from = col, to = col + 1;
    while (from > 0 && row->cells[from].rune < 0)
        from--;
    while (to < row->count && row->cells[to].rune < 0)
        to++;
    for (size_t i = from; to - from > 1 && i < to; i++)
        row->cells[i] = (struct plain_cell){.rune = ' '};
}

void plain_row_cut(struct plain_row *row, size_t count)
{
    if (count >= row->count)
        return;
    row_break(row, count);
    row->count = count;
    row->edited = true;
    row->wrapped = false;
}

void plain_row_blank(struct plain_row *row, size_t from, size_t to)
{
    if (to >= row->count) {
        plain_row_cut(row, from);
        return;
    }
    if (from >= to)
        return;
    row_break(row, from);
    row_break(row, to - 1);
    memset(row->cells + from, 0, (to - from) * sizeof *row->cells);
    row->edited = true;
}

/* Makes the row wide enough, and its cells from there on free for a character of that width. */
static void row_take(struct plain_row *row, size_t col, size_t width)
{
    for (size_t i = col; i < col + width && i < row->count; i++) {
        row_break(row, i);
        row->edited = true;
    }
    row_grow(row, col + width);
}

void plain_rows_put(struct plain_rows *rows, int32_t rune, int width)
{
    struct plain_page *page = rows->page;
    struct plain_row *row = plain_rows_open(rows);
    size_t size = (size_t)width;
    if (rows->width > 0 && page->col + size > rows->width) {
        row->wrapped = true;
        plain_rows_down(rows);
        page->col = 0;
        row = plain_rows_open(rows);
    }
    if (rows->width > 0 && size > rows->width)
        return;
    row_take(row, page->col, size);
    row->cells[page->col++] = (struct plain_cell){.rune = rune};
    for (size_t i = 1; i < size; i++)
        row->cells[page->col++] = (struct plain_cell){.rune = -1};
    rows->last = rune;
    rows->work += size;
}

static void plain_put_mark(struct plain_rows *rows, int32_t mark)
{
    struct plain_row *row = plain_rows_open(rows);
    size_t col = rows->page->col;
    while (col > 0 && col <= row->count && row->cells[col - 1].rune < 0)
        col--;
    if (col == 0 || col > row->count || row->cells[col - 1].rune == 0)
        return;
    struct plain_cell *cell = &row->cells[col - 1];
    for (size_t i = 0; i < PLAIN_MARKS; i++) {
        if (cell->marks[i])
            continue;
        cell->marks[i] = mark;
        return;
    }
}

static void plain_on_text(void *arg, const int32_t *runes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int width = utf8_width(runes[i]);
        if (utf8_is_obeyed(runes[i])) /* it would reorder the line */
            continue;
        if (width > 0)
            plain_rows_put(arg, runes[i], width);
        else
            plain_put_mark(arg, runes[i]);
    }
}

/* Where something stands already a tab only moves. */
static void put_tab(struct plain_rows *rows)
{
    struct plain_row *row = plain_rows_open(rows);
    size_t col = rows->page->col, to = (col / 8 + 1) * 8;
    if (rows->width > 0 && to > rows->width - 1)
        to = rows->width - 1;
    if (col >= row->count && to > col) {
        row_grow(row, to);
        row->cells[col].rune = '\t';
        for (size_t i = col + 1; i < to; i++)
            row->cells[i].rune = -1;
    }
    rows->work += to > col ? to - col : 1;
    rows->page->col = to > col ? to : col;
}

static size_t col_of(const struct plain_rows *rows)
{
    size_t col = rows->page->col, last = last_col(rows);
    return rows->width > 0 && col > last ? last : col;
}

static void plain_on_control(void *arg, char byte)
{
    struct plain_rows *rows = arg;
    struct plain_page *page = rows->page;
    rows->work++;
    switch (byte) {
    case '\n':
    case '\v':
    case '\f':
        plain_rows_down(rows);
        if (rows->width == 0)
            page->col = 0;
        break;
    case '\r': page->col = 0; break;
    case '\b': page->col = col_of(rows) > 0 ? col_of(rows) - 1 : 0; break;
    case '\t': put_tab(rows); break;
    default: break;
    }
}

static void go_to(struct plain_rows *rows, int64_t at, int64_t col)
{
    int64_t height = (int64_t)rows->height, last = (int64_t)last_col(rows);
    rows->page->at = (size_t)(at < 0 ? 0 : at >= height ? height - 1 : at);
    rows->page->col = (size_t)(col < 0 ? 0 : col > last ? last : col);
    plain_rows_open(rows);
}

static void go_by(struct plain_rows *rows, int64_t down, int64_t right)
{
    int64_t col = (int64_t)(right ? col_of(rows) : rows->page->col);
    size_t pending = rows->page->col;
    go_to(rows, (int64_t)rows->page->at + down, col + right);
    if (!right) /* also behind the last column */
        rows->page->col = pending;
}

static void erase_in_line(struct plain_rows *rows, int what)
{
    struct plain_row *row = plain_rows_open(rows);
    size_t col = col_of(rows);
    rows->work += what == 0 ? 1 : col + 1;
    if (what == 0)
        plain_row_cut(row, col);
    else if (what == 1)
        plain_row_blank(row, 0, col + 1);
    else if (what == 2)
        plain_row_cut(row, 0);
}

static void erase_in_display(struct plain_rows *rows, int what)
{
    struct plain_page *page = rows->page;
    if (what == 2 || (what == 0 && page->at == 0 && page->col == 0)) {
        plain_rows_clear(rows);
        return;
    }
    if (what > 1)
        return;
    erase_in_line(rows, what);
    if (what == 0) {
        page->count = page->at + 1;
        return;
    }
    size_t at = page->at;
    for (page->at = 0; page->at < at; page->at++)
        erase_in_line(rows, 2);
}

/* Cells right of the cursor to the left, or to the right. */
static void shift_cells(struct plain_rows *rows, size_t n, bool insert)
{
    struct plain_row *row = plain_rows_open(rows);
    size_t col = col_of(rows), end = row->count;
    if (col >= end)
        return;
    row_break(row, col);
    row->edited = true;
    rows->work += end - col;
    if (!insert) {
        n = n < end - col ? n : end - col;
        if (col + n < end)
            row_break(row, col + n);
        memmove(row->cells + col, row->cells + col + n, (end - col - n) * sizeof *row->cells);
        row->count -= n;
        return;
    }
    size_t most = last_col(rows) + 1 > end ? last_col(rows) + 1 : end;
    n = n < most - col ? n : most - col;
    row_grow(row, end + n);
    memmove(row->cells + col + n, row->cells + col, (end - col) * sizeof *row->cells);
    memset(row->cells + col, 0, n * sizeof *row->cells);
    plain_row_cut(row, most);
}

static void shift_rows(struct plain_rows *rows, size_t n, bool insert)
{
    n = n < rows->height ? n : rows->height;
    for (size_t i = 0; i < n; i++)
        plain_rows_shift(rows, rows->page->at, insert);
    rows->page->col = 0;
}

static void repeat(struct plain_rows *rows, size_t n)
{
    int width = rows->last ? utf8_width(rows->last) : 0;
    for (size_t i = 0; i < n && i <= last_col(rows) && width > 0; i++)
        plain_rows_put(rows, rows->last, width);
}

static void save_cursor(struct plain_rows *rows)
{
    rows->page->saved_at = rows->page->at;
    rows->page->saved_col = rows->page->col;
}

static void restore_cursor(struct plain_rows *rows)
{
    go_to(rows, (int64_t)rows->page->saved_at, (int64_t)rows->page->saved_col);
}

static void set_mode(struct plain_rows *rows, const struct token_csi *csi)
{
    bool set = csi->final == 'h';
    for (int i = 0; csi->leader == '?' && !csi->intermediate && i < csi->count; i++)
        if (csi->args[i] == 1049 || csi->args[i] == 1047 || csi->args[i] == 47)
            plain_rows_enter(rows, set);
}

static void plain_on_csi(void *arg, const struct token_csi *csi)
{
    struct plain_rows *rows = arg;
    int first = csi->count > 0 ? csi->args[0] : -1, second = csi->count > 1 ? csi->args[1] : -1;
    int n = first > 0 ? first : 1, what = first < 0 ? 0 : first;
    int64_t at = (int64_t)rows->page->at, col = (int64_t)rows->page->col;
    rows->work++;
    if (plain_rows_spent(rows))
        return;
    if (csi->final == 'h' || csi->final == 'l')
        set_mode(rows, csi);
    if (csi->leader || csi->intermediate)
        return;
    switch (csi->final) {
    case 'A': go_by(rows, -n, 0); break;
    case 'B':
    case 'e': go_by(rows, n, 0); break;
    case 'C':
    case 'a': go_by(rows, 0, n); break;
    case 'D': go_by(rows, 0, -n); break;
    case 'E': go_to(rows, at + n, 0); break;
    case 'F': go_to(rows, at - n, 0); break;
    case 'G':
    case '`': go_to(rows, at, n - 1); break;
    case 'd': go_to(rows, n - 1, col); break;
    case 'H':
    case 'f': go_to(rows, n - 1, second > 0 ? second - 1 : 0); break;
    case 'J': erase_in_display(rows, what); break;
    case 'K': erase_in_line(rows, what); break;
    case 'X':
        plain_row_blank(plain_rows_open(rows), col_of(rows), col_of(rows) + (size_t)n);
        rows->work += (size_t)n;
        break;
    case 'P': shift_cells(rows, (size_t)n, false); break;
    case '@': shift_cells(rows, (size_t)n, true); break;
    case 'L': shift_rows(rows, (size_t)n, true); break;
    case 'M': shift_rows(rows, (size_t)n, false); break;
    case 'b': repeat(rows, (size_t)n); break;
    case 's': save_cursor(rows); break;
    case 'u': restore_cursor(rows); break;
    default: break;
    }
}

static void plain_on_escape(void *arg, char intermediate, char final)
{
    struct plain_rows *rows = arg;
    rows->work++;
    if (intermediate)
        return;
    switch (final) {
    case 'D': plain_rows_down(rows); break;
    case 'E':
        plain_rows_down(rows);
        rows->page->col = 0;
        break;
    case 'M': go_by(rows, -1, 0); break;
    case '7': save_cursor(rows); break;
    case '8': restore_cursor(rows); break;
    case 'c':
        plain_rows_enter(rows, false);
        go_to(rows, 0, 0);
        plain_rows_clear(rows);
        break;
    default: break;
    }
}

const struct token_sink plain_rows_sink = {.text = plain_on_text,
                                           .control = plain_on_control,
                                           .escape = plain_on_escape,
                                           .csi = plain_on_csi};
