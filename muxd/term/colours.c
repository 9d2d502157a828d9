/* colours: owns the reading of the sequences that set colours. */
#include "term/colours.h"
#include "base/mem.h"
#include "base/value.h"
#include "wire/profile.h"
#include <stdlib.h>
#include <string.h>

struct parts { /* of an OSC, between semicolons */
    const char *at, *end;
    const char *part;
    size_t size;
};

static bool parts_next(struct parts *parts)
{
    if (parts->at > parts->end)
        return false;
    const char *stop = memchr(parts->at, ';', (size_t)(parts->end - parts->at));
    parts->part = parts->at;
    parts->size = (size_t)((stop ? stop : parts->end) - parts->at);
    parts->at = (stop ? stop : parts->end) + 1;
    return true;
}

/* -1: none of up to three digits */
static int parts_number(const struct parts *parts)
{
    int number = 0;
    if (parts->size == 0 || parts->size > 3)
        return -1;
    for (size_t i = 0; i < parts->size; i++) {
        if (parts->part[i] < '0' || parts->part[i] > '9')
            return -1;
        number = number * 10 + (parts->part[i] - '0');
    }
    return number;
}

/* #rgb, #rrggbb, #rrrgggbbb, #rrrrggggbbbb: the digits of each part are its highest. */
static bool parse_hex(const char *text, size_t size, uint32_t *colour)
{
    size_t digits = (size - 1) / 3;
    uint32_t rgb = 0;
    if (size < 4 || text[0] != '#' || (size - 1) % 3 != 0 || digits > 4)
        return false;
    for (size_t i = 1; i < size; i++)
        if (value_hex_digit(text[i]) < 0)
            return false;
    for (size_t part = 0; part < 3; part++) {
        const char *at = text + 1 + part * digits;
        int low = digits > 1 ? value_hex_digit(at[1]) : 0;
        rgb = rgb << 8 | (uint32_t)(value_hex_digit(at[0]) << 4 | low);
    }
    *colour = COLOR_RGB | rgb;
    return true;
}

static bool parse_colour(const struct parts *parts, uint32_t *colour)
{
    uint16_t wide[3];
    if (!profile_parse_colour(parts->part, parts->size, wide))
        return parse_hex(parts->part, parts->size, colour);
    *colour = COLOR_RGB | (uint32_t)(wide[0] >> 8) << 16 | (uint32_t)(wide[1] >> 8) << 8 |
              (uint32_t)(wide[2] >> 8);
    return true;
}

static bool colours_set(struct colours **colours, int which, uint32_t colour)
{
    if (which < 0 || which >= COLOURS_COUNT || colours_get(*colours, (unsigned)which) == colour)
        return false;
    if (!*colours)
        *colours = xcalloc(1, sizeof **colours);
    (*colours)->set[which] = colour;
    for (size_t i = 0; i < COLOURS_COUNT && colour == COLOR_DEFAULT; i++)
        if ((*colours)->set[i] != COLOR_DEFAULT)
            return true;
    if (colour == COLOR_DEFAULT)
        colours_reset(colours);
    return true;
}

bool colours_reset(struct colours **colours)
{
    bool any = *colours != NULL;
    free(*colours);
    *colours = NULL;
    return any;
}

/* OSC 104: those that are named, or all. */
static bool reset_palette(struct colours **colours, struct parts *parts)
{
    bool changed = false, all = true;
    for (; parts_next(parts); all = false) {
        int which = parts_number(parts);
        changed |= which < COLOURS_TEXT && colours_set(colours, which, COLOR_DEFAULT);
    }
    for (int i = 0; all && i < COLOURS_TEXT; i++)
        changed |= colours_set(colours, i, COLOR_DEFAULT);
    return changed;
}

bool colours_apply(struct colours **colours, const char *data, size_t size)
{
    struct parts parts = {.at = data, .end = data + size};
    bool changed = false;
    uint32_t colour;
    parts_next(&parts);
    int code = parts_number(&parts);
    if (code == 104)
        return reset_palette(colours, &parts);
    if (code >= 110 && code <= 112)
        return colours_set(colours, code - 110 + COLOURS_TEXT, COLOR_DEFAULT);
    if (code == 4) {
        while (parts_next(&parts)) {
            int which = parts_number(&parts);
            if (!parts_next(&parts))
                break;
            if (which < COLOURS_TEXT && parse_colour(&parts, &colour))
                changed |= colours_set(colours, which, colour);
        }
        return changed;
    }
    /* each further part is for the next of them */
    for (; code >= 10 && code <= 12 && parts_next(&parts); code++)
        if (parse_colour(&parts, &colour))
            changed |= colours_set(colours, code - 10 + COLOURS_TEXT, colour);
    return changed;
}

uint32_t colours_get(const struct colours *colours, unsigned which)
{
    return colours && which < COLOURS_COUNT ? colours->set[which] : COLOR_DEFAULT;
}

static uint32_t shown_as(const struct colours *colours, uint32_t color, unsigned fallback)
{
    if (color & COLOR_RGB)
        return color;
    uint32_t set = colours_get(colours, color & COLOR_INDEXED ? color & 255 : fallback);
    return set != COLOR_DEFAULT ? set : color;
}

struct pen colours_pen(const struct colours *colours, struct pen pen)
{
    if (!colours)
        return pen;
    pen.fg = shown_as(colours, pen.fg, COLOURS_TEXT);
    pen.bg = shown_as(colours, pen.bg, COLOURS_BACKGROUND);
    if (pen.line != COLOR_DEFAULT)
        pen.line = shown_as(colours, pen.line, COLOURS_COUNT);
    return pen;
}

void colours_append(struct buf *out, const struct colours *colours)
{
    buf_append_text(out, "\033]104\033\\\033]110\033\\\033]111\033\\\033]112\033\\");
    for (unsigned i = 0; colours && i < COLOURS_COUNT; i++) {
        uint32_t set = colours->set[i];
        if (set == COLOR_DEFAULT)
            continue;
        buf_printf(out, i < COLOURS_TEXT ? "\033]4;%u" : "\033]%u",
                   i < COLOURS_TEXT ? i : i - COLOURS_TEXT + 10);
        buf_printf(out, ";rgb:%02x/%02x/%02x\033\\", set >> 16 & 255, set >> 8 & 255, set & 255);
    }
}
