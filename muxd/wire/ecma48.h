/* ecma48: the bytes that escape sequences are made of (ECMA-48 5.4, 5.6; the VT500 parser of
 * vt100.net). Shared by the two parsers of a program's output: wire/tokens.c, which keeps its state
 * from feed to feed, and term/scan.c, which keeps none. */
#ifndef MUXD_WIRE_ECMA48_H
#define MUXD_WIRE_ECMA48_H
#include <stdbool.h>

enum { ECMA_BEL = 007, ECMA_CAN = 030, ECMA_SUB = 032, ECMA_ESC = 033 };

/* SHORT: all others; STRING: SOS, PM, APC; TITLE: ESC k, by which screen(1) and tmux name a
 * window */
enum ecma_kind { ECMA_SHORT, ECMA_CSI, ECMA_OSC, ECMA_DCS, ECMA_STRING, ECMA_TITLE };

/* What the byte after ESC begins. */
static inline enum ecma_kind ecma_begins(char byte)
{
    switch (byte) {
    case '[': return ECMA_CSI;
    case ']': return ECMA_OSC;
    case 'P': return ECMA_DCS;
    case 'X':
    case '^':
    case '_': return ECMA_STRING;
    case 'k': return ECMA_TITLE;
    default: return ECMA_SHORT;
    }
}

static inline bool ecma_is_intermediate(char byte)
{
    return byte >= 0x20 && byte <= 0x2f;
}

static inline bool ecma_is_private(char byte) /* CSI: before the parameters */
{
    return byte >= '<' && byte <= '?';
}

static inline bool ecma_is_parameter(char byte) /* CSI; with the private ones */
{
    return byte >= 0x30 && byte <= 0x3f;
}

static inline bool ecma_ends_csi(char byte)
{
    return byte >= 0x40 && byte <= 0x7e;
}

static inline bool ecma_ends_short(char byte)
{
    return byte >= 0x30 && byte <= 0x7e;
}

/* ends a sequence of any kind without effect; so does ESC, which begins another one */
static inline bool ecma_gives_up(char byte)
{
    return byte == ECMA_CAN || byte == ECMA_SUB;
}
#endif
