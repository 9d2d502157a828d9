/* scrollback: owns the packed lines, in a ring, and the cap over their bytes. A line that is very
 * long is several: each begins a row of its own once the width has changed. */
#include "term/scrollback.h"
#include "base/bug.h"
#include "base/mem.h"
#include "term/packed.h"
#include <stdlib.h>
#include <string.h>

#define LINE_COLS 32768 /* a longer line is several, */
#define LINE_SHARE 8    /* and one that has more than this part of all bytes */
#define OVERHEAD (sizeof(struct packed) + 16)

struct scrollback {
    struct packed **ring;
    size_t room, first, count; /* lines; room is a power of two, or 0 */
    uint64_t gone;             /* lines before the first */
    size_t rows;               /* of all lines */
    int cols;
    size_t bytes, max;
    bool held; /* there is no cap now */
    uint64_t pushes;
    /* of the newest line: the bytes that it has room for, its last look, and a way through it */
    size_t newest_room;
    struct pen pen;
    struct flow end; /* width 0: not begun */
    /* its last column was left free, with this colour, for a wide character */
    bool gap;
    uint32_t gap_bg;
    char *scratch; /* owned: the row that is being packed */
    size_t scratch_size;
    struct scrollback_hint *hint; /* owned */
};

/* Where a line was found last: reading all rows in order looks for none. */
struct scrollback_hint {
    bool known;
    size_t line;   /* from the oldest */
    size_t before; /* rows of the older lines */
};

struct scrollback *scrollback_new(size_t max_bytes, int cols)
{
    struct scrollback *scrollback = xcalloc(1, sizeof *scrollback);
    scrollback->hint = xcalloc(1, sizeof *scrollback->hint);
    scrollback->max = max_bytes;
    scrollback->cols = cols;
    return scrollback;
}

static struct packed **slot(const struct scrollback *scrollback, size_t from_oldest)
{
    return &scrollback->ring[(scrollback->first + from_oldest) & (scrollback->room - 1)];
}

static struct packed *newest(const struct scrollback *scrollback)
{
    return *slot(scrollback, scrollback->count - 1);
}

static size_t cost(const struct packed *packed)
{
    return packed->size + OVERHEAD;
}

static uint32_t rows_of(const struct scrollback *scrollback, size_t line)
{
    return packed_rows(*slot(scrollback, line), scrollback->cols);
}

/* Goes on where the last look at it has ended. */
static uint32_t rows_of_newest(struct scrollback *scrollback)
{
    if (!newest(scrollback)->wide || newest(scrollback)->cols <= (unsigned)scrollback->cols)
        return rows_of(scrollback, scrollback->count - 1);
    if (scrollback->end.width == 0)
        scrollback->end = flow_begin(scrollback->cols);
    flow_on(&scrollback->end, newest(scrollback), UINT32_MAX, UINT32_MAX);
    return scrollback->end.rows;
}

static void scrollback_drop(struct scrollback *scrollback, size_t line)
{
    struct packed *packed = *slot(scrollback, line);
    scrollback->rows -= rows_of(scrollback, line);
    scrollback->bytes -= cost(packed);
    scrollback->hint->known = false;
    *slot(scrollback, line) = NULL;
    free(packed);
}

static void drop_oldest(struct scrollback *scrollback)
{
    scrollback_drop(scrollback, 0);
    scrollback->first++;
    scrollback->gone++;
    scrollback->count--;
    BUG_UNLESS(scrollback->count > 0 || (scrollback->bytes == 0 && scrollback->rows == 0));
}

void scrollback_clear(struct scrollback *scrollback)
{
    while (scrollback->count > 0)
        drop_oldest(scrollback);
}

void scrollback_free(struct scrollback *scrollback)
{
    if (!scrollback)
        return;
    scrollback_clear(scrollback);
    free(scrollback->ring);
    free(scrollback->scratch);
    free(scrollback->hint);
    free(scrollback);
}

static void scrollback_grow(struct scrollback *scrollback)
{
    size_t room = scrollback->room ? scrollback->room * 2 : 64;
    struct packed **ring = xcalloc(room, sizeof *ring);
    for (size_t i = 0; i < scrollback->count; i++)
        ring[i] = *slot(scrollback, i);
    free(scrollback->ring);
    scrollback->ring = ring;
    scrollback->room = room;
    scrollback->first = 0;
}

