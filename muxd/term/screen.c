/* screen: owns the model's life and its engine, libvterm (0.1.4 and 0.3.3 were read), which is a cursor with margins, tabs and wrapping
 * to it. The only includer of vterm.h.
 *
 * The engine trusts its input: more than 16 parameters or a huge one overflow, REP may never end, marks pile up, a saved cursor may lie
 * outside after a resize, double-width lines and side margins break its bounds. So it sees only what the files beside this one write:
 * whole sequences from a short list with small parameters, and stand-ins for characters. */
#include "term/screen.h"
#include "base/bug.h"
#include "base/mem.h"
#include "term/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

static int on_glyph(VTermGlyphInfo *info, VTermPos pos, void *user)
{
    struct screen *screen = user;
    bool queued = screen->queue_at < screen->queue_count;
    screen_put(screen, pos.row, pos.col, queued ? screen->queue[screen->queue_at++] : (int32_t)info->chars[0], info->width);
    return 1;
}

static int on_cursor(VTermPos pos, VTermPos old, int visible, void *user)
{
    struct screen *screen = user;
    (void)old;
    (void)visible;
    screen->cursor = (struct screen_cursor){.row = pos.row, .col = pos.col};
    screen->version++;
    return 1;
}

static int on_scroll(VTermRect rect, int downward, int rightward, void *user)
{
    screen_scroll(user, rect.start_row, rect.end_row, rect.start_col, rect.end_col, downward, rightward);
    return 1;
}

static int on_erase(VTermRect rect, int selective, void *user)
{
    (void)selective;
    screen_erase(user, rect.start_row, rect.end_row, rect.start_col, rect.end_col);
    return 1;
}

static int on_property(VTermProp prop, VTermValue *value, void *user)
{
    (void)prop;
    (void)value;
    (void)user;
    return 1; /* modes are counted in screen_mode.c */
}

static const VTermStateCallbacks callbacks = {
    .putglyph = on_glyph, .movecursor = on_cursor, .scrollrect = on_scroll, .erase = on_erase, .settermprop = on_property};

static void *engine_alloc(size_t size, void *arg)
{
    (void)arg;
    return xcalloc(1, size);
}

static void engine_free(void *memory, void *arg)
{
    (void)arg;
    free(memory);
}

static void no_answer(const char *bytes, size_t size, void *user) /* questions never reach it */
{
    (void)bytes;
    (void)size;
    (void)user;
}

static int clamp_size(int size)
{
    return size < 1 ? 1 : size > SCREEN_SIZE_MAX ? SCREEN_SIZE_MAX : size;
}

struct screen *screen_new(int rows, int cols, size_t scrollback_bytes)
{
    static VTermAllocatorFunctions allocator = {.malloc = engine_alloc, .free = engine_free};
    struct screen *screen = xcalloc(1, sizeof *screen);
    screen->rows = clamp_size(rows);
    screen->cols = clamp_size(cols);
    screen->work_max = SIZE_MAX;
    screen->scrollback = scrollback_new(scrollback_bytes);
    screen->grids[0] = screen_grid_new(screen->rows, screen->cols);
    screen->vt = vterm_new_with_allocator(SCREEN_SIZE_MAX, screen->cols, &allocator, NULL);
    vterm_set_utf8(screen->vt, 1);
    vterm_output_set_callback(screen->vt, no_answer, NULL);
    screen->state = vterm_obtain_state(screen->vt);
    vterm_set_size(screen->vt, screen->rows, screen->cols); /* 0.3.3 never makes room for more rows than it began with */
    vterm_state_set_callbacks(screen->state, &callbacks, screen);
    screen_reset(screen);
    return screen;
}

void screen_free(struct screen *screen)
{
    if (!screen)
        return;
    vterm_free(screen->vt);
    screen_grid_free(screen->grids[0], screen->rows);
    screen_grid_free(screen->grids[1], screen->rows);
    scrollback_free(screen->scrollback);
    for (int i = 0; i < screen->title_count; i++)
        free(screen->titles[i]);
    free(screen);
}

void screen_touch(struct screen *screen, size_t cells)
{
    screen->version++;
    screen->work += cells;
    if (screen->work >= screen->work_max)
        screen->tokens.halt = true;
}

static char *put_number(char *at, int number)
{
    if (number >= 10)
        at = put_number(at, number / 10);
    *at++ = (char)('0' + number % 10);
    return at;
}

/* A move to where it stands already would leave it a pending wrap. */
static void bring_back(struct screen *screen)
{
    char bytes[24] = "\033[H\033[", *begin = bytes + 3, *at = bytes + 5;
    VTermPos pos;
    vterm_state_get_cursorpos(screen->state, &pos);
    if (pos.row == screen->cursor.row && pos.col == screen->cursor.col)
        begin = bytes;
    at = put_number(at, screen->cursor.row + 1);
    *at++ = ';';
    at = put_number(at, screen->cursor.col + 1);
    *at++ = 'H';
    screen->away = false;
    vterm_input_write(screen->vt, begin, (size_t)(at - begin));
}

