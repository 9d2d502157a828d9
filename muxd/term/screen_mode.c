/* screen_mode: owns the modes that a program sets (xterm's control sequences, "DEC Private Mode
 * Set"; kitty's keyboard protocol). */
#include "base/bug.h"
#include "term/internal.h"
#include <string.h>

/* 47, 1047: the alternate screen; 1049: leaving it also restores the cursor. */
static void alternate(struct screen *screen, int mode, bool set)
{
    if (set && !screen->current) {
        screen_save_cursor(screen, &screen->before_alternate);
        screen_alternate(screen, true);
    } else if (!set && screen->current) {
        screen_alternate(screen, false);
        if (mode == 1049)
            screen_restore_cursor(screen, &screen->before_alternate);
    }
}

static void mouse(struct screen *screen, int mode, bool set)
{
    if (set)
        screen->modes.mouse = (enum screen_mouse)mode;
    else
        screen->modes.mouse = MOUSE_OFF;
}

static void private_mode(struct screen *screen, int mode, bool set)
{
    struct screen_modes *modes = &screen->modes;
    switch (mode) {
    case 1: modes->application_cursor = set; break;
    case 3:
        if (screen->may_columns)
            screen_columns(screen, set);
        break;
    case 5: modes->reverse = set; break;
    case 6:
        modes->origin = set;
        screen_place(screen, 0, 0);
        break;
    case 7:
        modes->autowrap = set;
        screen->pending = false;
        break;
    case 25: modes->cursor_visible = set; break;
    case 40: screen->may_columns = set; break;
    case 66: modes->application_keypad = set; break;
    case 9:
    case 1000:
    case 1002:
    case 1003: mouse(screen, mode, set); break;
    case 1004: modes->focus = set; break;
    case 1005:
    case 1006:
    case 1015:
        if (set || modes->mouse_encoding == mode)
            modes->mouse_encoding = set ? mode : 0;
        break;
    case 47:
    case 1047:
    case 1049: alternate(screen, mode, set); break;
    case 1048:
        if (set)
            screen_save_cursor(screen, &screen->saved[screen->current]);
        else
            screen_restore_cursor(screen, &screen->saved[screen->current]);
        break;
    case 2004: modes->bracketed_paste = set; break;
    case 2026: modes->synchronized = set; break;
    }
}

void screen_mode(struct screen *screen, const struct token_csi *csi, bool set)
{
    for (int i = 0; i < csi->count; i++) {
        int mode = csi->args[i];
        if (csi->leader == '?')
            private_mode(screen, mode, set);
        else if (mode == 4)
            screen->modes.insert = set;
        else if (mode == 20)
            screen->modes.newline = set;
    }
    screen->version++;
}

/* CSI > flags u pushes, CSI < count u pops, CSI = flags ; how u changes; each screen has its own
 * stack. */
void screen_kitty(struct screen *screen, const struct token_csi *csi)
{
    unsigned *stack = screen->kitty[screen->current],
             first = csi->count > 0 && csi->args[0] > 0 ? (unsigned)csi->args[0] : 0;
    int *count = &screen->kitty_count[screen->current], how = csi->count > 1 ? csi->args[1] : 1;
    first &= csi->leader == '<' ? ~0u : 31u;
    if (csi->leader == '>') {
        if (*count == SCREEN_KITTY) { /* the oldest is forgotten */
            memmove(stack, stack + 1, (SCREEN_KITTY - 1) * sizeof *stack);
            --*count;
        }
        stack[(*count)++] = first;
    } else if (csi->leader == '<') {
        unsigned pops = first ? first : 1;
        *count = pops >= (unsigned)*count ? 0 : *count - (int)pops;
    } else if (csi->leader == '=') {
        if (*count == 0)
            stack[(*count)++] = 0;
        unsigned *top = &stack[*count - 1];
        *top = how == 2 ? *top | first : how == 3 ? *top & ~first : first;
    }
    BUG_UNLESS(*count >= 0 && *count <= SCREEN_KITTY);
    screen->modes.kitty = *count ? stack[*count - 1] : 0;
}
