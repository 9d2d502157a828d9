/* modes: what a program has set its terminal to, as far as input and replies depend on it, in 64
 * bits that the journal keeps across a restart. 0: a terminal after reset. Sources: xterm ctlseqs
 * (DECSET, XTMODKEYS, DECSCUSR), DEC STD 070, the kitty keyboard protocol. */
#ifndef MUXD_TERM_MODES_H
#define MUXD_TERM_MODES_H
#include "base/buf.h"
#include "term/scan.h"
#include <stdbool.h>
#include <stdint.h>

#define MODES_COLUMNS 132 /* of DECCOLM */

enum term_mode {
    MODE_APPLICATION_CURSOR, /* DECCKM, ?1 */
    MODE_REVERSE_VIDEO,      /* ?5 */
    MODE_ORIGIN,             /* ?6 */
    MODE_NO_WRAP,            /* ?7, inverted: wrap is on after reset */
    MODE_MOUSE_X10,          /* ?9 */
    MODE_CURSOR_HIDDEN,      /* ?25, inverted */
    MODE_APPLICATION_KEYPAD, /* DECKPAM, ?66 */
    MODE_BACKSPACE_IS_BS,    /* DECBKM, ?67 */
    MODE_MOUSE_CLICK,        /* ?1000 */
    MODE_MOUSE_DRAG,         /* ?1002 */
    MODE_MOUSE_MOVE,         /* ?1003 */
    MODE_FOCUS,              /* ?1004 */
    MODE_MOUSE_UTF8,         /* ?1005 */
    MODE_MOUSE_SGR,          /* ?1006 */
    MODE_UNUSED,             /* was ?1007 */
    MODE_MOUSE_URXVT,        /* ?1015 */
    MODE_ALTERNATE_SCREEN,   /* ?47, ?1047, ?1049 */
    MODE_BRACKETED_PASTE,    /* ?2004 */
    MODE_SYNCHRONIZED,       /* ?2026 */
    MODE_COUNT,
    /* behind what else the 64 bits hold */
    MODE_INSERT = 59,  /* IRM, 4 */
    MODE_NEWLINE,      /* LNM, 20 */
    MODE_COLUMNS,      /* DECCOLM, ?3: 132 columns */
    MODE_MAY_COLUMNS,  /* ?40: only then ?3 does something */
    MODE_LONG_STRING   /* the output ends within a control string of more than SCAN_STRING_MAX */
};

static inline bool modes_has(uint64_t modes, enum term_mode mode)
{
    return modes >> mode & 1;
}
unsigned modes_other_keys(uint64_t modes);   /* modifyOtherKeys: 0 to 2 */
unsigned modes_cursor_style(uint64_t modes); /* DECSCUSR: 0 to 6 */
/* flags of the kitty keyboard protocol in force on the screen that is shown, 0 to 31 */
unsigned modes_kitty(uint64_t modes);

/* Applies what the sequence changes; true when it is one that sets a mode. */
bool modes_apply(uint64_t *modes, const struct scan_seq *seq);

/* Whether the sequence switches reports of a dark or light terminal, ?2031, on or off. This mode
 * has no place in the 64 bits. */
enum modes_scheme { MODES_SCHEME_SAME, MODES_SCHEME_ON, MODES_SCHEME_OFF };
enum modes_scheme modes_scheme(const struct scan_seq *seq);

/* Whether the sequence switches bracketed paste, ?2004, on or off: so a line editor tells that it
 * begins to read, or has read. */
enum modes_editor { MODES_EDITOR_SAME, MODES_EDITOR_READS, MODES_EDITOR_LEAVES };
enum modes_editor modes_editor(const struct scan_seq *seq);

/* The sequences that set a terminal to these modes, whatever it was set to. They leave out the
 * alternate screen, and kitty's flags unless with_kitty. What they don't cover is as after
 * DECSTR. */
void modes_append(struct buf *out, uint64_t modes, bool with_kitty);

/* DECRPM's number for a mode, private (behind ?) or not: 0 not known, 1 set, 2 reset, 3 set for
 * good. The origin may also have come back with a saved cursor, which only a screen knows
 * (screen_report). */
int modes_report(uint64_t modes, bool private, int number);

/* While the modes say that the output is within a long control string: moves *at to the string's
 * end, which ends that, too, or else to size. Behind each sequence, and where data begins. */
void modes_past_string(uint64_t *modes, const char *data, size_t size, size_t *at);
#endif
