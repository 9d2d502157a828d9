/* plain: owns the rows of the screen that are still open, and the text of those that are not. */
#include "term/plain_rows.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "term/plain.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (4u << 20) /* bytes of text at most */
#define PIECE 256           /* bytes between two looks at the bounds */
#define MARKS_MAX 256       /* further ones are forgotten: their echo stays */

struct mark { /* a place where something was typed, or where the answer begins */
    size_t row, col; /* row: counted from the first that was ever there */
    size_t offset;   /* in the text, once its row is closed */
    bool resolved;
    size_t typed_at, typed_size; /* in plain->typed */
};

struct plain {
    struct plain_rows rows;
    struct tokens tokens;
    struct buf text, typed;
    size_t closed; /* rows that have become text */
    struct mark marks[MARKS_MAX]; /* by rows */
    size_t mark_count, mark_open; /* those before mark_open are resolved, or never will be */
    bool begun, full;             /* begun: the first mark is where the answer begins */
    struct buf before;            /* what stands before that place */
};

struct plain *plain_new(int rows, int cols)
{
    struct plain *plain = xcalloc(1, sizeof *plain);
    buf_init(&plain->text, TEXT_MAX);
    plain->typed = plain->before = BUF_INIT;
    plain_rows_init(&plain->rows, rows, cols, plain);
    return plain;
}

void plain_free(struct plain *plain)
{
    if (!plain)
        return;
    plain_rows_fini(&plain->rows);
    buf_fini(&plain->text);
    buf_fini(&plain->typed);
    buf_fini(&plain->before);
    free(plain);
}

/* The marks of a row, by increasing columns as its text is made. */
static void resolve(struct plain *plain, size_t row, size_t col, size_t offset)
{
    for (size_t i = plain->mark_open; i < plain->mark_count; i++) {
        struct mark *mark = &plain->marks[i];
        if (mark->resolved || mark->row != row || mark->col > col)
            continue;
        mark->offset = offset;
        mark->resolved = true;
    }
}

/* Whether the row has marks; *kept: blanks left of them are kept, as a prompt ends with one. */
static bool find_marks(struct plain *plain, size_t row, size_t *kept)
{
    bool found = false;
    while (plain->mark_open < plain->mark_count && plain->marks[plain->mark_open].row < row)
        plain->mark_open++;
    for (size_t i = plain->mark_open; i < plain->mark_count; i++) {
        const struct mark *mark = &plain->marks[i];
        if (mark->row != row || mark->resolved)
            continue;
        found = true;
        *kept = mark->col > *kept ? mark->col : *kept;
    }
    return found;
}

static void plain_append_row(struct plain *plain, const struct plain_row *row, size_t number,
                       size_t least)
{
    size_t kept = least, used = plain_row_used(row);
    bool marks = find_marks(plain, number, &kept);
    kept = kept < row->count ? kept : row->count;
    used = used > kept ? used : kept;
    for (size_t i = 0; i < used && !plain->full; i++) {
        if (marks)
            resolve(plain, number, i, plain->text.len);
        plain->full |= !plain_cell_append(&plain->text, &row->cells[i]);
    }
    if (marks)
        resolve(plain, number, SIZE_MAX, plain->text.len);
}

/* From plain_rows: the oldest row has left the screen. */
void plain_close_row(struct plain *plain, const struct plain_row *row)
{
    plain_append_row(plain, row, plain->closed++, 0);
    if (!row->wrapped && !plain->full)
        plain->full |= !buf_append_byte(&plain->text, '\n');
}

size_t plain_feed(struct plain *plain, const char *data, size_t size)
{
    size_t at = 0;
    while (at < size && !plain->full && !plain_rows_spent(&plain->rows)) {
        size_t piece = size - at < PIECE ? size - at : PIECE;
        tokens_feed(&plain->tokens, data + at, piece, &plain_rows_sink, &plain->rows);
        at += piece;
    }
    return at;
}

