/* render: owns the drawing of lines of cells in four formats. */
#include "term/render.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <string.h>

#define FOREGROUND 0xe5e5e5u
#define BACKGROUND 0x000000u
#define CELL_WIDTH 8 /* of the picture, in its units */
#define CELL_HEIGHT 16

bool render_format(const char *word, enum render_format *format)
{
    static const char *const words[] = {"text", "ansi", "html", "svg"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i]) == 0) {
            *format = (enum render_format)i;
            return true;
        }
    }
    return false;
}

struct drawing {
    const struct screen *screen;
    const struct render_options *options;
    struct buf *out;
    int row;    /* of the line in the drawing, from 0 */
    bool full;
    int cursor; /* its column in this line, -1: elsewhere or hidden */
};

static void append_written(struct buf *out, int32_t rune, bool markup)
{
    if (markup && rune == '&')
        buf_append_text(out, "&amp;");
    else if (markup && rune == '<')
        buf_append_text(out, "&lt;");
    else if (markup && rune == '>')
        buf_append_text(out, "&gt;");
    else if (markup && (rune == '"'))
        buf_append_text(out, "&quot;");
    else if (markup && (rune == 0xfffe || rune == 0xffff)) /* not allowed in XML */
        buf_append_text(out, "\xef\xbf\xbd");
    else
        utf8_append_rune(out, rune);
}

static void render_append_glyph(struct buf *out, const struct line *line, int col, bool markup)
{
    const struct cell *cell = &line->cells[col];
    const struct mark *marks;
    int count = line_marks(line, col, &marks);
    if (cell->width > 0)
        append_written(out, cell->rune ? cell->rune : ' ', markup);
    for (int i = 0; i < count; i++)
        append_written(out, marks[i].rune, markup);
}

static void draw_text(const struct drawing *drawing, const struct line *line, int used)
{
    line_append_text(line, drawing->out, used);
}

static void draw_ansi(const struct drawing *drawing, const struct line *line, int used)
{
    const struct colours *colours = screen_colours(drawing->screen);
    struct pen pen = {0};
    const struct pen plain = {0};
    for (int col = 0; col < used; col++) {
        if (line->cells[col].width == 0)
            continue;
        struct pen next = colours_pen(colours, line->cells[col].pen);
        next.link = 0; /* a picture has no links */
        if (!pen_equal(&pen, &next)) {
            pen = next;
            if (pen_equal(&pen, &plain))
                buf_append_text(drawing->out, "\033[0m");
            else
                pen_append_sgr(drawing->out, &pen);
        }
        render_append_glyph(drawing->out, line, col, false);
    }
    if (!pen_equal(&pen, &plain))
        buf_append_text(drawing->out, "\033[0m");
}

struct look { /* a pen as a page shows it */
    uint32_t fg, bg;
    bool has_bg;
    uint32_t attrs;
    uint32_t line; /* of underlines: a colour as in struct pen */
};

static struct look look_of(const struct drawing *drawing, const struct line *line, int col)
{
    struct pen pen = line->cells[col].pen;
    if ((pen.attrs & PEN_BOLD) && (pen.fg & COLOR_INDEXED) && (pen.fg & 255) < 8)
        pen.fg += 8;
    pen = colours_pen(screen_colours(drawing->screen), pen);
    struct look look = {.fg = pen_rgb(pen.fg, FOREGROUND),
                        .bg = pen_rgb(pen.bg, BACKGROUND),
                        .attrs = pen.attrs,
                        .line = pen.line};
    bool reversed = ((pen.attrs & PEN_REVERSE) != 0) ^ screen_modes(drawing->screen)->reverse ^
                    (col == drawing->cursor);
    if (pen.attrs & PEN_FAINT)
        look.fg = (look.fg >> 1 & 0x7f7f7f) + (look.bg >> 1 & 0x7f7f7f);
    if (reversed)
        look = (struct look){
            .fg = look.bg, .bg = look.fg, .attrs = look.attrs, .line = look.line};
    if (pen.attrs & PEN_CONCEAL)
        look.fg = look.bg;
    look.has_bg = look.bg != BACKGROUND;
    return look;
}

