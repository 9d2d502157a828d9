/* render: tables: aligned and coloured for people, tab-separated for programs. */
#ifndef MUXD_CLIENT_RENDER_H
#define MUXD_CLIENT_RENDER_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum render_color { RENDER_PLAIN, RENDER_GREEN, RENDER_YELLOW, RENDER_RED, RENDER_DIM };

struct render_cell {
    char *text; /* owned; any bytes; NULL or "" is shown as "-" */
    enum render_color color;
};

struct render_table {
    const char *const *titles; /* column_count of them */
    const bool *to_the_right;  /* numbers; the same count */
    size_t column_count;
    /* columns that may be left out where the last one would not be readable, the first one first */
    const size_t *spare;
    size_t spare_count;
    struct render_cell *cells; /* owned; row by row */
    size_t row_count;
};

/* Adds an empty row and returns its cells, which hold until the next row is added. */
struct render_cell *render_add_row(struct render_table *table);
void render_fini(struct render_table *table);
/* For people: a line of titles, columns padded, lines cut at width columns (0: not cut) within the
 * last column. Spare columns go when that one would be too narrow, those without any text first. */
void render_people(struct buf *out, const struct render_table *table, size_t width, bool colors);
/* For programs: no titles, one tab between columns, one line a row; control characters escaped. */
void render_tabs(struct buf *out, const struct render_table *table);
/* Columns of the terminal at fd; 80 when it doesn't say. */
size_t render_width_of(int fd);
bool render_wants_colors(void); /* neither NO_COLOR nor TERM=dumb is set */
/* "5s", "12m", "3h", "4d". */
void render_age(int64_t ms, char out[16]);
/* Milliseconds since 1970 of "2026-08-30T12:00:00.123Z"; -1: another text, or NULL. */
int64_t render_time_of(const char *iso);
#endif
