/* fold: owns which colour stands for one that a terminal does not have: the nearest one. */
#include "term/fold.h"
#include "base/bug.h"

#define GREYS 232 /* the first grey of the palette; 24 of them */

enum fold fold_for(int64_t colors)
{
    return colors >= 1 << 24  ? FOLD_NOTHING
           : colors >= 256    ? FOLD_256
           : colors >= 16     ? FOLD_16
           : colors >= 8      ? FOLD_8
                              : FOLD_PLAIN;
}

static int rgb_distance(uint32_t a, uint32_t b)
{
    int sum = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        int d = (int)(a >> shift & 255) - (int)(b >> shift & 255);
        sum += d * d;
    }
    return sum;
}

/* The nearest of the palette's colours [first, end). */
static unsigned nearest(uint32_t rgb, unsigned first, unsigned end)
{
    unsigned best = first;
    for (unsigned i = first + 1; i < end; i++)
        if (rgb_distance(rgb, pen_palette(i)) < rgb_distance(rgb, pen_palette(best)))
            best = i;
    return best;
}

static unsigned step_of(uint32_t value) /* of the cube: 0, 95, 135, 175, 215, 255 */
{
    return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40;
}

static unsigned in_256(uint32_t rgb)
{
    unsigned cube = 16 + 36 * step_of(rgb >> 16 & 255) + 6 * step_of(rgb >> 8 & 255) +
                    step_of(rgb & 255);
    unsigned mean = ((rgb >> 16 & 255) + (rgb >> 8 & 255) + (rgb & 255)) / 3;
    unsigned grey = GREYS + (mean < 8 ? 0 : mean > 238 ? 23 : (mean - 3) / 10);
    int off = rgb_distance(rgb, pen_palette(grey));
    return off < rgb_distance(rgb, pen_palette(cube)) ? grey : cube;
}

static uint32_t fold_color(uint32_t color, enum fold fold)
{
    if (color == COLOR_DEFAULT || fold == FOLD_PLAIN)
        return COLOR_DEFAULT;
    uint32_t rgb = color & 0xffffff;
    if (color & COLOR_RGB)
        color = COLOR_INDEXED | (fold == FOLD_256 ? in_256(rgb) : nearest(rgb, 0, 16));
    if (fold != FOLD_256 && (color & 255) >= 16)
        color = COLOR_INDEXED | nearest(pen_palette(color & 255), 0, 16);
    return color;
}

void fold_pen(struct pen *pen, enum fold fold)
{
    BUG_UNLESS(fold <= FOLD_PLAIN);
    if (fold == FOLD_NOTHING)
        return;
    pen->fg = fold_color(pen->fg, fold);
    pen->bg = fold_color(pen->bg, fold);
    pen->line = fold >= FOLD_8 ? COLOR_DEFAULT : fold_color(pen->line, fold);
    if (fold >= FOLD_8) {
        if (pen->fg != COLOR_DEFAULT && (pen->fg & 255) >= 8) { /* a bright one */
            pen->fg -= 8;
            pen->attrs |= PEN_BOLD;
        }
        if (pen->bg != COLOR_DEFAULT && (pen->bg & 255) >= 8)
            pen->bg -= 8;
        if (pen->attrs & PEN_UNDERLINES) /* other styles are unknown there */
            pen->attrs = (pen->attrs & ~(uint32_t)PEN_UNDERLINES) | PEN_UNDERLINE;
    }
}
