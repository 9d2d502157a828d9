/* screen_escape: owns what controls and sequences mean to a screen. Queries change nothing here;
 * term/responder.c answers them. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "term/internal.h"
#include <stdlib.h>
#include <string.h>

static int arg_or(const struct token_csi *csi, int at, int fallback)
{
    return at < csi->count && csi->args[at] >= 0 ? csi->args[at] : fallback;
}

static void on_text(void *arg, const int32_t *runes, size_t count)
{
    screen_on_text(arg, runes, count);
}

static void on_control(void *arg, char byte)
{
    struct screen *screen = arg;
    int row = screen->cursor.row, col = screen->cursor.col;
    switch (byte) {
    case '\a': screen_bell(screen); break;
    case '\b': screen_move(screen, row, col - 1); break;
    case '\t': screen_tab(screen, 1); break;
    case '\n':
    case '\v':
    case '\f':
        screen_linefeed(screen);
        if (screen->modes.newline)
            screen_move(screen, screen->cursor.row, 0);
        break;
    case '\r': screen_move(screen, row, 0); break;
    case 016: /* SO, SI */
    case 017: screen->shift = byte == 016; break;
    }
}

void screen_reset(struct screen *screen)
{
    screen->pen = (struct pen){0};
    screen->last_rune = 0;
    screen->modes = (struct screen_modes){.autowrap = true, .cursor_visible = true};
    memset(screen->sets, 'B', sizeof screen->sets);
    screen->shift = 0;
    memset(screen->kitty_count, 0, sizeof screen->kitty_count);
    screen_alternate(screen, false);
    screen->recoloured += colours_reset(&screen->colours);
    screen->may_columns = false;
    if (screen->many_columns)
        screen_columns(screen, false);
    screen_tabs_fill(screen, true);
    screen_margins(screen, 0, screen->rows);
    for (int i = 0; i < 2; i++) {
        screen_save_cursor(screen, &screen->saved[i]);
        screen->saved[i].asked = false;
    }
    screen_erase_display(screen, 2);
}

/* DECSTR. Tab stops stay, as in DEC's terminals; the mouse, focus, pastes, as in xterm. */
static void screen_escape_soft_reset(struct screen *screen)
{
    struct screen_modes *modes = &screen->modes;
    modes->application_cursor = modes->application_keypad = false;
    modes->origin = modes->insert = modes->newline = false;
    modes->autowrap = modes->cursor_visible = true;
    modes->cursor_shape = modes->modify_other_keys = 0;
    screen->pen = (struct pen){0};
    memset(screen->sets, 'B', sizeof screen->sets);
    screen->shift = screen->top = 0;
    screen->bottom = screen->rows;
    screen->pending = false;
}

static void short_escape(struct screen *screen, char final)
{
    switch (final) {
    case '7': screen_save_cursor(screen, &screen->saved[screen->current]); break;
    case '8': screen_restore_cursor(screen, &screen->saved[screen->current]); break;
    case '=':
    case '>': screen->modes.application_keypad = final == '='; break;
    case 'D': screen_linefeed(screen); break;
    case 'E':
        screen_linefeed(screen);
        screen_move(screen, screen->cursor.row, 0);
        break;
    case 'H': screen_tab_set(screen, true); break;
    case 'M': screen_reverse_linefeed(screen); break;
    case 'c': screen_reset(screen); break;
    }
}

static void screen_escape_on_escape(void *arg, char intermediate, char final)
{
    struct screen *screen = arg;
    if (intermediate == '(' || intermediate == ')')
        screen->sets[intermediate == ')'] = final == '0' ? '0' : 'B';
    else if (intermediate == '#' && final == '8')
        screen_align(screen);
    else if (!intermediate)
        short_escape(screen, final);
}

/* DECSTBM; ignored when it leaves less than two lines. */
static void margins(struct screen *screen, const struct token_csi *csi)
{
    int top = arg_or(csi, 0, 1), bottom = arg_or(csi, 1, screen->rows);
    top = top < 1 ? 1 : top;
    bottom = bottom < 1 || bottom > screen->rows ? screen->rows : bottom;
    if (top < bottom)
        screen_margins(screen, top - 1, bottom);
}

static void erase_display(struct screen *screen, int what)
{
    if (what == 3) {
        scrollback_clear(screen->scrollback);
        screen_touch(screen, 1);
    } else if (what <= 2) {
        screen_erase_display(screen, what);
    }
}

