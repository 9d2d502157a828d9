/* internal: the insides of a screen, shared by its files and nobody else. */
#ifndef MUXD_TERM_INTERNAL_H
#define MUXD_TERM_INTERNAL_H
#include "term/screen.h"
#include "wire/tokens.h"

#define SCREEN_TITLE_MAX 1024
#define SCREEN_TITLES 8 /* deep is the stack of titles */
#define SCREEN_KITTY 8  /* and that of keyboard flags */

struct screen_saved { /* DECSC */
    int row, col;
    struct pen pen;
    bool origin;
    char sets[2];
    int shift;
};

struct screen {
    struct VTerm *vt;
    struct VTermState *state;
    struct tokens tokens;
    int rows, cols;
    struct line *grids[2]; /* main, alternate; the alternate one is NULL until it is used */
    int current;
    struct scrollback *scrollback;
    struct screen_modes modes;
    struct pen pen;
    struct screen_saved saved[2], before_alternate;
    char sets[2]; /* G0, G1: 'B' or '0' */
    int shift;    /* which of them is in use */
    int top;      /* of the margins */
    int bottom;   /* one behind their last line; 0: the screen's last */
    struct screen_cursor cursor;
    bool away; /* the engine's cursor stands elsewhere still */
    bool tabs_set; /* the program has set or cleared tabs: where they are, the engine knows */
    uint64_t version;
    size_t work, work_max; /* cells touched in this feed */
    bool skipping;         /* until a safe place */
    size_t skipped;
    bool keeps_history;    /* what scrolls off now goes to the scrollback */

    /* Text on its way through libvterm, which is given stand-ins of the same width. */
    const int32_t *queue;
    size_t queue_at, queue_count;
    int32_t last_rune;      /* for REP; 0: none */
    int mark_row, mark_col; /* the cell that combining characters join; -1: none */
    bool flowing;           /* nothing has moved the cursor since the last character: */
    int flow_row, flow_end; /* where that stood, and where it ended */
    unsigned flow_scrolls;

    char title[SCREEN_TITLE_MAX + 1];
    char *titles[SCREEN_TITLES];
    int title_count;
    unsigned kitty[2][SCREEN_KITTY];
    int kitty_count[2];
};

/* screen.c: libvterm's side */
void screen_drive(struct screen *screen, const char *bytes, size_t size);
void screen_drivef(struct screen *screen, const char *format, ...) __attribute__((format(printf, 2, 3)));
void screen_soft_reset(struct screen *screen);
void screen_touch(struct screen *screen, size_t cells); /* that many cells may look different */

/* screen_text.c: characters */
void screen_on_text(struct screen *screen, const int32_t *runes, size_t count);
void screen_put(struct screen *screen, int row, int col, int32_t rune, int width);
void screen_repeat(struct screen *screen, int count);

/* screen_direct.c: past the engine. What returns false or 0 is left to it. */
bool screen_may_go_direct(const struct screen *screen);
size_t screen_put_direct(struct screen *screen, const int32_t *runes, size_t count); /* how many were taken */
bool screen_control_direct(struct screen *screen, char byte);
bool screen_move_direct(struct screen *screen, char final, int first, int second); /* CSI first ; second final */
void screen_erase_line(struct screen *screen, int what);    /* EL: 0 to 2 */
void screen_erase_display(struct screen *screen, int what); /* ED: 0 to 2 */

/* screen_grid.c: lines as a whole */
struct line *screen_grid_new(int rows, int cols);
void screen_grid_free(struct line *grid, int rows);
void screen_erase(struct screen *screen, int top, int bottom, int left, int right);
void screen_scroll(struct screen *screen, int top, int bottom, int left, int right, int downward, int rightward);
void screen_alternate(struct screen *screen, bool alternate); /* a blank one on the way in */

/* screen_escape.c: sequences */
extern const struct token_sink screen_sink;
void screen_reset(struct screen *screen); /* RIS, and the beginning */

/* screen_mode.c: modes */
void screen_mode(struct screen *screen, const struct token_csi *csi, bool set);
void screen_save_cursor(struct screen *screen, struct screen_saved *saved);
void screen_restore_cursor(struct screen *screen, const struct screen_saved *saved);
void screen_kitty(struct screen *screen, const struct token_csi *csi);
#endif
