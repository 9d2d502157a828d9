/* internal: the insides of a screen, for the screen*.c files and resume.c. */
#ifndef MUXD_TERM_INTERNAL_H
#define MUXD_TERM_INTERNAL_H
#include "term/screen.h"
#include "wire/tokens.h"

#define SCREEN_TITLE_MAX 1024
#define SCREEN_TITLES 8 /* titles that a program can push */
#define SCREEN_KITTY 8  /* and keyboard flags, for each screen */

struct screen_saved { /* DECSC */
    struct screen_cursor cursor;
    bool pending;
    struct pen pen;
    bool origin;
    char sets[2];
    int shift;
    bool asked; /* a program has saved it; false: it is what a reset leaves */
};

/* A character that the cursor was at before a change of size, and where the cursor went because
 * that place was not on the screen. */
struct screen_astray {
    bool known;
    bool behind; /* only that it was behind the last column, where it can't be without autowrap */
    struct scrollback_place place;
    int below; /* rows behind the last one; 0: it is at `place` */
    struct screen_cursor at;
};

/* What a change of size goes by, as long as the program has not scrolled: see screen_resize.c. */
struct screen_home {
    struct scrollback_place top; /* the character in the first row and column */
    bool full;                   /* the rows were used down to the last one */
    int last;                    /* the last row that was used, after the last change */
    uint64_t pushes;             /* scrollback_pushes at that time, and 1; 0: never */
    struct screen_astray astray[2]; /* the cursor; the one that the program has saved */
    uint64_t version;               /* the screen's, when they went astray */
};

#define SCREEN_LINKS 512         /* targets that are kept; the oldest go first */
#define SCREEN_LINK_MAX 2083     /* bytes of a target; longer ones are ignored, as in VTE */
/* bytes of an OSC 52 behind its number: as much as xterm takes */
#define SCREEN_CLIPBOARD_MAX 100008

struct screen_pass { /* what passes the screen on its way to a person's terminal */
    uint64_t bells, copies; /* so far */
    char *copied;           /* owned: SELECTION;BASE64 of the last copy; NULL: none */
    struct buf copying;     /* an OSC 52 that is longer than what tokens keep */
    uint32_t links;         /* the last number that was given out; 0: none */
    bool wrapped;           /* the numbers have begun again */
    /* owned, SCREEN_LINKS of them, by number: ID;TARGET; NULL: no link has come */
    struct screen_target {
        uint64_t hash;
        char *text;
    } *targets;
};

struct screen {
    struct tokens tokens;
    int rows, cols;
    int own_cols; /* without DECCOLM */
    bool may_columns; /* ?40: DECCOLM does something */
    bool many_columns; /* ?3 */
    struct line *grids[2]; /* main and alternate; NULL until the alternate one is used */
    int current;
    struct scrollback *scrollback;
    struct screen_home home;
    struct screen_modes modes;
    struct pen pen;
    struct screen_cursor cursor;
    bool pending; /* the last column is written: the next character begins a new line */
    int top, bottom; /* the lines [top, bottom) scroll: the margins */
    uint8_t tabs[SCREEN_SIZE_MAX / 8]; /* a bit for each column, also beyond the right edge */
    char sets[2]; /* G0, G1: 'B' or '0' */
    int shift;    /* index of the set in use */
    int32_t last_rune; /* for REP; 0: none */
    struct screen_saved saved[2], before_alternate;
    uint64_t version;
    size_t work, work_max; /* cells touched in this feed */
    bool skipping;         /* bytes up to a place where a sequence may begin */
    size_t skipped;

    struct colours *colours; /* owned; NULL: none is set */
    uint64_t recoloured;     /* grows when they change */
    char title[SCREEN_TITLE_MAX + 1];
    char *titles[SCREEN_TITLES];
    int title_count;
    struct screen_pass pass;
    unsigned kitty[2][SCREEN_KITTY];
    int kitty_count[2];
};

static inline int screen_clamp(int at, int first, int end) /* into [first, end) */
{
    return at < first ? first : at < end ? at : end - 1;
}

static inline struct line *screen_cursor_line(const struct screen *screen)
{
    return &screen->grids[screen->current][screen->cursor.row];
}

static inline int screen_clamp_size(int size)
{
    return screen_clamp(size, 1, SCREEN_SIZE_MAX + 1);
}

/* screen.c */
void screen_touch(struct screen *screen, size_t cells); /* that many cells may have changed */
void screen_check(const struct screen *screen); /* what holds between any two tokens */

/* screen_text.c: characters */
void screen_on_text(struct screen *screen, const int32_t *runes, size_t count);
void screen_repeat(struct screen *screen, int count); /* REP */

/* screen_move.c: the cursor, margins and tabs. A move ends a pending wrap. */
void screen_move(struct screen *screen, int row, int col);  /* clamped to the screen */
void screen_place(struct screen *screen, int row, int col); /* from the top margin in origin mode */
/* down (up when negative) as far as the margin */
void screen_climb(struct screen *screen, int by, int col);
void screen_tab(struct screen *screen, int count);          /* back when negative */
void screen_tab_set(struct screen *screen, bool set);       /* at the cursor */
void screen_tabs_fill(struct screen *screen, bool set);     /* every eighth column, or none */
void screen_linefeed(struct screen *screen);
void screen_reverse_linefeed(struct screen *screen);
void screen_margins(struct screen *screen, int top, int bottom); /* [top, bottom); home */
void screen_save_cursor(const struct screen *screen, struct screen_saved *saved);
void screen_restore_cursor(struct screen *screen, const struct screen_saved *saved);

/* screen_edit.c: lines and their parts */
struct line *screen_grid_new(int rows, int cols);
void screen_grid_free(struct line *grid, int rows);
void screen_erase_line(struct screen *screen, int what);    /* EL: 0 to 2 */
void screen_erase_display(struct screen *screen, int what); /* ED: 0 to 2 */
void screen_erase_chars(struct screen *screen, int count);  /* ECH */
void screen_insert_chars(struct screen *screen, int count); /* ICH, DCH if negative */
void screen_insert_lines(struct screen *screen, int count); /* IL, DL if negative */
/* The lines [top, bottom) move up (down when negative). kept: what leaves the main screen at its
 * top goes to the scrollback. */
void screen_scroll(struct screen *screen, int top, int bottom, int by, bool kept);
void screen_align(struct screen *screen); /* DECALN */
/* the alternate screen begins blank */
void screen_alternate(struct screen *screen, bool alternate);

/* screen_resize.c: changes of size */
void screen_columns(struct screen *screen, bool many); /* DECCOLM */

/* screen_escape.c: sequences */
extern const struct token_sink screen_sink;
void screen_reset(struct screen *screen); /* RIS, and the beginning */

/* screen_pass.c: bells, links and copies */
void screen_bell(struct screen *screen);
/* OSC 8 and OSC 52 behind their numbers */
void screen_pass_link(struct screen *screen, const char *data, size_t size);
void screen_pass_copy(struct screen *screen, const char *data, size_t size);
/* a piece of a long OSC, and its rest */
void screen_pass_part(struct screen *screen, const char *data, size_t size, bool first);
void screen_pass_rest(struct screen *screen, const char *data, size_t size);
size_t screen_pass_memory(const struct screen_pass *pass);
void screen_pass_fini(struct screen_pass *pass);

/* screen_mode.c: modes */
void screen_mode(struct screen *screen, const struct token_csi *csi, bool set);
void screen_kitty(struct screen *screen, const struct token_csi *csi);
#endif