static void push_title(struct screen *screen)
{
    BUG_UNLESS(screen->title_count >= 0 && screen->title_count <= SCREEN_TITLES);
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

/* Sequences that move the cursor. False: not one of them. */
static bool move(struct screen *screen, char final, int first, int second)
{
    int row = screen->cursor.row, col = screen->cursor.col;
    switch (final) {
    case 'A':
    case 'k': screen_climb(screen, -first, col); return true;
    case 'B':
    case 'e': screen_climb(screen, first, col); return true;
    case 'C':
    case 'a': screen_move(screen, row, col + first); return true;
    case 'D':
    case 'j': screen_move(screen, row, col - first); return true;
    case 'E': screen_climb(screen, first, 0); return true;
    case 'F': screen_climb(screen, -first, 0); return true;
    case 'G':
    case '`': screen_move(screen, row, first - 1); return true;
    case 'H':
    case 'f': screen_place(screen, first - 1, second - 1); return true;
    case 'I': screen_tab(screen, first); return true;
    case 'Z': screen_tab(screen, -first); return true;
    case 'd': screen_place(screen, first - 1, col); return true;
    default: return false;
    }
}

/* Sequences that move lines or their parts. False: not one of them. */
static bool edit(struct screen *screen, char final, int count)
{
    switch (final) {
    case '@': screen_insert_chars(screen, count); return true;
    case 'L': screen_insert_lines(screen, count); return true;
    case 'M': screen_insert_lines(screen, -count); return true;
    case 'P': screen_insert_chars(screen, -count); return true;
    case 'S': screen_scroll(screen, screen->top, screen->bottom, count, true); return true;
    case 'T': screen_scroll(screen, screen->top, screen->bottom, -count, false); return true;
    case 'X': screen_erase_chars(screen, count); return true;
    case 'b': screen_repeat(screen, count); return true;
    default: return false;
    }
}

static void clear_tabs(struct screen *screen, int what)
{
    if (what == 0)
        screen_tab_set(screen, false);
    else if (what == 3)
        screen_tabs_fill(screen, false);
}

static void with_nothing(struct screen *screen, const struct token_csi *csi)
{
    int what = arg_or(csi, 0, 0), first = what < 1 ? 1 : what;
    if (csi->final == 'T' && csi->count > 1) /* mouse tracking with highlights */
        return;
    if (move(screen, csi->final, first, arg_or(csi, 1, 1)) || edit(screen, csi->final, first))
        return;
    switch (csi->final) {
    case 'J': erase_display(screen, what); break;
    case 'K':
        if (what <= 2)
            screen_erase_line(screen, what);
        break;
    case 'g': clear_tabs(screen, what); break;
    case 'h': screen_mode(screen, csi, true); break;
    case 'l': screen_mode(screen, csi, false); break;
    case 'm': pen_sgr(&screen->pen, csi); break;
    case 'r': margins(screen, csi); break;
    case 's': screen_save_cursor(screen, &screen->saved[screen->current]); break;
    case 'u': screen_restore_cursor(screen, &screen->saved[screen->current]); break;
    case 't':
        if (what == 22 && arg_or(csi, 1, 0) != 1)
            push_title(screen);
        else if (what == 23 && arg_or(csi, 1, 0) != 1)
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
    /* selective erase, but no cell is protected */
    else if (csi->leader == '?' && (csi->final == 'J' || csi->final == 'K'))
        with_nothing(screen, &bare);
    else if (csi->leader == '>' && csi->final == 'm' && (csi->count == 0 || arg_or(csi, 0, 0) == 4))
        screen->modes.modify_other_keys = arg_or(csi, 1, 0) > 2 ? 2 : arg_or(csi, 1, 0);
    else if (csi->leader == '>' && csi->final == 'n' && arg_or(csi, 0, 0) == 4)
        screen->modes.modify_other_keys = 0;
    else if (csi->final == 'u')
        screen_kitty(screen, csi);
}

static void screen_escape_on_csi(void *arg, const struct token_csi *csi)
{
    struct screen *screen = arg;
    if (csi->intermediate == ' ' && csi->final == 'q' && !csi->leader) {
        screen->modes.cursor_shape = arg_or(csi, 0, 0) > 6 ? 0 : arg_or(csi, 0, 0);
        screen->version++;
    } else if (csi->intermediate == '!' && csi->final == 'p' && !csi->leader) {
        screen_escape_soft_reset(screen);
    } else if (!csi->intermediate && csi->leader) {
        with_leader(screen, csi);
    } else if (!csi->intermediate) {
        with_nothing(screen, csi);
    }
    screen_touch(screen, 1);
}

static void on_title(void *arg, const char *data, size_t size, bool cut)
{
    struct buf title;
    struct screen *screen = arg;
    if (cut)
        return;
    while (size > SCREEN_TITLE_MAX || (size > 0 && utf8_incomplete_tail(data, size) > 0))
        size--;
    buf_init(&title, SCREEN_TITLE_MAX);
    /* a character at a time: one that does not fit is left out whole */
    for (size_t at = 0; at < size;) {
        int32_t rune;
        size_t used = utf8_decode(data + at, size - at, &rune);
        if (!(rune >= 0x80 && rune < 0xa0) && !utf8_append_lossy(&title, data + at, used))
            break;
        at += used;
    }
    memset(screen->title, 0, sizeof screen->title);
    if (title.len > 0)
        memcpy(screen->title, title.data, title.len);
    buf_fini(&title);
    screen->version++;
}

static void on_osc(void *arg, const char *data, size_t size, bool cut)
{
    struct screen *screen = arg;
    if (!cut && colours_apply(&screen->colours, data, size)) {
        screen->recoloured++;
        screen->version++;
    }
    if (cut)
        screen_pass_rest(screen, data, size);
    else if (size >= 2 && (data[0] == '0' || data[0] == '2') && data[1] == ';')
        on_title(arg, data + 2, size - 2, false);
    else if (size >= 2 && memcmp(data, "8;", 2) == 0)
        screen_pass_link(screen, data + 2, size - 2);
    else if (size >= 3 && memcmp(data, "52;", 3) == 0)
        screen_pass_copy(screen, data + 3, size - 3);
}

static void on_osc_part(void *arg, const char *data, size_t size, bool first)
{
    screen_pass_part(arg, data, size, first);
}

const struct token_sink screen_sink = {.text = on_text,
                                       .control = on_control,
                                       .escape = screen_escape_on_escape,
                                       .csi = screen_escape_on_csi,
                                       .osc = on_osc,
                                       .osc_part = on_osc_part,
                                       .title = on_title};
