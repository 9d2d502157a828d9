/* echo_rows: the rows that a program is drawing on, with where in its output each character was
 * drawn: as much of a terminal as line editors use. There is no bottom: rows that are further up
 * than ECHO_ROWS are forgotten. */
#ifndef MUXD_TERM_ECHO_ROWS_H
#define MUXD_TERM_ECHO_ROWS_H
#include "wire/tokens.h"

#define ECHO_ROWS 32    /* rows that are kept: a power of two */
#define ECHO_WIDTH 1000 /* columns at most (SCREEN_SIZE_MAX) */

struct echo_cell {
    int32_t rune;         /* 0: nothing is shown here; -1: it belongs to the wide one left of it */
    uint64_t first, last; /* output offsets of the bytes that drew something here, since the row is
                           * a new one */
};

struct echo_row {
    struct echo_cell *cells; /* owned; room for the width; NULL: nothing was drawn here yet */
    size_t used;             /* cells that were ever drawn */
    bool goes_on;            /* the next row begins where this one had no room left */
    bool edited;             /* the cursor was moved in it, as line editors do */
};

struct echo_rows {
    struct echo_row rows[ECHO_ROWS]; /* row N is at N % ECHO_ROWS */
    uint64_t top, bottom; /* the first row that is kept; the lowest that the cursor was in */
    uint64_t row;         /* of the cursor */
    size_t col, width;    /* col may be `width`: the next character begins the next row */
    uint64_t at;          /* output offset of the byte that is being looked at */
    uint64_t drawn;       /* of the last one that drew a character */
    struct tokens tokens;
    /* what the rules (echo.c) want to know at once: the cursor is about to go to a lower row; a
     * mode was set or reset */
    void (*on_down)(void *arg);
    void (*on_mode)(void *arg, int mode, bool on);
    void *arg;
};

void echo_rows_init(struct echo_rows *rows, size_t width);
void echo_rows_fini(struct echo_rows *rows);
/* Forgets all that was drawn: output is missing, or the screen was cleared. */
void echo_rows_reset(struct echo_rows *rows);
void echo_rows_rest(struct echo_rows *rows);                 /* the same, and gives memory back */
void echo_rows_resize(struct echo_rows *rows, size_t width); /* from now on */
/* The byte at that output offset. */
void echo_rows_feed(struct echo_rows *rows, uint64_t offset, char byte);
/* NULL: the row is forgotten, or nothing was ever drawn in it. */
const struct echo_row *echo_rows_get(const struct echo_rows *rows, uint64_t row);
/* The first of the rows that make one line with this one. */
uint64_t echo_rows_line(const struct echo_rows *rows, uint64_t row);
#endif
