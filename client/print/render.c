/* render: owns the layout of tables. */
#include "client/print/render.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#define GAP 2
#define LAST_MIN 8       /* columns of the terminal that the last column should have */
#define LAST_READABLE 16 /* the same, where others can be left out for it */
#define CUT_MIN 12       /* no column is cut to less */

static const char *const codes[] = {[RENDER_GREEN] = "\033[32m",
                                    [RENDER_YELLOW] = "\033[33m",
                                    [RENDER_RED] = "\033[31m",
                                    [RENDER_DIM] = "\033[2m"};

struct render_cell *render_add_row(struct render_table *table)
{
    BUG_UNLESS(table->titles && table->column_count > 0);
    size_t count = (table->row_count + 1) * table->column_count;
    table->cells = xreallocarray(table->cells, count, sizeof *table->cells);
    struct render_cell *row = table->cells + table->row_count++ * table->column_count;
    memset(row, 0, table->column_count * sizeof *row);
    return row;
}

void render_fini(struct render_table *table)
{
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        free(table->cells[i].text);
    free(table->cells);
    table->cells = NULL;
    table->row_count = 0;
}

static const char *render_shown(const struct render_cell *cell)
{
    return cell->text && *cell->text ? cell->text : "-";
}

static size_t columns_of(const char *text, size_t len)
{
    size_t columns = 0;
    for (size_t at = 0, size; at < len; at += size) {
        int32_t rune;
        size = utf8_decode(text + at, len - at, &rune);
        if (size == 0)
            break;
        int width = rune < 0 ? 1 : utf8_width(rune);
        columns += width > 0 ? (size_t)width : 0;
    }
    return columns;
}

/* Appends as much of text as fits into room columns, with "…" where it was cut. Returns the
 * columns taken. */
static size_t render_append_cut(struct buf *out, const char *text, size_t len, size_t room)
{
    size_t used = 0, at = 0;
    if (columns_of(text, len) <= room) {
        buf_append(out, text, len);
        return columns_of(text, len);
    }
    while (at < len) {
        int32_t rune;
        size_t size = utf8_decode(text + at, len - at, &rune);
        int width = size && rune >= 0 ? utf8_width(rune) : 1;
        if (size == 0 || used + (size_t)(width > 0 ? width : 0) + 1 > room)
            break;
        used += (size_t)(width > 0 ? width : 0);
        at += size;
    }
    buf_append(out, text, at);
    if (room == 0)
        return 0;
    buf_append_text(out, "\xe2\x80\xa6");
    return used + 1;
}

static void append_blanks(struct buf *out, size_t count)
{
    for (; count > 0; count--)
        buf_append_byte(out, ' ');
}

struct line { /* the one that is being made */
    struct buf *out;
    size_t width, at;
};

static void render_append_cell(struct line *line, const char *text, size_t width, bool right,
                               bool last, enum render_color color)
{
    struct buf safe = BUF_INIT;
    BUG_UNLESS((size_t)color < sizeof codes / sizeof *codes);
    utf8_append_escaped(&safe, text, strlen(text), false);
    size_t own = columns_of(safe.data, safe.len), room = own;
    if (!last && own > width)
        room = width;
    if (line->width > 0 && line->at + room > line->width)
        room = line->width > line->at ? line->width - line->at : 0;
    if (right && own < width)
        append_blanks(line->out, width - own);
    if (color != RENDER_PLAIN)
        buf_append_text(line->out, codes[color]);
    size_t used = render_append_cut(line->out, safe.data, safe.len, room);
    if (color != RENDER_PLAIN)
        buf_append_text(line->out, "\033[0m");
    if (!right && !last && used < width)
        append_blanks(line->out, width - used);
    if (!last)
        append_blanks(line->out, GAP);
    line->at += (width > used ? width : used) + GAP;
    buf_fini(&safe);
}

static size_t width_of(const struct render_table *table, size_t column)
{
    size_t width = strlen(table->titles[column]);
    for (size_t row = 0; row < table->row_count; row++) {
        struct buf safe = BUF_INIT;
        const char *text = render_shown(&table->cells[row * table->column_count + column]);
        utf8_append_escaped(&safe, text, strlen(text), false);
        size_t own = columns_of(safe.data, safe.len);
        width = own > width ? own : width;
        buf_fini(&safe);
    }
    return width;
}

/* The columns that are shown, and how wide they are. */
struct layout {
    const struct render_table *table;
    size_t *columns, *widths, count, width;
};

