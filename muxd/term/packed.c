/* packed: owns the packing of lines, and where they wrap. */
#include "term/packed.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <stddef.h>
#include <string.h>

/* a screen has no such characters */
#define UNWRITTEN 0  /* a column of the terminal's own colour where nothing was written */
#define LOOK 1       /* the first LOOK_SHORT bytes of a pen follow, the rest is 0 */
#define LOOK_WHOLE 2 /* a struct pen follows */
#define FILL 3       /* a colour follows, which a row that ends here has in its rest */
#define LOOK_SHORT offsetof(struct pen, line)
#define CELL_BYTES (1 + sizeof(struct pen) + 4) /* one cell at most, and */
#define MARK_BYTES 4
#define FILL_BYTES (1 + sizeof(uint32_t))

/* Without the blanks of one colour at its end. */
static int packed_text(const struct line *line, int least, uint32_t *fill)
{
    const struct mark *marks;
    int text = line_written(line);
    uint32_t bg = text == line->cols ? line->cells[text - 1].pen.bg : COLOR_DEFAULT;
    *fill = line->behind;
    while (bg != COLOR_DEFAULT && text > least) {
        const struct cell *cell = &line->cells[text - 1];
        if (cell->rune || cell->width != 1 || cell->pen.bg != bg || cell->pen.attrs ||
            line_marks(line, text - 1, &marks) > 0)
            break;
        text--;
        *fill = bg;
    }
    return text;
}

struct packed_row packed_row(const struct line *line, int least)
{
    struct packed_row row = {.line = line};
    int text = packed_text(line, least, &row.fill);
    row.content = text > least ? text : least;
    if (line->wrapped)
        row.content = line->cols;
    row.gap = least < line->cols && line_ends_free(line);
    if (row.gap)
        row.fill = line->cells[--row.content].pen.bg;
    else if (line->wrapped)
        row.fill = line->behind;
    return row;
}

size_t packed_most(const struct packed_row *row)
{
    const struct marks *marks = row->line->marks;
    return (size_t)(1 + row->content) * CELL_BYTES + FILL_BYTES +
           (marks ? (size_t)marks->count * MARK_BYTES : 0);
}

/* Painted blanks are text: they end where they ended, whatever the width. */
static char blank_of(const struct pen *pen)
{
    return pen->bg == COLOR_DEFAULT ? UNWRITTEN : ' ';
}

/* As packed_write does, for what most lines are: ASCII of one look, or nearly. */
static char *packed_write_plain(char *at, const struct line *line, int *col, int content,
                         const struct pen *pen)
{
    const struct cell *cells = line->cells;
    const char unwritten = blank_of(pen);
    const struct pen look = *pen; /* stores through a char pointer can't change the copy */
    const uint32_t ascii = cell_word((struct cell){.rune = 0x7f}),
                   narrow = cell_word((struct cell){.width = 1});
    int i = *col;
    for (; i < content && (cell_word(cells[i]) & ~ascii) == narrow &&
           pen_equal(&look, &cells[i].pen);
         i++)
        *at++ = cells[i].rune ? (char)cells[i].rune : unwritten;
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

static char *write_fill(char *at, uint32_t fill)
{
    if (fill == COLOR_DEFAULT)
        return at;
    *at++ = FILL;
    memcpy(at, &fill, sizeof fill);
    return at + sizeof fill;
}

char *packed_write_blank(char *at, uint32_t bg, struct pen *pen)
{
    const struct pen look = {.bg = bg};
    if (!pen_equal(pen, &look))
        at = write_look(at, &look);
    *pen = look;
    *at++ = ' ';
    return at;
}

char *packed_write(char *at, const struct packed_row *row, struct pen *pen, bool *wide)
{
    const struct line *line = row->line;
    for (int col = 0; col < row->content; col++) {
        if (!line->marks)
            at = packed_write_plain(at, line, &col, row->content, pen);
        if (col == row->content)
            break;
        const struct cell *cell = &line->cells[col];
        const struct mark *marks;
        int count = line_marks(line, col, &marks);
        if (cell->width == 0) {
            *wide = true;
            continue;
        }
        if (cell->width == 2)
            at = write_fill(at, cell[1].pen.line);
        if (!pen_equal(pen, &cell->pen)) {
            *pen = cell->pen;
            at = write_look(at, pen);
        }
        if (cell->rune < 0x80)
            *at++ = cell->rune ? (char)cell->rune : blank_of(pen);
        else
            at += utf8_encode(cell->rune, at);
        for (int i = 0; i < count; i++)
            at += utf8_encode(marks[i].rune, at);
    }
    return write_fill(at, row->fill);
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
    if (step->width > 0)
        flow->fill = COLOR_DEFAULT;
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
        uint32_t end = flow->cols + (uint32_t)step.width;
        if (step.width > 0 && (flow->rows - 1 + step.wraps >= row || end > col))
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

/* A character that the flow has just passed; fill: what the flow had before it. */
static void read_step(const struct flow *flow, const struct step *step, uint32_t fill,
                      struct line *line)
{
    int col = flow->col - step->width;
    if (step->width == 0)
        mark_last(line, col, step->rune);
    else if (step->width > line->cols) /* no row has room for it */
        line_put(line, 0, ' ', 1, &flow->pen);
    else
        line_put(line, col, step->rune, step->width, &flow->pen);
    if (step->width == 2 && line->cols > 1 && !step->wraps)
        line->cells[col + 1].pen.line = fill;
}

/* A row from its first character on. */
static void read_row(struct flow *flow, const struct packed *packed, struct line *line)
{
    bool begun = false;
    while (flow->at < packed->size) {
        if (flow_take_look(flow, packed))
            continue;
        struct step step = flow_step(flow, packed);
        uint32_t fill = flow->fill;
        if (step.wraps && begun)
            break;
        flow_pass(flow, &step);
        read_step(flow, &step, fill, line);
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

/* The row is full up to that column, though nothing may have been written in its last one. */
static void read_wrap(struct line *line, int col)
{
    struct cell *last = &line->cells[(col < line->cols ? col : line->cols) - 1];
    if (last->rune == 0 && last->width == 1)
        last->rune = ' ';
    line->wrapped = true;
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
        if (flow.col > 0 && (flow.at < packed->size || packed->open))
            read_wrap(&lines[i], flow.col);
    }
}
