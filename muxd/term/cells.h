/* cells: lines of character cells, and old lines packed into a few bytes. Used by the screen model
 * and whoever draws it. */
#ifndef MUXD_TERM_CELLS_H
#define MUXD_TERM_CELLS_H
#include "base/buf.h"
#include "wire/pen.h"

#define CELL_MARKS 4 /* combining characters kept on one cell; more are dropped */

struct cell {
    int32_t rune;   /* 0: nothing was written here, or the right half of a wide character */
    uint8_t width;  /* columns: 1, 2; 0: the right half of the cell before */
    struct pen pen;
};

struct line {
    struct cell *cells; /* cols of them, owned */
    /* NULL, or cols * CELL_MARKS, owned: combining characters of each cell, ending with 0 */
    int32_t *marks;
    int cols;
    /* from here on nothing but blanks without a colour: most of most lines, which need not be
     * looked at */
    int reach;
    /* another one after every change, and never that of another line with other cells: equal
     * stamps, equal looks */
    uint64_t stamp;
    bool wrapped;       /* the text goes on in the next line without a line end */
    /* nothing but blanks of the colour empty_bg: erasing it once more costs nothing */
    bool empty;
    uint32_t empty_bg;
};

void line_init(struct line *line, int cols); /* blank */
void line_fini(struct line *line);
void line_resize(struct line *line, int cols);
/* [from, to) becomes blank; halves of wide characters go with it. False when it was so before. */
bool line_erase(struct line *line, int from, int to, uint32_t bg);
void line_put(struct line *line, int col, int32_t rune, int width, const struct pen *pen);
/* all of width 1 */
void line_put_run(struct line *line, int col, const int32_t *runes, int count,
                  const struct pen *pen);
bool line_mark(struct line *line, int col, int32_t mark); /* false: the cell has enough */
/* Moves the cells of [from, to) right by `by` columns (left when negative); what is uncovered is
 * blank. */
void line_shift(struct line *line, int from, int to, int by, uint32_t bg);
/* ends with 0 or after CELL_MARKS; NULL: none */
const int32_t *line_marks(const struct line *line, int col);
/* Columns up to the last one that shows something: a character that is no blank, or with looks a
 * colour or a line. */
int line_used(const struct line *line, bool looks);
/* UTF-8 of the first cols columns */
void line_append_text(const struct line *line, struct buf *out, int cols);

/* The lines that have scrolled off, the newest last, within a cap in bytes. */
struct scrollback;
struct scrollback *scrollback_new(size_t max_bytes);
void scrollback_free(struct scrollback *scrollback);
void scrollback_push(struct scrollback *scrollback, const struct line *line);
/* the newest, into an empty struct; false: none */
bool scrollback_pop(struct scrollback *scrollback, struct line *line, int cols);
void scrollback_clear(struct scrollback *scrollback);
size_t scrollback_count(const struct scrollback *scrollback);
size_t scrollback_bytes(const struct scrollback *scrollback);
/* The age-th line, 0 the newest, into an empty struct that line_fini frees. It is as long as it
 * needs. */
bool scrollback_get(const struct scrollback *scrollback, size_t age, struct line *line);
#endif
