/* screen_escape: owns what controls and sequences mean to a screen: what the engine is told of them, and in which words. Questions of the
 * program change nothing here. */
#include "base/mem.h"
#include "base/utf8.h"
#include "term/internal.h"
#include <stdlib.h>
#include <string.h>

static int arg_or(const struct token_csi *csi, int at, int fallback)
{
    return at < csi->count && csi->args[at] >= 0 ? csi->args[at] : fallback;
}

/* The cursor may stand elsewhere now: what comes is not the continuation of what was. */
static void moved(struct screen *screen)
{
    screen->flowing = false;
    screen->mark_row = -1;
}

static void on_text(void *arg, const int32_t *runes, size_t count)
{
    screen_on_text(arg, runes, count);
}

static void on_control(void *arg, char byte)
{
    struct screen *screen = arg;
    if (byte == 016 || byte == 017) {
        screen->shift = byte == 016;
    } else if (byte >= 010 && byte <= 015) {
        screen->keeps_history = true;
        if (!screen_control_direct(screen, byte))
            screen_drive(screen, &byte, 1);
        moved(screen);
    }
}

void screen_reset(struct screen *screen)
{
    screen_alternate(screen, false);
    screen->modes = (struct screen_modes){.autowrap = true, .cursor_visible = true};
    screen->pen = (struct pen){0};
    memset(screen->sets, 'B', sizeof screen->sets);
    screen->shift = screen->top = screen->bottom = 0;
    for (int i = 0; i < 2; i++)
        screen_save_cursor(screen, &screen->saved[i]);
    memset(screen->kitty_count, 0, sizeof screen->kitty_count);
    screen->last_rune = 0;
    screen_soft_reset(screen);
    screen_drivef(screen, "\033[?6l\033[4l\033[20l\033[?7h\033[r\033[H\033[2J");
    for (int i = 0; i < 2; i++)
        screen->saved[i].row = screen->saved[i].col = 0;
    moved(screen);
}

static void soft_reset(struct screen *screen)
{
    struct screen_cursor cursor = screen->cursor;
    screen_soft_reset(screen);
    screen_drivef(screen, "\033[r\033[%d;%dH", cursor.row + 1, cursor.col + 1);
    bool paste = screen->modes.bracketed_paste;
    screen->modes = (struct screen_modes){.autowrap = true, .cursor_visible = true, .bracketed_paste = paste};
    screen->pen = (struct pen){0};
    memset(screen->sets, 'B', sizeof screen->sets);
    screen->shift = screen->top = screen->bottom = 0;
    moved(screen);
}

static void on_escape(void *arg, char intermediate, char final)
{
    struct screen *screen = arg;
    if (intermediate == '(' || intermediate == ')') {
        screen->sets[intermediate == ')'] = final == '0' ? '0' : 'B';
    } else if (intermediate == '#' && final == '8') {
        screen_drive(screen, "\033#8", 3);
        moved(screen);
    } else if (!intermediate && strchr("DEHM", final)) {
        screen->keeps_history = true;
        screen->tabs_set |= final == 'H';
        screen_drivef(screen, "\033%c", final);
        moved(screen);
    } else if (!intermediate && final == '7') {
        screen_save_cursor(screen, &screen->saved[screen->current]);
    } else if (!intermediate && final == '8') {
        screen_restore_cursor(screen, &screen->saved[screen->current]);
    } else if (!intermediate && (final == '=' || final == '>')) {
        screen->modes.application_keypad = final == '=';
    } else if (!intermediate && final == 'c') {
        screen_reset(screen);
    }
}

static void margins(struct screen *screen, const struct token_csi *csi)
{
    int top = arg_or(csi, 0, 1), bottom = arg_or(csi, 1, screen->rows);
    top = top < 1 ? 1 : top;
    bottom = bottom < 1 || bottom > screen->rows ? screen->rows : bottom;
    if (top >= bottom)
        return; /* the engine would take it for a reset */
    screen->top = top - 1;
    screen->bottom = bottom < screen->rows ? bottom : 0;
    screen_drivef(screen, "\033[%d;%dr", top, bottom);
    moved(screen);
}

static void erase_display(struct screen *screen, const struct token_csi *csi)
{
    int what = arg_or(csi, 0, 0);
    if (what == 3) {
        scrollback_clear(screen->scrollback);
        screen_touch(screen, 1);
    } else if (what <= 2) {
        screen_erase_display(screen, what);
    }
}

static void push_title(struct screen *screen)
{
    if (screen->title_count == SCREEN_TITLES) {
        free(screen->titles[0]);
        memmove(screen->titles, screen->titles + 1, (SCREEN_TITLES - 1) * sizeof *screen->titles);
        screen->title_count--;
    }
    screen->titles[screen->title_count++] = xstrdup(screen->title);
}

static void pop_title(struct screen *screen)
{
    if (screen->title_count == 0)
        return;
    char *title = screen->titles[--screen->title_count];
    memcpy(screen->title, title, strlen(title) + 1);
    free(title);
    screen->version++;
}

