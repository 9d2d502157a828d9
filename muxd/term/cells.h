/* cells: lines of character cells, and old lines packed into a few bytes. The screen model fills
 * them, the renderers read them. */
#ifndef MUXD_TERM_CELLS_H
#define MUXD_TERM_CELLS_H
#include "base/buf.h"
#include "wire/pen.h"

/* Combining characters kept on one cell; more are dropped. So many has text in Unicode's
 * stream-safe format (UAX #15, section 13). */
#define CELL_MARKS 30

struct cell {
    /* 0: nothing was written here, or the right half of a wide character */
    int32_t rune : 24;
    unsigned width : 8; /* columns: 1, 2; 0: the right half of the cell before */
    /* In a right half, pen.line is another colour: that of the last column of the row above, if the
     * character had no room there. */
    struct pen pen;
};
static_assert(sizeof(struct cell) == 20, "a screen has many");

/* The character and its width in one word, for loops over many cells. */
static inline uint32_t cell_word(struct cell cell)
{
    uint32_t word;
    memcpy(&word, &cell, sizeof word);
    return word;
}

struct mark { /* a combining character */
    int32_t col, rune;
};

struct marks { /* of a line, by column; those of one column in the order in which they came */
    int count, room;
    struct mark list[];
};

struct line {
    struct cell *cells; /* cols of them, owned */
    struct marks *marks; /* owned; NULL: none */
    int cols;
    /* the columns from here on are blanks without a colour and need not be looked at */
    int reach;
    /* changes with every change of the line, and no two contents share one: equal stamps, equal
     * looks */
    uint64_t stamp;
    /* The next line continues this one: no line end between them. This one is full then: its last
     * column was written, or the one before it and the next line's wide character had no room. */
    bool wrapped;
    /* the colour of the blanks that follow where there are more columns before the line's end, or
     * before the wide character that the next line begins with: it was painted there, and this
     * width has no room for it. As wrapped, until the end of the line changes. */
    uint32_t behind;
    /* all cells are blanks of the colour empty_bg: erasing the line with it again does nothing */
    bool empty;
    uint32_t empty_bg;
};

void line_init(struct line *line, int cols); /* blank */
void line_fini(struct line *line);
void line_resize(struct line *line, int cols);
/* Makes [from, to) blank. A wide character of which it takes one half loses both. False: nothing
 * changed. */
bool line_erase(struct line *line, int from, int to, uint32_t bg);
void line_put(struct line *line, int col, int32_t rune, int width, const struct pen *pen);
/* characters of width 1 */
void line_put_run(struct line *line, int col, const int32_t *runes, int count,
                  const struct pen *pen);
bool line_mark(struct line *line, int col, int32_t mark); /* false: the cell is full */
size_t line_marks_memory(const struct line *line);        /* bytes */
/* Moves the cells of [from, to) right by `by` columns (left when negative). The columns that become
 * free are blank. */
void line_shift(struct line *line, int from, int to, int by, uint32_t bg);
/* How many there are on that cell, at most CELL_MARKS; *marks is the first. */
int line_marks(const struct line *line, int col, const struct mark **marks);
/* Columns up to the last one that shows something: a character other than a blank, or, with looks,
 * a colour or a line. */
int line_used(const struct line *line, bool looks);
/* Columns up to the last one that was written, a blank or not, or has a colour or a line, or has a
 * colour behind it. */
int line_written(const struct line *line);
void line_wrap(struct line *line); /* goes on in the next one, if it is full */
/* The line goes on in the next one, and its last column was left free, as it is where a wide
 * character had no room. */
bool line_ends_free(const struct line *line);
/* UTF-8 of the first cols columns */
void line_append_text(const struct line *line, struct buf *out, int cols);

#endif
