/* screen: what a terminal would show. Fed with the bytes that a program writes, it holds lines of
 * cells, the cursor, the title, the modes that the program has set, and the lines that have
 * scrolled off. No output makes it fail, or keep more than its size and the scrollback's cap. No
 * fd, no clock. Where terminals differ it does as tmux does, else as xterm.
 * tests/unit/test_term_oracle.c compares it with libvterm. */
#ifndef MUXD_TERM_SCREEN_H
#define MUXD_TERM_SCREEN_H
#include "term/colours.h"
#include "term/scrollback.h"

#define SCREEN_SIZE_MAX 1000 /* rows and columns */

struct screen;

enum screen_mouse {
    MOUSE_OFF,
    MOUSE_X10 = 9,
    MOUSE_CLICK = 1000,
    MOUSE_DRAG = 1002,
    MOUSE_MOVE = 1003
};

struct screen_modes { /* zeroed: after reset, but for autowrap and cursor_visible */
    bool application_cursor, application_keypad;
    bool bracketed_paste, focus;
    bool cursor_visible, autowrap, origin, insert, newline, reverse;
    bool synchronized;        /* between ?2026h and ?2026l: the program is drawing */
    enum screen_mouse mouse;
    int mouse_encoding;       /* 0, 1005, 1006, 1015 */
    int cursor_shape;         /* DECSCUSR: 0 to 6 */
    int modify_other_keys;    /* 0 to 2 */
    unsigned kitty;           /* flags of the kitty keyboard protocol in force */
};

struct screen_cursor {
    int row, col; /* from 0 */
};

/* rows and cols are clamped to 1 to SCREEN_SIZE_MAX. */
struct screen *screen_new(int rows, int cols, size_t scrollback_bytes);
void screen_free(struct screen *screen); /* NULL is fine */

void screen_feed(struct screen *screen, const char *data, size_t size);
/* Stops once about `work` cells were touched; returns the bytes taken, at least one of any. */
size_t screen_feed_some(struct screen *screen, const char *data, size_t size, size_t work);
size_t screen_work(const struct screen *screen); /* cells touched by the last feed */
/* Right after screen_gap: feeds whole sequences that take the place of the missing bytes. */
void screen_say(struct screen *screen, const char *sequences, size_t size);
/* Bytes are missing here: skips to the next place where a sequence may begin. */
void screen_gap(struct screen *screen);
/* After screen_gap and screen_say: the next bytes are the rest of a control string. */
void screen_gap_in_string(struct screen *screen);
/* Lines of the main screen and of the scrollback wrap anew, and nothing of them is lost; the cursor
 * stays at its character. Lines that don't fit go to the scrollback and come back from it. The
 * alternate screen keeps what fits, and the cursor's line. Margins are reset, as in every
 * terminal. While the program has set 132 columns (DECCOLM), only the rows change. */
void screen_resize(struct screen *screen, int rows, int cols);

int screen_rows(const struct screen *screen);
int screen_cols(const struct screen *screen);
/* 0 to rows - 1; borrowed until the next feed */
const struct line *screen_line(const struct screen *screen, int row);
struct screen_cursor screen_cursor(const struct screen *screen);
/* as the program counts it: from the top margin in origin mode */
struct screen_cursor screen_cursor_told(const struct screen *screen);
const struct screen_modes *screen_modes(const struct screen *screen);
/* DECRPM's number for the private modes that change with a saved cursor: the origin, ?6, and ?1048,
 * which is set while the program has saved a cursor. 0: another mode. */
int screen_report(const struct screen *screen, int mode);
const char *screen_title(const struct screen *screen); /* UTF-8, "" while there is none */
/* the colours that the program has set; NULL: none */
const struct colours *screen_colours(const struct screen *screen);
uint64_t screen_recoloured(const struct screen *screen); /* grows when they change */
/* bells that the program has rung so far */
uint64_t screen_bells(const struct screen *screen);
/* What the program has put into the clipboard last (OSC 52), as SELECTION;BASE64, and how often it
 * has done so. "": never. */
const char *screen_copied(const struct screen *screen, uint64_t *copies);
/* The target of a pen's link: printable ASCII with one of a few schemes. NULL: none, or forgotten
 * for newer ones. */
const char *screen_link(const struct screen *screen, uint32_t link);
bool screen_is_alternate(const struct screen *screen);
const struct scrollback *screen_scrollback(const struct screen *screen); /* of the main screen */

/* Of the visible text without blanks at the ends of lines and empty lines at the end; with_cursor
 * adds the cursor's place. The same text has the same hash in every run and version; colours don't
 * count. */
uint64_t screen_hash(const struct screen *screen, bool with_cursor);
/* grows whenever something may look different; cheap */
uint64_t screen_version(const struct screen *screen);
size_t screen_memory(const struct screen *screen);    /* bytes, roughly */
#endif
