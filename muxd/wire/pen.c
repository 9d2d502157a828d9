/* pen: owns the meaning of SGR parameters. */
#include "wire/pen.h"
#include "base/bug.h"

/* Attributes by parameter: 1 to 9 set them; 21 and beyond clear them. */
static const uint16_t set_by[] = {0, PEN_BOLD, PEN_FAINT, PEN_ITALIC, PEN_UNDERLINE, PEN_BLINK,
                                  PEN_BLINK, PEN_REVERSE, PEN_CONCEAL, PEN_STRIKE};
static const uint16_t cleared_by[] = {
    [2] = PEN_BOLD | PEN_FAINT, [3] = PEN_ITALIC,  [4] = PEN_UNDERLINES, [5] = PEN_BLINK,
    [7] = PEN_REVERSE,          [8] = PEN_CONCEAL, [9] = PEN_STRIKE};

static int arg_at(const struct token_csi *csi, int at)
{
    return at < csi->count && csi->args[at] > 0 ? csi->args[at] : 0;
}

/* 38, 48 or 58 at `at`, in one of the spellings 38;5;N 38:5:N 38;2;R;G;B 38:2:R:G:B 38:2::R:G:B.
 * Returns the parameters that it takes. */
static int extended(const struct token_csi *csi, int at, uint32_t *color)
{
    int parts = 1;
    while (at + parts < csi->count && csi->joined[at + parts])
        parts++;
    bool colons = parts > 1;
    int kind = arg_at(csi, at + 1), first = at + 2;
    if (!colons)
        parts = kind == 2 ? 5 : kind == 5 ? 3 : 1;
    else if (kind == 2 && parts >= 6)
        first++; /* the colour space */
    if (kind == 5 && arg_at(csi, first) < 256)
        *color = COLOR_INDEXED | (uint32_t)arg_at(csi, first);
    else if (kind == 2)
        *color = COLOR_RGB | ((uint32_t)arg_at(csi, first) & 255) << 16 |
                 ((uint32_t)arg_at(csi, first + 1) & 255) << 8 |
                 ((uint32_t)arg_at(csi, first + 2) & 255);
    return parts;
}

static void underline(struct pen *pen, int style)
{
    static const uint16_t styles[] = {0,
                                      PEN_UNDERLINE,
                                      PEN_UNDERLINE | PEN_UNDERLINE_DOUBLE,
                                      PEN_UNDERLINE | PEN_UNDERLINE_CURLY,
                                      PEN_UNDERLINE | PEN_UNDERLINE_DOTTED,
                                      PEN_UNDERLINE | PEN_UNDERLINE_DASHED};
    pen->attrs = (pen->attrs & ~(uint32_t)PEN_UNDERLINES) | styles[style > 5 ? 1 : style];
}

static void one(struct pen *pen, int arg)
{
    if (arg == 0)
        *pen = (struct pen){.link = pen->link};
    else if (arg == 4)
        underline(pen, 1);
    else if (arg <= 9)
        pen->attrs |= set_by[arg];
    else if (arg == 21)
        underline(pen, 2);
    else if (arg >= 22 && arg <= 29)
        pen->attrs &= ~(uint32_t)cleared_by[arg - 20];
    else if (arg >= 30 && arg <= 37)
        pen->fg = COLOR_INDEXED | (uint32_t)(arg - 30);
    else if (arg == 39)
        pen->fg = COLOR_DEFAULT;
    else if (arg >= 40 && arg <= 47)
        pen->bg = COLOR_INDEXED | (uint32_t)(arg - 40);
    else if (arg == 49)
        pen->bg = COLOR_DEFAULT;
    else if (arg == 53)
        pen->attrs |= PEN_OVERLINE;
    else if (arg == 55)
        pen->attrs &= ~(uint32_t)PEN_OVERLINE;
    else if (arg == 59)
        pen->line = COLOR_DEFAULT;
    else if (arg >= 90 && arg <= 97)
        pen->fg = COLOR_INDEXED | (uint32_t)(arg - 90 + 8);
    else if (arg >= 100 && arg <= 107)
        pen->bg = COLOR_INDEXED | (uint32_t)(arg - 100 + 8);
}

