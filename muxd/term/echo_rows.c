/* echo_rows: owns the rows, and what each sequence does to them. */
#include "term/echo_rows.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

#define TAB 8

static const struct token_sink sink;

static struct echo_row *echo_rows_slot(struct echo_rows *rows, uint64_t row)
{
    return &rows->rows[row % ECHO_ROWS];
}

static void echo_rows_clear(struct echo_row *row)
{
    row->used = 0;
    row->goes_on = row->edited = false;
}

void echo_rows_init(struct echo_rows *rows, size_t width)
{
    *rows = (struct echo_rows){.width = 0};
    echo_rows_resize(rows, width);
}

void echo_rows_fini(struct echo_rows *rows)
{
    for (size_t i = 0; i < ECHO_ROWS; i++)
        free(rows->rows[i].cells);
}

void echo_rows_rest(struct echo_rows *rows)
{
    echo_rows_reset(rows);
    for (size_t i = 0; i < ECHO_ROWS; i++) {
        free(rows->rows[i].cells);
        rows->rows[i].cells = NULL;
    }
}

void echo_rows_reset(struct echo_rows *rows)
{
    for (size_t i = 0; i < ECHO_ROWS; i++)
        echo_rows_clear(&rows->rows[i]);
    /* rows keep their numbers, so that none is taken for one of before */
    rows->top = rows->row = rows->bottom = rows->bottom + 1;
    rows->col = 0;
}

void echo_rows_resize(struct echo_rows *rows, size_t width)
{
    width = width < 1 ? 1 : width > ECHO_WIDTH ? ECHO_WIDTH : width;
    for (size_t i = 0; width > rows->width && i < ECHO_ROWS; i++) {
        free(rows->rows[i].cells);
        rows->rows[i].cells = NULL;
        echo_rows_clear(&rows->rows[i]);
    }
    rows->width = width;
    rows->col = rows->col < width ? rows->col : width;
}

const struct echo_row *echo_rows_get(const struct echo_rows *rows, uint64_t row)
{
    const struct echo_row *found = &rows->rows[row % ECHO_ROWS];
    return row >= rows->top && row <= rows->bottom && found->cells ? found : NULL;
}

uint64_t echo_rows_line(const struct echo_rows *rows, uint64_t row)
{
    while (row > rows->top && rows->rows[(row - 1) % ECHO_ROWS].goes_on)
        row--;
    return row;
}

static void echo_rows_down(struct echo_rows *rows)
{
    rows->row++;
    if (rows->row <= rows->bottom)
        return;
    rows->bottom = rows->row;
    if (rows->bottom - rows->top >= ECHO_ROWS)
        rows->top = rows->bottom - ECHO_ROWS + 1;
    echo_rows_clear(echo_rows_slot(rows, rows->row));
}

static void echo_rows_up(struct echo_rows *rows, uint64_t count)
{
    rows->row = rows->row - rows->top > count ? rows->row - count : rows->top;
}

static void echo_rows_go_down(struct echo_rows *rows, int count)
{
    rows->on_down(rows->arg);
    for (int i = 0; i < count && i < ECHO_ROWS; i++)
        echo_rows_down(rows);
}

/* Cells up to `to` exist. */
static struct echo_row *echo_rows_open(struct echo_rows *rows, size_t to)
{
    struct echo_row *row = echo_rows_slot(rows, rows->row);
    if (!row->cells)
        row->cells = xcalloc(rows->width, sizeof *row->cells);
    BUG_UNLESS(to <= rows->width);
    if (to > row->used)
        memset(row->cells + row->used, 0, (to - row->used) * sizeof *row->cells);
    row->used = to > row->used ? to : row->used;
    return row;
}

static void echo_rows_draw(struct echo_rows *rows, int32_t rune, int width)
{
    if (width <= 0)
        return;
    rows->drawn = rows->at;
    if (rows->col + (size_t)width > rows->width) {
        echo_rows_open(rows, 0)->goes_on = true;
        echo_rows_down(rows);
        rows->col = 0;
    }
    if ((size_t)width > rows->width)
        return;
    struct echo_row *row = echo_rows_open(rows, rows->col + (size_t)width);
    for (int i = 0; i < width; i++) {
        struct echo_cell *cell = &row->cells[rows->col++];
        cell->rune = i == 0 ? rune : -1;
        cell->first = cell->first ? cell->first : rows->at + 1;
        cell->last = rows->at + 1;
    }
}

static void echo_rows_blank(struct echo_rows *rows, size_t from, size_t to)
{
    struct echo_row *row = echo_rows_slot(rows, rows->row);
    to = to < row->used ? to : row->used;
    for (size_t i = from; row->cells && i < to; i++)
        row->cells[i].rune = 0;
}

static void echo_rows_on_text(void *arg, const int32_t *runes, size_t count)
{
    struct echo_rows *rows = arg;
    for (size_t i = 0; i < count; i++)
        echo_rows_draw(rows, runes[i], utf8_width(runes[i]));
}

