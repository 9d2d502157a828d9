/* plain_rows: the screen of plain: rows of characters without looks, and a cursor. Rows that leave
 * it at the top go to plain_close_row. */
#ifndef MUXD_TERM_PLAIN_ROWS_H
#define MUXD_TERM_PLAIN_ROWS_H
#include "base/buf.h"
#include "wire/tokens.h"

#define PLAIN_MARKS 3 /* combining characters kept on one character */

struct plain_cell {
    /* 0: nothing was written here; -1: it belongs to the character left of it, which is wide, or a
     * tab */
    int32_t rune, marks[PLAIN_MARKS];
};

struct plain_row {
    struct plain_cell *cells; /* owned */
    size_t count, room;
    bool wrapped; /* the next row goes on with it */
    bool edited;  /* something in it was written anew: blanks at its end are not the program's */
};

struct plain_page {
    struct plain_row **rows; /* owned; a ring of `height`; those beyond count are NULL or spare */
    size_t first, count;
    size_t at, col;           /* the cursor; col may be behind the last column */
    size_t saved_at, saved_col;
};

struct plain;
struct plain_rows {
    struct plain *plain;
    size_t height, width; /* width 0: lines have no end */
    struct plain_page pages[2]; /* the main screen, the alternate one */
    struct plain_page *page;
    int32_t last;    /* the last character, for REP */
    size_t work;     /* cells touched */
};

extern const struct token_sink plain_rows_sink; /* its argument is a struct plain_rows */

void plain_rows_init(struct plain_rows *rows, int height, int width, struct plain *plain);
void plain_rows_fini(struct plain_rows *rows);
bool plain_rows_spent(const struct plain_rows *rows); /* so much work is enough */
size_t plain_rows_count(const struct plain_rows *rows); /* of the page that shows; at least 1 */
const struct plain_row *plain_rows_get(const struct plain_rows *rows, size_t at);
void plain_rows_cursor(const struct plain_rows *rows, size_t *at, size_t *col);
bool plain_rows_is_alternate(const struct plain_rows *rows);
void plain_rows_leave_alternate(struct plain_rows *rows);
/* The alternate screen becomes rows below those of the main one. */
void plain_rows_keep_alternate(struct plain_rows *rows);
void plain_rows_close_all(struct plain_rows *rows); /* of the main screen; the cursor goes home */
/* Cells up to the last that shows something; blanks count when the program ended the row with
 * them. */
size_t plain_row_used(const struct plain_row *row);
bool plain_cell_append(struct buf *out, const struct plain_cell *cell); /* false: out is full */

/* plain_edit.c: what sequences do */
struct plain_row *plain_rows_open(struct plain_rows *rows); /* the cursor's row */
void plain_rows_put(struct plain_rows *rows, int32_t rune, int width);
void plain_rows_down(struct plain_rows *rows); /* to the next row, a new one at the end */
void plain_rows_clear(struct plain_rows *rows); /* a cleared screen */
void plain_row_cut(struct plain_row *row, size_t count); /* drops the cells from count on */
void plain_row_blank(struct plain_row *row, size_t from, size_t to);
void plain_rows_shift(struct plain_rows *rows, size_t at, bool insert); /* one row */
void plain_rows_enter(struct plain_rows *rows, bool alternate);

/* plain.c */
void plain_close_row(struct plain *plain, const struct plain_row *row);
#endif