static bool same_look(const struct look *a, const struct look *b)
{
    const uint32_t shown = PEN_BOLD | PEN_ITALIC | PEN_STRIKE | PEN_OVERLINE | PEN_UNDERLINES;
    return a->fg == b->fg && a->bg == b->bg && (a->attrs & shown) == (b->attrs & shown) &&
           (a->line == b->line || !(a->attrs & PEN_UNDERLINE));
}

static void append_style(struct buf *out, const struct look *look)
{
    static const struct {
        uint32_t attr;
        const char *word;
    } styles[] = {{PEN_UNDERLINE_DOUBLE, "double"},
                  {PEN_UNDERLINE_CURLY, "wavy"},
                  {PEN_UNDERLINE_DOTTED, "dotted"},
                  {PEN_UNDERLINE_DASHED, "dashed"}};
    if (look->attrs & PEN_BOLD)
        buf_append_text(out, ";font-weight:bold");
    if (look->attrs & PEN_ITALIC)
        buf_append_text(out, ";font-style:italic");
    if (look->attrs & (PEN_UNDERLINE | PEN_STRIKE | PEN_OVERLINE))
        buf_printf(out, ";text-decoration:%s%s%s", look->attrs & PEN_UNDERLINE ? "underline " : "",
                   look->attrs & PEN_STRIKE ? "line-through " : "",
                   look->attrs & PEN_OVERLINE ? "overline" : "");
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (look->attrs & styles[i].attr)
            buf_printf(out, ";text-decoration-style:%s", styles[i].word);
    if ((look->attrs & PEN_UNDERLINE) && look->line != COLOR_DEFAULT)
        buf_printf(out, ";text-decoration-color:#%06x", pen_rgb(look->line, 0));
}

/* The end of the run of one look that begins at col. The cursor's cell is its own run, and in a
 * picture every wide character is, so that the columns keep their places in every font. */
static int end_of_run(const struct drawing *drawing, const struct line *line, int col, int used,
                      struct look *look, bool picture)
{
    int end = col + 1;
    *look = look_of(drawing, line, col);
    bool wide = line->cells[col].width == 2;
    while (end < used && line->cells[end].width == 0)
        end++;
    while (end < used && !(picture && (wide || line->cells[end].width == 2))) {
        struct look next = look_of(drawing, line, end);
        if (line->cells[end].width > 0 && !same_look(look, &next))
            break;
        end++;
    }
    return end;
}

static void draw_html(const struct drawing *drawing, const struct line *line, int used)
{
    struct buf *out = drawing->out;
    for (int col = 0, end; col < used; col = end) {
        struct look look;
        end = end_of_run(drawing, line, col, used, &look, false);
        bool plain = !look.has_bg && look.fg == FOREGROUND &&
                     !(look.attrs & ~(PEN_BLINK | PEN_FAINT | PEN_CONCEAL | PEN_REVERSE));
        if (!plain) {
            buf_printf(out, "<span style=\"color:#%06x", look.fg);
            if (look.has_bg)
                buf_printf(out, ";background:#%06x", look.bg);
            append_style(out, &look);
            buf_append_text(out, "\">");
        }
        for (; col < end; col++)
            render_append_glyph(out, line, col, true);
        if (!plain)
            buf_append_text(out, "</span>");
    }
}

static void draw_svg(const struct drawing *drawing, const struct line *line, int used)
{
    struct buf *out = drawing->out;
    for (int col = 0, end; col < used; col = end) {
        struct look look;
        end = end_of_run(drawing, line, col, used, &look, true);
        int x = col * CELL_WIDTH, width = (end - col) * CELL_WIDTH, y = drawing->row * CELL_HEIGHT;
        if (look.has_bg)
            buf_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>",
                       x, y, width, CELL_HEIGHT, look.bg);
        buf_printf(out, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" style=\"fill:#%06x", x,
                   y + CELL_HEIGHT - 4, width, look.fg);
        append_style(out, &look);
        buf_append_text(out, "\">");
        for (; col < end; col++)
            render_append_glyph(out, line, col, true);
        buf_append_text(out, "</text>");
    }
}

