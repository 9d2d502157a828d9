/* scrollback: the lines that have scrolled off, the newest last, packed into a few bytes. What a
 * program wrote as one line, and the terminal wrapped, is one line here; it is laid out in rows of
 * the present width when it is read. So a change of width costs and loses nothing. The bytes have a
 * cap; the oldest lines go first. */
#ifndef MUXD_TERM_SCROLLBACK_H
#define MUXD_TERM_SCROLLBACK_H
#include "term/cells.h"

struct scrollback;

/* A character's place; it stays the same in rows of any width. */
struct scrollback_place {
    uint64_t line;
    uint32_t col; /* of the line, from 0 */
};

struct scrollback *scrollback_new(size_t max_bytes, int cols);
void scrollback_free(struct scrollback *scrollback);
void scrollback_push(struct scrollback *scrollback, const struct line *line);
void scrollback_clear(struct scrollback *scrollback);
/* the next row that is pushed begins a line of its own */
void scrollback_end_line(struct scrollback *scrollback);
size_t scrollback_count(const struct scrollback *scrollback); /* rows */
size_t scrollback_bytes(const struct scrollback *scrollback);
/* grows with each row that is pushed */
uint64_t scrollback_pushes(const struct scrollback *scrollback);
/* Copies row number age (0: the newest) into an empty struct, which line_fini frees. It is only as
 * wide as its text. False: there is none. */
bool scrollback_get(const struct scrollback *scrollback, size_t age, struct line *line);

/* For a change of size, which puts all rows of the screen here and takes them back in another
 * width. There is no cap from hold to release. */
void scrollback_hold(struct scrollback *scrollback);
void scrollback_release(struct scrollback *scrollback);
/* Adds a row, with at least so many columns of it; returns the place of its first character. */
struct scrollback_place scrollback_add(struct scrollback *scrollback, const struct line *line,
                                       int least);
void scrollback_set_cols(struct scrollback *scrollback, int cols);
/* The row (0: the oldest) and the column where that character is now, which is beyond the row's
 * last column for a place behind all text. Just behind the last column: `behind`, if that is not
 * NULL, and the last column. */
void scrollback_find(const struct scrollback *scrollback, struct scrollback_place place,
                     size_t *row, int *col, bool *behind);
/* Removes the newest rows into empty structs, which are as wide as the rows; count at most. */
void scrollback_take(struct scrollback *scrollback, struct line *lines, size_t count);
#endif