/* Where an answer begins in its text: unless the line before was written anew, behind it. */
static size_t text_from(const struct plain *plain)
{
    size_t size = plain->before.len;
    if (!plain->begun || size == 0 || !plain->marks[0].resolved || plain->marks[0].offset != size)
        return 0;
    return memcmp(plain->text.data, plain->before.data, size) == 0 ? size : 0;
}

static struct mark mark_here(const struct plain *plain)
{
    size_t row, col;
    plain_rows_cursor(&plain->rows, &row, &col);
    return (struct mark){.row = plain->closed + row, .col = col};
}

void plain_begin(struct plain *plain)
{
    BUG_UNLESS(!plain->begun && plain->mark_count == 0);
    plain_rows_open(&plain->rows);
    struct plain now = *plain; /* its text if it ended here; the rows are only looked at */
    struct mark here = mark_here(plain);
    buf_init(&now.text, TEXT_MAX);
    buf_append(&now.text, plain->text.data ? plain->text.data : "", plain->text.len);
    for (size_t i = plain->closed; i <= here.row; i++) {
        const struct plain_row *row = plain_rows_get(&plain->rows, i - plain->closed);
        plain_append_row(&now, row, i, i == here.row ? here.col : 0);
        if (i < here.row && !row->wrapped)
            buf_append_byte(&now.text, '\n');
    }
    plain->before = now.text;
    plain->marks[plain->mark_count++] = here;
    plain->begun = true;
}

void plain_typed(struct plain *plain, const char *text, size_t size)
{
    if (plain->mark_count == MARKS_MAX || plain_rows_is_alternate(&plain->rows))
        return;
    struct mark mark = mark_here(plain);
    size -= utf8_incomplete_tail(text, size);
    if (!utf8_valid(text, size)) /* a cut in a character would spoil the text */
        return;
    mark.typed_at = plain->typed.len;
    mark.typed_size = size;
    buf_append(&plain->typed, text, size);
    plain->marks[plain->mark_count++] = mark;
}

void plain_omitted(struct plain *plain, uint64_t bytes)
{
    plain_rows_leave_alternate(&plain->rows);
    plain_rows_close_all(&plain->rows);
    tokens_reset(&plain->tokens);
    bool line = plain->text.len == 0 || plain->text.data[plain->text.len - 1] == '\n';
    buf_printf(&plain->text, "%s... %" PRIu64 " bytes omitted ...\n", line ? "" : "\n", bytes);
}

/* The last row has no end; blanks before the cursor are kept. */
static void close_rest(struct plain *plain)
{
    size_t at, col, count = plain_rows_count(&plain->rows);
    plain_rows_cursor(&plain->rows, &at, &col);
    while (count > at + 1 && plain_row_used(plain_rows_get(&plain->rows, count - 1)) == 0)
        count--;
    for (size_t i = 0; i + 1 < count; i++)
        plain_close_row(plain, plain_rows_get(&plain->rows, i));
    if (count > 0)
        plain_append_row(plain, plain_rows_get(&plain->rows, count - 1), plain->closed,
                   at + 1 == count ? col : 0);
}

void plain_take(struct plain *plain, struct buf *out)
{
    struct plain_echo echoes[MARKS_MAX];
    size_t count = 0;
    if (plain_rows_is_alternate(&plain->rows))
        plain_rows_keep_alternate(&plain->rows);
    close_rest(plain);
    size_t from = text_from(plain);
    for (size_t i = plain->begun; i < plain->mark_count; i++) {
        const struct mark *mark = &plain->marks[i];
        if (mark->resolved && mark->offset >= from &&
            (count == 0 || mark->offset >= echoes[count - 1].at))
            echoes[count++] = (struct plain_echo){
                .at = mark->offset,
                .typed = plain->typed.data ? plain->typed.data + mark->typed_at : "",
                .size = mark->typed_size};
    }
    plain_drop_echoes(&plain->text, from, echoes, count);
    if (plain->text.len > 0)
        buf_append(out, plain->text.data, plain->text.len);
}