static void (*const draw[])(const struct drawing *, const struct line *,
                            int) = {draw_text, draw_ansi, draw_html, draw_svg};

/* The columns to draw of a line that the next one goes on with: all of them, but for the one that
 * had no room for a wide character. */
static int shown_joined(const struct line *line, const struct line *next)
{
    bool wide = !next || next->cells[0].width == 2;
    return line->cols - (wide && line_ends_free(line));
}

/* Of other lines: without blanks at the end. */
static int shown(const struct drawing *drawing, const struct line *line)
{
    struct line copy = *line;
    copy.wrapped = false;
    return line_used(&copy, drawing->options->format != RENDER_TEXT);
}

static void render_begin(const struct drawing *drawing, int lines)
{
    int cols = screen_cols(drawing->screen);
    if (drawing->options->format == RENDER_HTML)
        buf_printf(
            drawing->out,
            "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>screen</title></head>"
            "<body style=\"background:#%06x\"><pre "
            "style=\"color:#%06x;background:#%06x;font-family:monospace\">",
            BACKGROUND, FOREGROUND, BACKGROUND);
    else if (drawing->options->format == RENDER_SVG)
        buf_printf(drawing->out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                   "height=\"%d\" xml:space=\"preserve\" "
                   "font-family=\"monospace\" font-size=\"13\"><rect width=\"100%%\" "
                   "height=\"100%%\" fill=\"#%06x\"/>\n",
                   cols * CELL_WIDTH, lines * CELL_HEIGHT, cols * CELL_WIDTH, lines * CELL_HEIGHT,
                   BACKGROUND);
}

static void render_finish(const struct drawing *drawing)
{
    if (drawing->options->format == RENDER_HTML)
        buf_append_text(drawing->out, "</pre></body></html>\n");
    else if (drawing->options->format == RENDER_SVG)
        buf_append_text(drawing->out, "</svg>\n");
}

/* next: the one below; NULL: both are history, where a column is free only before a wide
 * character */
static void draw_line(struct drawing *drawing, const struct line *line, const struct line *next)
{
    size_t before = drawing->out->len;
    drawing->full |= drawing->out->max - before < RENDER_LINE_MAX;
    if (drawing->full)
        return;
    enum render_format format = drawing->options->format;
    bool joined = line->wrapped && drawing->options->join && format != RENDER_SVG;
    int used = joined ? shown_joined(line, next) : shown(drawing, line);
    if (drawing->cursor >= used && format >= RENDER_HTML)
        used = drawing->cursor + 1;
    draw[format](drawing, line, used);
    if (!joined)
        buf_append_byte(drawing->out, '\n');
    BUG_UNLESS(drawing->out->len - before <= RENDER_LINE_MAX);
    drawing->row++;
}

bool render(const struct screen *screen, const struct render_options *options, struct buf *out)
{
    struct drawing drawing = {.screen = screen, .options = options, .out = out, .cursor = -1};
    const struct scrollback *scrollback = screen_scrollback(screen);
    size_t history = screen_is_alternate(screen) ? 0 : options->history;
    struct screen_cursor cursor = screen_cursor(screen);
    bool has_cursor = options->cursor && screen_modes(screen)->cursor_visible;
    int rows = screen_rows(screen);
    BUG_UNLESS((size_t)options->format < sizeof draw / sizeof draw[0]);
    if (history > scrollback_count(scrollback))
        history = scrollback_count(scrollback);
    if (options->format < RENDER_HTML)
        while (rows > 0 && shown(&drawing, screen_line(screen, rows - 1)) == 0)
            rows--;
    render_begin(&drawing, (int)history + rows);
    for (size_t age = history; age > 0; age--) {
        struct line line;
        scrollback_get(scrollback, age - 1, &line);
        draw_line(&drawing, &line, age == 1 ? screen_line(screen, 0) : NULL);
        line_fini(&line);
    }
    for (int row = 0; row < rows; row++) {
        drawing.cursor = has_cursor && row == cursor.row ? cursor.col : -1;
        draw_line(&drawing, screen_line(screen, row),
                  row + 1 < screen_rows(screen) ? screen_line(screen, row + 1) : NULL);
    }
    render_finish(&drawing);
    return !drawing.full;
}
