/* pen: the look of a character, which is three colours and a set of attributes: what SGR means
 * (ECMA-48 8.3.117, and the additions of xterm and kitty), and the shortest SGR for a look. */
#ifndef MUXD_WIRE_PEN_H
#define MUXD_WIRE_PEN_H
#include "base/buf.h"
#include "wire/tokens.h"
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A colour: 0 is the terminal's own, else one of the palette or a shade. */
#define COLOR_DEFAULT 0u
#define COLOR_INDEXED 0x01000000u /* | 0 to 255 */
#define COLOR_RGB 0x02000000u     /* | 0xRRGGBB */

enum pen_attrs {
    PEN_BOLD = 1,
    PEN_FAINT = 2,
    PEN_ITALIC = 4,
    PEN_BLINK = 8,
    PEN_REVERSE = 16,
    PEN_CONCEAL = 32,
    PEN_STRIKE = 64,
    PEN_OVERLINE = 128,
    PEN_UNDERLINE = 256, /* and how, beside it: */
    PEN_UNDERLINE_DOUBLE = 512,
    PEN_UNDERLINE_CURLY = 1024,
    PEN_UNDERLINE_DOTTED = 2048,
    PEN_UNDERLINE_DASHED = 4096,
    PEN_UNDERLINES = PEN_UNDERLINE | PEN_UNDERLINE_DOUBLE | PEN_UNDERLINE_CURLY |
                     PEN_UNDERLINE_DOTTED | PEN_UNDERLINE_DASHED
};

#define PEN_LINKS 0x3ffffu /* the highest number of a link */

struct pen { /* zeroed: plain */
    uint32_t fg, bg; /* without padding: compared and copied as bytes */
    uint32_t attrs : 14;
    uint32_t link : 18; /* screen_link's number; 0: none. SGR neither sets nor clears it */
    uint32_t line;          /* the colour of underlines; COLOR_DEFAULT: that of the text */
};
static_assert(sizeof(struct pen) == 4 * sizeof(uint32_t), "padding would be compared");

static inline bool pen_equal(const struct pen *a, const struct pen *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* applies ESC [ … m to it; unknown parameters are skipped */
void pen_sgr(struct pen *pen, const struct token_csi *csi);
/* ESC [ 0 … m, which gives this look whatever was set before */
void pen_append_sgr(struct buf *out, const struct pen *pen);
/* 0xRRGGBB of palette colours 0 to 255, xterm's defaults: 16, a cube, greys */
uint32_t pen_palette(unsigned index);
/* 0xRRGGBB of any colour; fallback for COLOR_DEFAULT */
uint32_t pen_rgb(uint32_t color, uint32_t fallback);
#endif