/* What the way through the newest line and its last look are is found anew. */
static void walk_newest(struct scrollback *scrollback)
{
    scrollback->end = flow_begin(scrollback->cols);
    scrollback->pen = (struct pen){0};
    scrollback->gap = false;
    if (scrollback->count == 0)
        return;
    scrollback->newest_room = newest(scrollback)->size;
    flow_on(&scrollback->end, newest(scrollback), UINT32_MAX, UINT32_MAX);
    scrollback->pen = scrollback->end.pen;
    scrollback->gap = newest(scrollback)->open && scrollback->end.col < scrollback->cols;
    scrollback->gap_bg = scrollback->end.fill;
}

static bool scrollback_goes_on(const struct scrollback *scrollback)
{
    const struct packed *last = scrollback->count > 0 ? newest(scrollback) : NULL;
    return last && last->open && last->cols < LINE_COLS &&
           (scrollback->max == 0 || last->size < scrollback->max / LINE_SHARE);
}

/* Makes the newest line that much longer. Once it has ended it has no room to spare. */
static struct packed *lengthen(struct scrollback *scrollback, size_t by, bool open)
{
    struct packed *packed = newest(scrollback);
    size_t size = packed->size + by;
    scrollback->rows -= rows_of_newest(scrollback);
    scrollback->bytes -= cost(packed);
    if (size > scrollback->newest_room || !open) {
        scrollback->newest_room = open ? 2 * size : size;
        packed = xrealloc(packed, sizeof *packed + scrollback->newest_room);
        *slot(scrollback, scrollback->count - 1) = packed;
    }
    return packed;
}

static struct packed *scrollback_begin_line(struct scrollback *scrollback, size_t size)
{
    if (scrollback->count == scrollback->room)
        scrollback_grow(scrollback);
    struct packed *packed = xmalloc(sizeof *packed + size);
    *packed = (struct packed){.size = 0};
    *slot(scrollback, scrollback->count++) = packed;
    scrollback->end.width = 0;
    scrollback->newest_room = size;
    return packed;
}

static char *scratch_for(struct scrollback *scrollback, size_t size)
{
    if (scrollback->scratch_size < size) {
        scrollback->scratch_size = size;
        scrollback->scratch = xrealloc(scrollback->scratch, size);
    }
    return scrollback->scratch;
}

/* Packs a row into the scratch; returns the size. *gap: before it a column that was left free for a
 * wide character is a blank. */
static size_t pack(struct scrollback *scrollback, const struct packed_row *row, bool on, bool *gap,
                   bool *wide)
{
    char *scratch = scratch_for(scrollback, packed_most(row)), *end = scratch;
    *gap = on && scrollback->gap && row->line->cells[0].width != 2;
    if (!on)
        scrollback->pen = (struct pen){0};
    if (*gap)
        end = packed_write_blank(end, scrollback->gap_bg, &scrollback->pen);
    end = packed_write(end, row, &scrollback->pen, wide);
    BUG_UNLESS((size_t)(end - scratch) <= scrollback->scratch_size);
    return (size_t)(end - scratch);
}

struct scrollback_place scrollback_add(struct scrollback *scrollback, const struct line *line,
                                       int least)
{
    struct packed_row row = packed_row(line, least);
    bool wide = false, gap;
    if (row.content == 0 && !line->wrapped) /* an empty row is a line of its own */
        scrollback_end_line(scrollback);
    bool on = scrollback_goes_on(scrollback);
    size_t size = pack(scrollback, &row, on, &gap, &wide);
    struct packed *packed = on ? lengthen(scrollback, size, line->wrapped)
                               : scrollback_begin_line(scrollback, size);
    struct scrollback_place place = {.line = scrollback->gone + scrollback->count - 1,
                                     .col = packed->cols + gap};
    if (size > 0)
        memcpy(packed->bytes + packed->size, scrollback->scratch, size);
    *packed = (struct packed){.size = packed->size + (uint32_t)size,
                              .cols = packed->cols + (unsigned)(gap + row.content),
                              .wide = packed->wide || wide,
                              .open = line->wrapped};
    scrollback->rows += rows_of_newest(scrollback);
    scrollback->bytes += cost(packed);
    scrollback->hint->known = false;
    scrollback->gap = row.gap;
    scrollback->gap_bg = row.fill;
    return place;
}

static void keep_cap(struct scrollback *scrollback)
{
    while (scrollback->bytes > scrollback->max && scrollback->count > 0)
        drop_oldest(scrollback);
}