void pen_sgr(struct pen *pen, const struct token_csi *csi)
{
    BUG_UNLESS(csi->count >= 0 && csi->count <= TOKENS_ARGS);
    if (csi->count == 0)
        *pen = (struct pen){.link = pen->link};
    for (int at = 0; at < csi->count;) {
        int arg = arg_at(csi, at);
        bool parts = at + 1 < csi->count && csi->joined[at + 1];
        if (arg == 38 || arg == 48 || arg == 58) {
            at += extended(csi, at, arg == 38 ? &pen->fg : arg == 48 ? &pen->bg : &pen->line);
            continue;
        }
        if (arg == 4 && parts)
            underline(pen, arg_at(csi, at + 1));
        else
            one(pen, arg);
        do
            at++;
        while (at < csi->count && csi->joined[at]);
    }
}

static void append_color(struct buf *out, uint32_t color, int base)
{
    unsigned index = color & 255;
    if (color & COLOR_RGB)
        buf_printf(out, ";%d;2;%u;%u;%u", base + 8, color >> 16 & 255, color >> 8 & 255, index);
    else if (color & COLOR_INDEXED && index < 8)
        buf_printf(out, ";%u", (unsigned)base + index);
    else if (color & COLOR_INDEXED && index < 16)
        buf_printf(out, ";%u", (unsigned)base + 60 + index - 8);
    else if (color & COLOR_INDEXED)
        buf_printf(out, ";%d;5;%u", base + 8, index);
}

/* With colons: a terminal that does not know 58 skips one parameter, not the colour's parts. */
static void append_line_color(struct buf *out, uint32_t color)
{
    if (color & COLOR_RGB)
        buf_printf(out, ";58:2::%u:%u:%u", color >> 16 & 255, color >> 8 & 255, color & 255);
    else if (color & COLOR_INDEXED)
        buf_printf(out, ";58:5:%u", color & 255);
}

void pen_append_sgr(struct buf *out, const struct pen *pen)
{
    static const struct {
        uint16_t bit;
        const char *sgr;
    } words[] = {{PEN_BOLD, ";1"},   {PEN_FAINT, ";2"},    {PEN_ITALIC, ";3"},
                 {PEN_BLINK, ";5"},  {PEN_REVERSE, ";7"},  {PEN_CONCEAL, ";8"},
                 {PEN_STRIKE, ";9"}, {PEN_OVERLINE, ";53"}};
    buf_append_text(out, "\033[0");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (pen->attrs & words[i].bit)
            buf_append_text(out, words[i].sgr);
    if (pen->attrs & (PEN_UNDERLINE_CURLY | PEN_UNDERLINE_DOTTED | PEN_UNDERLINE_DASHED))
        buf_printf(out, ";4:%d",
                   pen->attrs & PEN_UNDERLINE_CURLY    ? 3
                   : pen->attrs & PEN_UNDERLINE_DOTTED ? 4
                                                       : 5);
    else if (pen->attrs & PEN_UNDERLINE_DOUBLE)
        buf_append_text(out, ";21");
    else if (pen->attrs & PEN_UNDERLINE)
        buf_append_text(out, ";4");
    append_color(out, pen->fg, 30);
    append_color(out, pen->bg, 40);
    append_line_color(out, pen->line);
    buf_append_byte(out, 'm');
}

uint32_t pen_palette(unsigned index)
{
    static const uint32_t basic[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                       0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                       0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    static const uint8_t steps[6] = {0, 95, 135, 175, 215, 255};
    BUG_UNLESS(index < 256);
    if (index < 16)
        return basic[index];
    if (index >= 232)
        return (8 + 10 * (index - 232)) * 0x010101u;
    index -= 16;
    return (uint32_t)steps[index / 36] << 16 | (uint32_t)steps[index / 6 % 6] << 8 |
           steps[index % 6];
}

uint32_t pen_rgb(uint32_t color, uint32_t fallback)
{
    if (color & COLOR_RGB)
        return color & 0xffffff;
    return color & COLOR_INDEXED ? pen_palette(color & 255) : fallback;
}