/* Those that move the cursor or lines and that the engine does right: with at most two small parameters, any more are nobody's. */
static void plain(struct screen *screen, const struct token_csi *csi)
{
    bool two = csi->final == 'H' || csi->final == 'f';
    screen->keeps_history = csi->final == 'S';
    if (screen_move_direct(screen, csi->final, arg_or(csi, 0, 1), arg_or(csi, 1, 1)))
        ;
    else if (two)
        screen_drivef(screen, "\033[%d;%dH", arg_or(csi, 0, 1), arg_or(csi, 1, 1));
    else
        screen_drivef(screen, "\033[%d%c", arg_or(csi, 0, 1), csi->final);
    if (!strchr("@PX", csi->final))
        moved(screen);
}

static void with_nothing(struct screen *screen, const struct token_csi *csi)
{
    if (strchr("@ABCDEFGHILMPSXZ`adefjk", csi->final) || (csi->final == 'T' && csi->count <= 1)) {
        plain(screen, csi);
        return;
    }
    switch (csi->final) {
    case 'J': erase_display(screen, csi); break;
    case 'K':
        if (arg_or(csi, 0, 0) <= 2)
            screen_erase_line(screen, arg_or(csi, 0, 0));
        break;
    case 'b': screen_repeat(screen, arg_or(csi, 0, 1)); break;
    case 'g':
        screen->tabs_set = true;
        if (arg_or(csi, 0, 0) == 0 || arg_or(csi, 0, 0) == 3)
            screen_drivef(screen, "\033[%dg", arg_or(csi, 0, 0));
        break;
    case 'h': screen_mode(screen, csi, true); break;
    case 'l': screen_mode(screen, csi, false); break;
    case 'm': pen_sgr(&screen->pen, csi); break;
    case 'r': margins(screen, csi); break;
    case 's': screen_save_cursor(screen, &screen->saved[screen->current]); break;
    case 'u': screen_restore_cursor(screen, &screen->saved[screen->current]); break;
    case 't':
        if (arg_or(csi, 0, 0) == 22 && arg_or(csi, 1, 0) != 1)
            push_title(screen);
        else if (arg_or(csi, 0, 0) == 23 && arg_or(csi, 1, 0) != 1)
            pop_title(screen);
        break;
    }
}

static void with_leader(struct screen *screen, const struct token_csi *csi)
{
    struct token_csi bare = *csi;
    bare.leader = 0;
    if (csi->leader == '?' && (csi->final == 'h' || csi->final == 'l'))
        screen_mode(screen, csi, csi->final == 'h');
    else if (csi->leader == '?' && (csi->final == 'J' || csi->final == 'K')) /* selective, but nothing is protected */
        with_nothing(screen, &bare);
    else if (csi->leader == '>' && csi->final == 'm' && (csi->count == 0 || arg_or(csi, 0, 0) == 4))
        screen->modes.modify_other_keys = arg_or(csi, 1, 0) > 2 ? 2 : arg_or(csi, 1, 0);
    else if (csi->leader == '>' && csi->final == 'n' && arg_or(csi, 0, 0) == 4)
        screen->modes.modify_other_keys = 0;
    else if (csi->final == 'u')
        screen_kitty(screen, csi);
}

static void on_csi(void *arg, const struct token_csi *csi)
{
    struct screen *screen = arg;
    if (csi->intermediate == ' ' && csi->final == 'q' && !csi->leader) {
        screen->modes.cursor_shape = arg_or(csi, 0, 0) > 6 ? 0 : arg_or(csi, 0, 0);
        screen->version++;
    } else if (csi->intermediate == '!' && csi->final == 'p' && !csi->leader) {
        soft_reset(screen);
    } else if (!csi->intermediate && csi->leader) {
        with_leader(screen, csi);
    } else if (!csi->intermediate) {
        with_nothing(screen, csi);
    }
    screen_touch(screen, 1);
}

static void on_osc(void *arg, const char *data, size_t size, bool cut)
{
    struct screen *screen = arg;
    struct buf title;
    if (cut || size < 2 || (data[0] != '0' && data[0] != '2') || data[1] != ';')
        return;
    size -= 2;
    while (size > SCREEN_TITLE_MAX || (size > 0 && utf8_incomplete_tail(data + 2, size) > 0))
        size--;
    buf_init(&title, SCREEN_TITLE_MAX);
    for (size_t at = 0; at < size;) { /* a character at a time: what does not fit any more is left out whole */
        int32_t rune;
        size_t used = utf8_decode(data + 2 + at, size - at, &rune);
        if (!(rune >= 0x80 && rune < 0xa0) && !utf8_append_lossy(&title, data + 2 + at, used))
            break;
        at += used;
    }
    memset(screen->title, 0, sizeof screen->title);
    if (title.len > 0)
        memcpy(screen->title, title.data, title.len);
    buf_fini(&title);
    screen->version++;
}

const struct token_sink screen_sink = {.text = on_text, .control = on_control, .escape = on_escape, .csi = on_csi, .osc = on_osc};