void scrollback_push(struct scrollback *scrollback, const struct line *line)
{
    scrollback->pushes++;
    if (scrollback->max == 0)
        return;
    scrollback_add(scrollback, line, 0);
    keep_cap(scrollback);
}

void scrollback_end_line(struct scrollback *scrollback)
{
    if (scrollback->count > 0)
        newest(scrollback)->open = false;
}

void scrollback_hold(struct scrollback *scrollback)
{
    BUG_UNLESS(!scrollback->held);
    scrollback->held = true;
}

void scrollback_release(struct scrollback *scrollback)
{
    BUG_UNLESS(scrollback->held);
    scrollback->held = false;
    keep_cap(scrollback);
}

void scrollback_set_cols(struct scrollback *scrollback, int cols)
{
    scrollback->cols = cols;
    scrollback->rows = 0;
    scrollback->hint->known = false;
    walk_newest(scrollback);
    for (size_t i = 0; i < scrollback->count; i++)
        scrollback->rows += rows_of(scrollback, i);
}

void scrollback_find(const struct scrollback *scrollback, struct scrollback_place place,
                     size_t *row, int *col, bool *behind)
{
    size_t line = place.line < scrollback->gone ? 0 : (size_t)(place.line - scrollback->gone);
    struct flow flow = flow_begin(scrollback->cols);
    uint32_t in_line;
    BUG_UNLESS(scrollback->count > 0);
    line = line < scrollback->count ? line : scrollback->count - 1;
    *row = scrollback->rows;
    for (size_t i = line; i < scrollback->count; i++)
        *row -= rows_of(scrollback, i);
    flow_on(&flow, *slot(scrollback, line), UINT32_MAX, place.col);
    bool at_end = !flow_next(&flow, *slot(scrollback, line), &in_line, col);
    if (at_end) {
        in_line = flow.rows - 1;
        *col = flow.col;
    }
    *col += (int)(place.col - flow.cols); /* behind the end, or in the right half */
    bool just_behind = at_end && *col == scrollback->cols;
    if (behind)
        *behind = just_behind;
    *col -= just_behind;
    *row += in_line;
}

static void cut_newest(struct scrollback *scrollback, uint32_t rows)
{
    struct packed *packed = newest(scrollback);
    struct flow flow = flow_begin(scrollback->cols);
    flow_on(&flow, packed, rows, UINT32_MAX);
    scrollback->bytes -= cost(packed);
    packed->size = (uint32_t)flow.at;
    packed->cols = flow.cols;
    packed->open = true;
    scrollback->bytes += cost(packed);
    scrollback->newest_room = packed->size;
    scrollback->rows += rows;
}

void scrollback_take(struct scrollback *scrollback, struct line *lines, size_t count)
{
    BUG_UNLESS(count <= scrollback->rows);
    scrollback->hint->known = false;
    while (count > 0) {
        const struct packed *packed = newest(scrollback);
        uint32_t rows = packed_rows(packed, scrollback->cols),
                 taken = rows < count ? rows : (uint32_t)count;
        count -= taken;
        packed_read(packed, scrollback->cols, rows - taken, taken, false, lines + count);
        if (taken < rows) {
            scrollback->rows -= rows;
            cut_newest(scrollback, rows - taken);
        } else {
            scrollback_drop(scrollback, scrollback->count - 1);
            scrollback->count--;
        }
    }
    walk_newest(scrollback);
}

bool scrollback_get(const struct scrollback *scrollback, size_t age, struct line *line)
{
    struct scrollback_hint *hint = scrollback->hint;
    if (age >= scrollback->rows)
        return false;
    size_t row = scrollback->rows - 1 - age;
    if (!hint->known)
        *hint = (struct scrollback_hint){
            .known = true, .line = scrollback->count, .before = scrollback->rows};
    while (hint->before > row)
        hint->before -= rows_of(scrollback, --hint->line);
    for (uint32_t rows; hint->before + (rows = rows_of(scrollback, hint->line)) <= row;
         hint->line++)
        hint->before += rows;
    packed_read(*slot(scrollback, hint->line), scrollback->cols, (uint32_t)(row - hint->before), 1,
                true, line);
    return true;
}

size_t scrollback_count(const struct scrollback *scrollback)
{
    return scrollback->rows;
}

uint64_t scrollback_pushes(const struct scrollback *scrollback)
{
    return scrollback->pushes;
}

size_t scrollback_bytes(const struct scrollback *scrollback)
{
    return scrollback->bytes + scrollback->room * sizeof *scrollback->ring +
           scrollback->scratch_size;
}