void screen_drive(struct screen *screen, const char *bytes, size_t size)
{
    VTermPos pos;
    if (screen->away)
        bring_back(screen);
    vterm_input_write(screen->vt, bytes, size);
    vterm_state_get_cursorpos(screen->state, &pos);
    BUG_UNLESS(pos.row >= 0 && pos.row < screen->rows && pos.col >= 0 && pos.col < screen->cols);
    screen->cursor = (struct screen_cursor){.row = pos.row, .col = pos.col};
}

void screen_drivef(struct screen *screen, const char *format, ...)
{
    char bytes[64];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(bytes, sizeof bytes, format, args);
    va_end(args);
    BUG_UNLESS(size > 0 && (size_t)size < sizeof bytes);
    screen_drive(screen, bytes, (size_t)size);
}

void screen_soft_reset(struct screen *screen)
{
    vterm_state_reset(screen->state, 0);
    screen->tabs_set = false;
}

/* A CSI is never begun in the middle of what can't be told from text: skip to where a line or a sequence begins. */
static size_t skip(struct screen *screen, const char *data, size_t size)
{
    size_t at = 0;
    while (at < size && screen->skipping) {
        char byte = data[at];
        if (byte == 033 || byte == '\n' || byte == '\r' || screen->skipped >= 4096) {
            screen->skipping = false;
            break;
        }
        screen->skipped++;
        at++;
    }
    return at;
}

size_t screen_feed_some(struct screen *screen, const char *data, size_t size, size_t work)
{
    size_t at = skip(screen, data, size);
    screen->work = 0;
    screen->work_max = work;
    if (at < size)
        at += tokens_feed(&screen->tokens, data + at, size - at, &screen_sink, screen);
    screen->work_max = SIZE_MAX;
    return at;
}

void screen_feed(struct screen *screen, const char *data, size_t size)
{
    for (size_t at = 0; at < size;)
        at += screen_feed_some(screen, data + at, size - at, SIZE_MAX);
}

void screen_gap(struct screen *screen)
{
    tokens_reset(&screen->tokens);
    screen->skipping = true;
    screen->skipped = 0;
    screen->mark_row = -1;
    screen->flowing = false;
}

void screen_say(struct screen *screen, const char *sequences, size_t size)
{
    bool skipping = screen->skipping;
    screen->skipping = false;
    screen_feed(screen, sequences, size);
    screen->skipping = skipping;
}

/* Lines of one grid after a change of size; *row is where its cursor stands, before and after. */
static void resize_grid(struct screen *screen, int which, int rows, int cols, int *row)
{
    int old = screen->rows, drop = old - rows;
    struct line *from = screen->grids[which];
    if (!from)
        return;
    struct line *to = xcalloc((size_t)rows, sizeof *to);
    int below = old - 1 - *row, off = drop > below ? drop - below : 0, back = 0;
    for (int i = 0; i < off; i++) {
        if (which == 0)
            scrollback_push(screen->scrollback, &from[i]);
        line_fini(&from[i]);
    }
    if (which == 0 && drop < 0)
        back = scrollback_count(screen->scrollback) < (size_t)-drop ? (int)scrollback_count(screen->scrollback) : -drop;
    for (int i = back; i > 0; i--)
        scrollback_pop(screen->scrollback, &to[i - 1], cols);
    int kept = old - off < rows - back ? old - off : rows - back;
    memcpy(to + back, from + off, (size_t)kept * sizeof *to);
    for (int i = off + kept; i < old; i++)
        line_fini(&from[i]);
    for (int i = back; i < back + kept; i++)
        line_resize(&to[i], cols);
    for (int i = back + kept; i < rows; i++)
        line_init(&to[i], cols);
    free(from);
    screen->grids[which] = to;
    *row += back - off;
}

void screen_resize(struct screen *screen, int rows, int cols)
{
    rows = clamp_size(rows);
    cols = clamp_size(cols);
    if (rows == screen->rows && cols == screen->cols)
        return;
    int row = screen->cursor.row, col = screen->cursor.col, main_row = screen->current ? screen->before_alternate.row : row;
    screen_drivef(screen, "\033[?6l\033[r");
    screen->modes.origin = false;
    screen->top = screen->bottom = 0;
    if (main_row >= screen->rows)
        main_row = screen->rows - 1;
    resize_grid(screen, 0, rows, cols, &main_row);
    resize_grid(screen, 1, rows, cols, &row);
    screen->rows = rows;
    screen->cols = cols;
    if (screen->current)
        screen->before_alternate.row = main_row;
    else
        row = main_row;
    vterm_set_size(screen->vt, rows, cols);
    screen_drivef(screen, "\033[%d;%dH", row + 1, (col < cols ? col : cols - 1) + 1);
    screen->mark_row = -1;
    screen->flowing = false;
    screen->version++;
}