static void echo_rows_on_control(void *arg, char byte)
{
    struct echo_rows *rows = arg;
    switch (byte) {
    case '\r': rows->col = 0; break;
    case '\n':
    case '\v':
    case '\f': echo_rows_go_down(rows, 1); break;
    case '\b': rows->col -= rows->col > 0; break;
    case '\t':
        rows->col = (rows->col / TAB + 1) * TAB;
        rows->col = rows->col < rows->width ? rows->col : rows->width - 1;
        break;
    default: break;
    }
}

/* ECMA-48 ICH, DCH: cells move from there to the end of the row. */
static void echo_rows_shift(struct echo_rows *rows, size_t count, bool insert)
{
    size_t col = rows->col;
    if (col >= rows->width)
        return;
    struct echo_row *row = echo_rows_open(rows, insert ? rows->width : col);
    size_t end = row->used;
    count = count < end - col ? count : end - col;
    if (end <= col || count == 0)
        return;
    struct echo_cell *cells = row->cells;
    size_t kept = end - col - count;
    memmove(cells + col + (insert ? count : 0), cells + col + (insert ? 0 : count),
            kept * sizeof *cells);
    for (size_t i = insert ? col : end - count; i < (insert ? col + count : end); i++)
        cells[i] = (struct echo_cell){.rune = 0};
}

static void echo_rows_erase_below(struct echo_rows *rows)
{
    echo_rows_blank(rows, rows->col, SIZE_MAX);
    for (uint64_t row = rows->row + 1; row <= rows->bottom; row++)
        echo_rows_clear(echo_rows_slot(rows, row));
}

static size_t echo_rows_arg_of(const struct token_csi *csi, int at, size_t fallback)
{
    return at < csi->count && csi->args[at] > 0 ? (size_t)csi->args[at] : fallback;
}

static void echo_rows_go_to_column(struct echo_rows *rows, size_t col)
{
    rows->col = col < rows->width ? col : rows->width - 1;
    echo_rows_open(rows, 0)->edited = true;
}

static void echo_rows_move(struct echo_rows *rows, const struct token_csi *csi)
{
    size_t count = echo_rows_arg_of(csi, 0, 1);
    size_t col = rows->col < rows->width ? rows->col : rows->width - 1;
    switch (csi->final) {
    case 'A': echo_rows_up(rows, count); break;
    case 'F':
        echo_rows_up(rows, count);
        rows->col = 0;
        break;
    case 'E': rows->col = 0; /* fall through */
    case 'B': echo_rows_go_down(rows, (int)count); break;
    case 'C': echo_rows_go_to_column(rows, col + count); break;
    case 'D': echo_rows_go_to_column(rows, col > count ? col - count : 0); break;
    case 'G':
    case '`': echo_rows_go_to_column(rows, count - 1); break;
    case 'H':
    case 'f': /* to a place that only a whole screen has */
        echo_rows_reset(rows);
        echo_rows_go_to_column(rows, echo_rows_arg_of(csi, 1, 1) - 1);
        break;
    default: break;
    }
}

static void echo_rows_erase(struct echo_rows *rows, const struct token_csi *csi)
{
    int what = csi->count > 0 && csi->args[0] > 0 ? csi->args[0] : 0;
    size_t count = echo_rows_arg_of(csi, 0, 1);
    switch (csi->final) {
    case 'K':
        echo_rows_blank(rows, what == 0 ? rows->col : 0, what == 1 ? rows->col + 1 : SIZE_MAX);
        break;
    case 'J':
        if (what == 0)
            echo_rows_erase_below(rows);
        else if (what == 2)
            echo_rows_reset(rows);
        break;
    case 'X': echo_rows_blank(rows, rows->col, rows->col + count); break;
    case 'P': echo_rows_shift(rows, count, false); break;
    case '@': echo_rows_shift(rows, count, true); break;
    default: break;
    }
}

static void echo_rows_on_csi(void *arg, const struct token_csi *csi)
{
    struct echo_rows *rows = arg;
    if (csi->leader == '?' && (csi->final == 'h' || csi->final == 'l'))
        for (int i = 0; i < csi->count; i++)
            rows->on_mode(rows->arg, csi->args[i], csi->final == 'h');
    if (csi->leader || csi->intermediate)
        return;
    echo_rows_move(rows, csi);
    echo_rows_erase(rows, csi);
}

static void echo_rows_on_escape(void *arg, char intermediate, char final)
{
    struct echo_rows *rows = arg;
    if (intermediate)
        return;
    if (final == 'c')
        echo_rows_reset(rows);
    else if (final == 'M')
        echo_rows_up(rows, 1);
    else if (final == 'D' || final == 'E')
        echo_rows_on_control(rows, '\n');
    if (final == 'E')
        rows->col = 0;
}

static const struct token_sink sink = {.text = echo_rows_on_text,
                                       .control = echo_rows_on_control,
                                       .escape = echo_rows_on_escape,
                                       .csi = echo_rows_on_csi};

void echo_rows_feed(struct echo_rows *rows, uint64_t offset, char byte)
{
    rows->at = offset;
    tokens_feed(&rows->tokens, &byte, 1, &sink, rows);
}
