/* packed: owns the packing of lines, and where they wrap. */
#include "term/packed.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <stddef.h>
#include <string.h>

/* a screen has no such characters */
#define LOOK 1       /* the first LOOK_SHORT bytes of a pen follow, the rest is 0 */
#define LOOK_WHOLE 2 /* a struct pen follows */
#define FILL 3       /* a colour follows */
#define LOOK_SHORT offsetof(struct pen, line)
#define CELL_BYTES (1 + sizeof(struct pen) + 4) /* one cell at most, and */
#define MARK_BYTES 4
#define FILL_BYTES (1 + sizeof(uint32_t))

int packed_content(const struct line *line, int least, uint32_t *fill)
{
    const struct mark *marks;
    int content = line_used(line, true);
    uint32_t bg = content == line->cols ? line->cells[content - 1].pen.bg : COLOR_DEFAULT;
    *fill = COLOR_DEFAULT;
    while (!line->wrapped && bg != COLOR_DEFAULT && content > least) {
        const struct cell *cell = &line->cells[content - 1];
        if (cell->rune || cell->width != 1 || cell->pen.bg != bg || cell->pen.attrs ||
            line_marks(line, content - 1, &marks) > 0)
            break;
        content--;
        *fill = bg;
    }
    if (*fill == COLOR_DEFAULT && !line->wrapped && content == line->cols)
        *fill = line->behind;
    return content > least ? content : least;
}

size_t packed_most(const struct line *line, int content)
{
    return (size_t)content * CELL_BYTES + FILL_BYTES +
           (line->marks ? (size_t)line->marks->count * MARK_BYTES : 0);
}

/* As packed_write does, for what most lines are: ASCII of one look, or nearly. */
static char *packed_write_plain(char *at, const struct line *line, int *col, int content,
                         const struct pen *pen)
{
    const struct cell *cells = line->cells;
    const struct pen look = *pen; /* stores through a char pointer can't change the copy */
    const uint32_t ascii = cell_word((struct cell){.rune = 0x7f}),
                   narrow = cell_word((struct cell){.width = 1});
    int i = *col;
    for (; i < content && (cell_word(cells[i]) & ~ascii) == narrow &&
           pen_equal(&look, &cells[i].pen);
         i++)
        *at++ = cells[i].rune ? (char)cells[i].rune : ' ';
    *col = i;
    return at;
}

static char *write_look(char *at, const struct pen *pen)
{
    size_t size = pen->line ? sizeof *pen : LOOK_SHORT;
    *at++ = pen->line ? LOOK_WHOLE : LOOK;
    memcpy(at, pen, size);
    return at + size;
}

char *packed_write(char *at, const struct line *line, int content, uint32_t fill, struct pen *pen,
                   bool *wide)
{
    for (int col = 0; col < content; col++) {
        if (!line->marks)
            at = packed_write_plain(at, line, &col, content, pen);
        if (col == content)
            break;
        const struct cell *cell = &line->cells[col];
        const struct mark *marks;
        int count = line_marks(line, col, &marks);
        if (cell->width == 0) {
            *wide = true;
            continue;
        }
        if (!pen_equal(pen, &cell->pen)) {
            *pen = cell->pen;
            at = write_look(at, pen);
        }
        if (cell->rune < 0x80)
            *at++ = cell->rune ? (char)cell->rune : ' ';
        else
            at += utf8_encode(cell->rune, at);
        for (int i = 0; i < count; i++)
            at += utf8_encode(marks[i].rune, at);
    }
    if (fill != COLOR_DEFAULT) {
        *at++ = FILL;
        memcpy(at, &fill, sizeof fill);
        at += sizeof fill;
    }
    return at;
}

struct flow flow_begin(int width)
{
    return (struct flow){.width = width, .rows = 1};
}

