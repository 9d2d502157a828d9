/* scrollback: owns the packing of old lines: UTF-8, with byte 1 and the new look where the look
 * changes; blanks at the end of a line are not kept. The lines lie in a ring; the oldest go when
 * the bytes are over the cap. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "term/cells.h"
#include <stdlib.h>
#include <string.h>

#define LOOK 1 /* the first LOOK_SHORT bytes of a pen follow, the rest is 0 */
#define LOOK_WHOLE 2 /* a struct pen follows; a screen has no such characters */
#define LOOK_SHORT offsetof(struct pen, line)
#define CELL_BYTES (1 + sizeof(struct pen) + 4) /* one cell at most, and */
#define MARK_BYTES 4
#define OVERHEAD (sizeof(struct packed) + 16)

struct packed {
    uint32_t size;
    uint16_t cols;
    bool wrapped;
    char bytes[];
};

struct scrollback {
    struct packed **ring;
    size_t room, first, count; /* lines; room is a power of two, or 0 */
    size_t bytes, max;
    char *scratch; /* owned: the line that is being packed */
    size_t scratch_size;
};

struct scrollback *scrollback_new(size_t max_bytes)
{
    struct scrollback *scrollback = xcalloc(1, sizeof *scrollback);
    scrollback->max = max_bytes;
    return scrollback;
}

static struct packed **slot(const struct scrollback *scrollback, size_t from_oldest)
{
    return &scrollback->ring[(scrollback->first + from_oldest) & (scrollback->room - 1)];
}

static size_t cost(const struct packed *packed)
{
    return packed->size + OVERHEAD;
}

static struct packed *take_oldest(struct scrollback *scrollback)
{
    struct packed *packed = *slot(scrollback, 0);
    *slot(scrollback, 0) = NULL;
    scrollback->first++;
    scrollback->count--;
    return packed;
}

static void drop_oldest(struct scrollback *scrollback)
{
    struct packed *packed = take_oldest(scrollback);
    BUG_UNLESS(packed && scrollback->bytes >= cost(packed));
    scrollback->bytes -= cost(packed);
    free(packed);
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

/* As pack() does, for what most lines are: ASCII of one look, or nearly. */
static char *pack_plain(char *at, const struct line *line, int *col, int used,
                        const struct pen *pen)
{
    const struct cell *cells = line->cells;
    const struct pen look = *pen; /* stores through a char pointer can't change the copy */
    int i = *col;
    for (; i < used && (uint32_t)cells[i].rune < 0x80 && cells[i].width == 1 &&
           pen_equal(&look, &cells[i].pen);
         i++)
        *at++ = cells[i].rune ? (char)cells[i].rune : ' ';
    *col = i;
    return at;
}

/* Returns the end of what it wrote; at has room for CELL_BYTES a cell and MARK_BYTES a mark. */
static char *pack(char *at, const struct line *line, int used)
{
    struct pen pen = {0};
    for (int col = 0; col < used; col++) {
        if (!line->marks)
            at = pack_plain(at, line, &col, used, &pen);
        if (col == used)
            break;
        const struct cell *cell = &line->cells[col];
        const struct mark *marks;
        int count = line_marks(line, col, &marks);
        if (cell->width == 0)
            continue;
        if (!pen_equal(&pen, &cell->pen)) {
            pen = cell->pen;
            size_t size = pen.line ? sizeof pen : LOOK_SHORT;
            *at++ = pen.line ? LOOK_WHOLE : LOOK;
            memcpy(at, &pen, size);
            at += size;
        }
        if (cell->rune < 0x80)
            *at++ = cell->rune ? (char)cell->rune : ' ';
        else
            at += utf8_encode(cell->rune, at);
        for (int i = 0; i < count; i++)
            at += utf8_encode(marks[i].rune, at);
    }
    return at;
}

void scrollback_push(struct scrollback *scrollback, const struct line *line)
{
    if (scrollback->max == 0)
        return;
    int used = line_used(line, true);
    size_t most = (size_t)used * CELL_BYTES +
                  (line->marks ? (size_t)line->marks->count * MARK_BYTES : 0);
    if (scrollback->scratch_size < most) {
        scrollback->scratch_size = most;
        scrollback->scratch = xrealloc(scrollback->scratch, scrollback->scratch_size);
    }
    size_t size = used > 0 ? (size_t)(pack(scrollback->scratch, line, used) - scrollback->scratch)
                           : 0;
    BUG_UNLESS(size <= scrollback->scratch_size);
    struct packed *packed = xmalloc(sizeof *packed + size);
    *packed = (struct packed){ /* before the bytes, which begin in its padding */
        .cols = (uint16_t)used, .wrapped = line->wrapped, .size = (uint32_t)size};
    if (size > 0)
        memcpy(packed->bytes, scrollback->scratch, size);
    if (scrollback->count == scrollback->room)
        scrollback_grow(scrollback);
    *slot(scrollback, scrollback->count++) = packed;
    scrollback->bytes += cost(packed);
    while (scrollback->bytes > scrollback->max && scrollback->count > 0)
        drop_oldest(scrollback);
}

static void unpack(const struct packed *packed, struct line *line)
{
    struct pen pen = {0};
    int col = 0;
    for (size_t at = 0; at < packed->size;) {
        int32_t rune;
        if (packed->bytes[at] == LOOK || packed->bytes[at] == LOOK_WHOLE) {
            size_t size = packed->bytes[at] == LOOK ? LOOK_SHORT : sizeof pen;
            pen.line = COLOR_DEFAULT;
            memcpy(&pen, packed->bytes + at + 1, size);
            at += 1 + size;
            continue;
        }
        at += utf8_decode(packed->bytes + at, packed->size - at, &rune);
        int width = utf8_width(rune);
        if (width == 0) {
            line_mark(line, col > 1 && line->cells[col - 1].width == 0 ? col - 2 : col - 1, rune);
        } else {
            line_put(line, col, rune, width, &pen);
            col += width;
        }
    }
    line->wrapped = packed->wrapped;
}

bool scrollback_get(const struct scrollback *scrollback, size_t age, struct line *line)
{
    if (age >= scrollback->count)
        return false;
    const struct packed *packed = *slot(scrollback, scrollback->count - 1 - age);
    line_init(line, packed->cols > 0 ? packed->cols : 1);
    unpack(packed, line);
    return true;
}

bool scrollback_pop(struct scrollback *scrollback, struct line *line, int cols)
{
    if (!scrollback_get(scrollback, 0, line))
        return false;
    bool wrapped = line->wrapped;
    line_resize(line, cols);
    line->wrapped = wrapped;
    struct packed *packed = *slot(scrollback, --scrollback->count);
    scrollback->bytes -= cost(packed);
    free(packed);
    return true;
}

size_t scrollback_count(const struct scrollback *scrollback)
{
    return scrollback->count;
}

size_t scrollback_bytes(const struct scrollback *scrollback)
{
    return scrollback->bytes + scrollback->room * sizeof *scrollback->ring +
           scrollback->scratch_size;
}