static bool render_is_narrow(const struct layout *layout)
{
    size_t sum = 0, last = layout->count - 1, wanted = LAST_MIN;
    for (size_t i = 0; i < last; i++)
        sum += layout->widths[i] + GAP;
    if (layout->table->spare_count > 0) /* as wide as it is, to be read */
        wanted = layout->widths[last] < LAST_READABLE ? layout->widths[last] : LAST_READABLE;
    return layout->width > 0 && layout->count > 1 && sum + wanted > layout->width;
}

static bool render_is_empty(const struct render_table *table, size_t column)
{
    for (size_t row = 0; row < table->row_count; row++) {
        const char *text = table->cells[row * table->column_count + column].text;
        if (text && *text)
            return false;
    }
    return true;
}

static void render_leave_out(struct layout *layout, size_t column)
{
    size_t to = 0;
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->columns[i] == column)
            continue;
        layout->columns[to] = layout->columns[i];
        layout->widths[to++] = layout->widths[i];
    }
    layout->count = to;
}

static void leave_out_spare(struct layout *layout, bool empty_only)
{
    const struct render_table *table = layout->table;
    for (size_t i = 0; i < table->spare_count && render_is_narrow(layout); i++)
        if (!empty_only || render_is_empty(table, table->spare[i]))
            render_leave_out(layout, table->spare[i]);
}

/* Cuts the widest columns until the last one has room for its beginning. */
static void render_make_room(struct layout *layout)
{
    while (render_is_narrow(layout)) {
        size_t widest = 0;
        for (size_t i = 0; i + 1 < layout->count; i++)
            if (layout->widths[i] > layout->widths[widest])
                widest = i;
        if (layout->widths[widest] <= CUT_MIN)
            return;
        layout->widths[widest]--;
    }
}

static void render_lay_out(struct layout *layout)
{
    for (size_t i = 0; i < layout->count; i++) {
        layout->columns[i] = i;
        layout->widths[i] = width_of(layout->table, i);
    }
    leave_out_spare(layout, true);
    render_make_room(layout);
    leave_out_spare(layout, false);
}

static void render_append_row(struct buf *out, const struct layout *layout, size_t row, bool colors)
{
    const struct render_table *table = layout->table;
    struct line line = {.out = out, .width = layout->width};
    for (size_t i = 0; i < layout->count; i++) {
        size_t column = layout->columns[i];
        const struct render_cell *cell =
            row > 0 ? &table->cells[(row - 1) * table->column_count + column] : NULL;
        enum render_color color = !colors ? RENDER_PLAIN : cell ? cell->color : RENDER_DIM;
        render_append_cell(&line, cell ? render_shown(cell) : table->titles[column],
                           layout->widths[i], table->to_the_right[column], i + 1 == layout->count,
                           color);
    }
    buf_append_byte(out, '\n');
}

void render_people(struct buf *out, const struct render_table *table, size_t width, bool colors)
{
    struct layout layout = {.table = table, .count = table->column_count, .width = width};
    BUG_UNLESS(table->titles && table->to_the_right && table->column_count > 0);
    layout.columns = xcalloc(layout.count, sizeof *layout.columns);
    layout.widths = xcalloc(layout.count, sizeof *layout.widths);
    render_lay_out(&layout);
    for (size_t row = 0; row <= table->row_count; row++)
        render_append_row(out, &layout, row, colors);
    free(layout.columns);
    free(layout.widths);
}

void render_tabs(struct buf *out, const struct render_table *table)
{
    BUG_UNLESS(table->column_count > 0);
    for (size_t i = 0; i < table->row_count * table->column_count; i++) {
        const char *text = render_shown(&table->cells[i]);
        utf8_append_escaped(out, text, strlen(text), false);
        buf_append_byte(out, (i + 1) % table->column_count == 0 ? '\n' : '\t');
    }
}

size_t render_width_of(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool render_wants_colors(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

void render_age(int64_t ms, char out[16])
{
    int64_t seconds = ms > 0 ? ms / 1000 : 0;
    if (seconds < 60)
        snprintf(out, 16, "%" PRId64 "s", seconds);
    else if (seconds < 3600)
        snprintf(out, 16, "%" PRId64 "m", seconds / 60);
    else if (seconds < 86400)
        snprintf(out, 16, "%" PRId64 "h", seconds / 3600);
    else
        snprintf(out, 16, "%" PRId64 "d", seconds / 86400);
}

int64_t render_time_of(const char *iso)
{
    struct tm tm = {0};
    int ms = 0, end = 0;
    if (!iso ||
        sscanf(iso, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms, &end) != 7 ||
        end == 0)
        return -1;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (int64_t)timegm(&tm) * 1000 + ms;
}
