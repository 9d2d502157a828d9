/* echo_lines: the insides of echo: the lines that were typed, how one shows in the rows, and what
 * was found. */
#ifndef MUXD_TERM_ECHO_LINES_H
#define MUXD_TERM_ECHO_LINES_H
#include "term/echo.h"
#include "term/echo_rows.h"

struct echo_line { /* one line that was typed, or the beginning of one */
    uint64_t at;   /* output offset at that time */
    uint64_t row;  /* where the cursor was; set once output up to there was fed */
    size_t col;
    bool placed;    /* row and col are set */
    bool ended;     /* Enter was typed, too */
    bool open;      /* only its beginning is known: keys follow that a program answers in its way */
    bool sealed;    /* what is typed next does not go on with it */
    bool again;     /* the kernel has repeated it: the program may do so once more */
    bool in_editor; /* a line editor was reading */
    enum echo_by by;
    int32_t *runes; /* owned */
    size_t count, room;
    size_t noted; /* `count` when the kernel had repeated all of it; 0: never */
};

struct echo_shown { /* how a line shows in the rows */
    size_t count;   /* of its characters, from the first, that stand there */
    size_t bytes;   /* of these characters */
    bool whole;     /* all of them */
    bool alone;     /* and nothing behind them, at most something that is set apart */
    bool bare;      /* and nothing at all */
    uint64_t row;   /* of the last one, or where the first one would be */
    /* output offsets: where the drawing of them began (UINT64_MAX: nothing was drawn) and ended */
    uint64_t first, last;
};

#define ECHO_SPANS 64       /* that were found; the oldest go */
#define ECHO_PROMPT_MAX 256 /* characters of a prompt that are compared */
#define ECHO_LOOKED_AT 8    /* lines that are looked for at once */

struct echo_span {
    uint64_t from, to;
    /* It ends where the typed text ends, and more stands behind it: a match that goes on there
     * counts. */
    bool soft;
};

struct echo {
    struct echo_rows rows;
    uint64_t next;        /* output offset of the next byte */
    uint64_t tail;        /* behind the last byte that is no line end */
    uint64_t sequence_at; /* where the last escape sequence began */
    bool trails; /* nothing was drawn since a line was found: titles and marks may repeat it */
    struct echo_line *lines;
    size_t count, room;
    bool paste, full;   /* a line editor reads; a full-screen program shows */
    bool paste_found;   /* since it began to read a line was found */
    uint64_t paste_at;  /* since that output offset */
    uint64_t paste_row; /* paste_found: where the first of these lines begins */
    /* since that output offset it draws one of them once more; UINT64_MAX: it does not */
    uint64_t redraw_at;
    uint64_t floor_row;              /* rows above are done */
    uint64_t direct_row;             /* the row directly below the last line that was found */
    int32_t prompt[ECHO_PROMPT_MAX]; /* what stood left of the cursor when something was typed */
    size_t prompt_count;
    struct echo_span spans[ECHO_SPANS];
    size_t span_count; /* that were ever found */
};

/* Cuts text into lines, each appended by add. */
void echo_lines_cut(struct echo *echo, uint64_t at, const char *text, size_t size, enum echo_by by);
void echo_line_fini(struct echo_line *line);
/* The line as it would stand from row, col on. */
struct echo_shown echo_line_shown(const struct echo_rows *rows, const struct echo_line *line,
                                  uint64_t row, size_t col);

/* echo.c */
/* a new line behind the others, or the last one that goes on; borrowed until the next */
struct echo_line *echo_add_line(struct echo *echo, uint64_t at, enum echo_by by);
bool echo_in_string(const struct echo *echo); /* a title or a mark is under way */
void echo_drop_line(struct echo *echo, size_t index);
void echo_add_span(struct echo *echo, uint64_t from, uint64_t to, bool soft);

/* echo_find.c */
/* How much of a line must show: its beginning with nothing behind; all of it, and nothing that
 * belongs to it behind; all of it. */
enum echo_much { ECHO_PART, ECHO_ALONE, ECHO_WHOLE };
/* Whether a line shows in the row of the cursor, though it was typed elsewhere. *kernel: as the
 * kernel would repeat it. */
bool echo_shows_here(const struct echo *echo, const struct echo_line *line, enum echo_much much,
                     struct echo_shown *shown, bool *kernel);
/* It has to show where the cursor was when it was typed. */
bool echo_is_in_place(const struct echo *echo, const struct echo_line *line);
/* It draws this line now, and is at it until it takes it. */
bool echo_is_edited(const struct echo *echo, const struct echo_line *line);
/* The cursor is about to leave its row: is that a line that was typed? Then it was found. */
bool echo_take_row(struct echo *echo);
/* A line editor has taken its line: what it has drawn since is that line, whatever it has made of
 * what was typed. */
void echo_editor_ends(struct echo *echo);
/* The first line that its program has not drawn yet; NULL: none. */
struct echo_line *echo_first_line(const struct echo *echo);
#endif
