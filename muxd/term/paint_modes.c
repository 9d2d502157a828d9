/* paint_modes: owns which modes, title and cursor are sent to a person's terminal. Sources: xterm
 * ctlseqs (DECSET, XTMODKEYS, DECSCUSR), the kitty keyboard protocol, the synchronized output of
 * ?2026. */
#include "term/paint_modes.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

#define TITLE_MAX 256

void paint_modes_fini(struct paint_modes *modes)
{
    free(modes->title);
    modes->title = NULL;
}

void paint_modes_forget(struct paint_modes *modes)
{
    /* These are sent only where they differ from a terminal's state after reset, because not every
     * terminal knows them. */
    const struct screen_modes old = modes->shown,
                              unknown = {.modify_other_keys = old.modify_other_keys ? -1 : 0,
                                         .kitty = old.kitty ? ~0u : 0,
                                         .cursor_shape = old.cursor_shape ? -1 : 0};
    paint_modes_fini(modes);
    *modes = (struct paint_modes){.row = -1, .shown = unknown};
}

void paint_modes_begin(struct paint_modes *modes, struct buf *out)
{
    buf_append_text(out, "\033[?2026h\033[?25l");
    modes->hidden = true;
}

static void paint_modes_set(struct buf *out, int mode, bool on)
{
    buf_printf(out, "\033[?%d%c", mode, on ? 'h' : 'l');
}

static void set_mouse(struct paint_modes *modes, const struct screen_modes *wanted, struct buf *out)
{
    const struct screen_modes *shown = &modes->shown;
    if (modes->known && shown->mouse == wanted->mouse &&
        shown->mouse_encoding == wanted->mouse_encoding)
        return;
    if (!modes->known || shown->mouse != MOUSE_OFF)
        buf_append_text(out, "\033[?9l\033[?1000l\033[?1002l\033[?1003l");
    if (!modes->known || shown->mouse_encoding)
        buf_append_text(out, "\033[?1005l\033[?1006l\033[?1015l");
    if (wanted->mouse_encoding)
        paint_modes_set(out, wanted->mouse_encoding, true);
    if (wanted->mouse != MOUSE_OFF)
        paint_modes_set(out, (int)wanted->mouse, true);
}

static void set_keys(struct paint_modes *modes, const struct screen_modes *wanted, struct buf *out)
{
    const struct screen_modes *shown = &modes->shown;
    bool all = !modes->known;
    if (all || shown->application_cursor != wanted->application_cursor)
        paint_modes_set(out, 1, wanted->application_cursor);
    if (all || shown->application_keypad != wanted->application_keypad)
        buf_append_text(out, wanted->application_keypad ? "\033=" : "\033>");
    if (all || shown->bracketed_paste != wanted->bracketed_paste)
        paint_modes_set(out, 2004, wanted->bracketed_paste);
    if (all || shown->focus != wanted->focus)
        paint_modes_set(out, 1004, wanted->focus);
    if (shown->modify_other_keys != wanted->modify_other_keys)
        buf_printf(out, "\033[>4;%dm", wanted->modify_other_keys);
    if (shown->kitty != wanted->kitty)
        buf_printf(out, "\033[=%u;1u", wanted->kitty);
}

/* The title is escaped: it can neither end its own sequence nor begin another. */
static void set_title(struct paint_modes *modes, const char *title, struct buf *out)
{
    if (strcmp(modes->title ? modes->title : "", title) == 0)
        return;
    free(modes->title);
    modes->title = xstrdup(title);
    buf_append_text(out, "\033]2;");
    utf8_append_escaped(out, title, utf8_cut(title, strlen(title), TITLE_MAX), false);
    buf_append_text(out, "\033\\");
}

/* Both numbers in one sequence: that is how ue knows that the reports are for itself. */
static void set_wheel(struct paint_modes *modes, bool wheel, struct buf *out)
{
    if (wheel && (!modes->known || !modes->wheel))
        buf_append_text(out, "\033[?1006;1000h");
    else if (!wheel && modes->known && modes->wheel)
        buf_append_text(out, "\033[?1006;1000l");
    modes->wheel = wheel;
}

void paint_modes_end(struct paint_modes *modes, const struct screen *screen, bool several,
                     bool wheel, struct buf *out)
{
    const struct screen_modes *wanted = screen_modes(screen);
    bool alternate = screen_is_alternate(screen), all = !modes->known;
    bool asked = wanted->mouse != MOUSE_OFF || wanted->mouse_encoding || alternate;
    set_keys(modes, wanted, out);
    if (asked)
        set_wheel(modes, false, out); /* before the program's own */
    set_mouse(modes, wanted, out);
    if (!asked)
        set_wheel(modes, wheel, out);
    if (all || modes->shown.reverse != wanted->reverse)
        paint_modes_set(out, 5, wanted->reverse);
    /* the wheel sends arrow keys to full-screen programs only, not to a shell's history */
    if (all || modes->alternate != alternate)
        paint_modes_set(out, 1007, alternate);
    if (modes->shown.cursor_shape != wanted->cursor_shape)
        buf_printf(out, "\033[%d q", wanted->cursor_shape);
    if (all || several || modes->hidden || modes->shown.cursor_visible != wanted->cursor_visible)
        paint_modes_set(out, 25, wanted->cursor_visible);
    set_title(modes, screen_title(screen), out);
    modes->shown = *wanted;
    modes->alternate = alternate;
    modes->known = true;
    modes->hidden = false;
}

void paint_modes_cursor(struct paint_modes *modes, int row, int col, bool moved, struct buf *out)
{
    BUG_UNLESS(row >= 0 && col >= 0);
    if (!moved && modes->row == row && modes->col == col)
        return;
    buf_printf(out, "\033[%d;%dH", row + 1, col + 1);
    modes->row = row;
    modes->col = col;
}
