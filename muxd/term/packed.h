/* packed: a line of any length in a few bytes, and how it lies in rows of a width. UTF-8, with byte
 * 0 for a column where nothing was written, byte 1 or 2 and the new look where the look changes,
 * and byte 3 with a colour: a row that ends there has that colour in its rest. A row ends before
 * the line's end where a wide character has no room. A part of scrollback. */
#ifndef MUXD_TERM_PACKED_H
#define MUXD_TERM_PACKED_H
#include "term/cells.h"

struct packed {
    uint32_t size;
    unsigned cols : 30;
    unsigned wide : 1; /* it has characters of two columns */
    unsigned open : 1; /* the next row goes on with it */
    char bytes[];
};

/* A way through a line: what was passed. */
struct flow {
    int width;     /* of the rows */
    uint32_t rows; /* that were begun: at least one */
    int col;       /* of the last of them, behind its last character */
    uint32_t cols; /* of the line */
    size_t at;     /* bytes */
    struct pen pen;
    uint32_t fill; /* the colour of the rest of a row that ends here; COLOR_DEFAULT: none */
};

struct flow flow_begin(int width);
/* Passes everything up to the first character in that row, or the one in that column of the line.
 */
void flow_on(struct flow *flow, const struct packed *packed, uint32_t row, uint32_t col);
/* Where the next character will stand. False: there is none. */
bool flow_next(const struct flow *flow, const struct packed *packed, uint32_t *row, int *col);
uint32_t packed_rows(const struct packed *packed, int width);

struct packed_row { /* a row to be packed */
    const struct line *line;
    int content;   /* the columns that are packed: without blanks at the end of a line */
    uint32_t fill; /* the colour of the rest */
    /* It goes on, and one column is left out: a wide character had no room there, if the next row
     * begins with one. Else packed_write_blank has to make it text. */
    bool gap;
};

/* least: columns that are packed whatever they are */
struct packed_row packed_row(const struct line *line, int least);
/* the most bytes that packed_write writes, and packed_write_blank before it */
size_t packed_most(const struct packed_row *row);
/* Writes a row as it follows on `pen`, which becomes the last one. Sets *wide if there are
 * characters of two columns. Returns the end. */
char *packed_write(char *at, const struct packed_row *row, struct pen *pen, bool *wide);
char *packed_write_blank(char *at, uint32_t bg, struct pen *pen);

/* Fills the rows [first, first + count) into empty structs; narrow: only as wide as their text. */
void packed_read(const struct packed *packed, int width, uint32_t first, uint32_t count,
                 bool narrow, struct line *lines);
#endif