/* Takes a look or a fill at flow->at. False: there is a character. */
static bool flow_take_look(struct flow *flow, const struct packed *packed)
{
    const char *bytes = packed->bytes + flow->at;
    size_t size = *bytes == LOOK ? LOOK_SHORT : *bytes == LOOK_WHOLE ? sizeof flow->pen : 0;
    if (size == 0 && *bytes != FILL)
        return false;
    if (*bytes == FILL) {
        memcpy(&flow->fill, bytes + 1, sizeof flow->fill);
        size = sizeof flow->fill;
    } else {
        flow->pen.line = COLOR_DEFAULT;
        memcpy(&flow->pen, bytes + 1, size);
    }
    flow->at += 1 + size;
    return true;
}

struct step { /* a character, and what it would do to the flow */
    int32_t rune;
    int width;
    size_t size;
    bool wraps; /* it begins a row */
};

static struct step flow_step(const struct flow *flow, const struct packed *packed)
{
    struct step step = {.wraps = false};
    step.size = utf8_decode(packed->bytes + flow->at, packed->size - flow->at, &step.rune);
    BUG_UNLESS(step.size > 0);
    step.width = step.rune < 0x300 ? 1 : utf8_width(step.rune);
    step.wraps = step.width > 0 && flow->col > 0 && flow->col + step.width > flow->width;
    return step;
}

static void flow_pass(struct flow *flow, const struct step *step)
{
    if (step->wraps) {
        flow->rows++;
        flow->col = 0;
    }
    flow->at += step->size;
    flow->col += step->width;
    flow->cols += (uint32_t)step->width;
}

void flow_on(struct flow *flow, const struct packed *packed, uint32_t row, uint32_t col)
{
    while (flow->at < packed->size) {
        if (flow_take_look(flow, packed))
            continue;
        struct step step = flow_step(flow, packed);
        if (step.width > 0 && (flow->rows - 1 + step.wraps >= row || flow->cols >= col))
            return;
        flow_pass(flow, &step);
    }
}

uint32_t packed_rows(const struct packed *packed, int width)
{
    if (packed->cols <= (unsigned)width)
        return 1;
    if (!packed->wide)
        return (packed->cols - 1) / (uint32_t)width + 1;
    struct flow flow = flow_begin(width);
    flow_on(&flow, packed, UINT32_MAX, UINT32_MAX);
    return flow.rows;
}

/* Where the next character will stand. False: there is none. */
bool flow_next(const struct flow *flow, const struct packed *packed, uint32_t *row, int *col)
{
    if (flow->at >= packed->size)
        return false;
    struct step step = flow_step(flow, packed);
    *row = flow->rows - 1 + step.wraps;
    *col = step.wraps ? 0 : flow->col;
    return true;
}

/* On the character before the column, which may be one that had no room. */
static void mark_last(struct line *line, int col, int32_t rune)
{
    int at = (col < line->cols ? col : line->cols) - 1;
    if (at > 0 && line->cells[at].width == 0)
        at--;
    if (at >= 0)
        line_mark(line, at, rune);
}

/* A row from its first character on. */
static void read_row(struct flow *flow, const struct packed *packed, struct line *line)
{
    bool begun = false;
    while (flow->at < packed->size) {
        if (flow_take_look(flow, packed))
            continue;
        struct step step = flow_step(flow, packed);
        if (step.wraps && begun)
            return;
        flow_pass(flow, &step);
        int col = flow->col - step.width;
        if (step.width == 0)
            mark_last(line, col, step.rune);
        else if (step.width > line->cols) /* no row has room for it */
            line_put(line, 0, ' ', 1, &flow->pen);
        else
            line_put(line, col, step.rune, step.width, &flow->pen);
        begun = true;
    }
    if (flow->fill == COLOR_DEFAULT)
        return;
    if (flow->col >= flow->width) {
        line->behind = flow->fill;
        return;
    }
    line_resize(line, flow->width);
    line_erase(line, flow->col, flow->width, flow->fill);
}

void packed_read(const struct packed *packed, int width, uint32_t first, uint32_t count,
                 bool narrow, struct line *lines)
{
    struct flow flow = flow_begin(width);
    flow_on(&flow, packed, first, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        int cols = (int)packed->cols - (int)flow.cols;
        line_init(&lines[i], narrow && cols < width ? (cols > 0 ? cols : 1) : width);
        read_row(&flow, packed, &lines[i]);
        lines[i].wrapped = flow.at < packed->size || packed->open;
    }
}
