/* responder: owns the replies. They describe the terminal that muxd is, a VT220 with colours. Its
 * looks are those of the person's terminal, by default light text on black, the 256 colours of
 * xterm, cells of 8 by 16 pixels. Its name is muxd's own also while a person is attached: programs
 * conclude from the name what a terminal can do, and all that they print goes through muxd's screen
 * model. */
#include "term/responder.h"
#include "base/bug.h"
#include "base/value.h"
#include "term/modes.h"
#include "wire/pen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_WIDTH 8
#define SCHEME_REPORTS 2031
#define ORIGIN 6
#define SAVED_CURSOR 1048
#define CELL_HEIGHT 16
#define CSI "\033["
#define DCS "\033P"
#define ST "\033\\"
#define ASKED_MAX 256 /* colours or capabilities in one sequence */

/* 0.1.2 as 102, 1.2.3 as 10203: DA2 has a firmware version there. */
static unsigned version_number(void)
{
    unsigned number = 0;
    const char *at = MUXD_VERSION;
    for (int part = 0; part < 3; part++) {
        char *end;
        number = number * 100 + (unsigned)(strtoul(at, &end, 10) % 100);
        at = *end ? end + 1 : end;
    }
    return number;
}

static bool answer_status(struct buf *out, const struct scan_seq *seq,
                          const struct responder_facts *facts, int asked)
{
    int row, col;
    bool private = seq->prefix == '?';
    if (asked == 5 && !private)
        return buf_append_text(out, CSI "0n");
    if (asked == 996 && private)
        return responder_report_scheme(out, profile_scheme(facts->profile));
    if (asked != 6 || !facts->cursor || !facts->cursor(facts->arg, &row, &col))
        return false;
    BUG_UNLESS(row > 0 && col > 0);
    return buf_printf(out, CSI "%s%d;%dR", private ? "?" : "", row, col);
}

static bool answer_size(struct buf *out, const struct responder_facts *facts, int asked)
{
    int rows, cols, height = CELL_HEIGHT, width = CELL_WIDTH;
    if ((asked == 14 || asked == 16) && facts->cell && !facts->cell(facts->arg, &height, &width)) {
        height = CELL_HEIGHT;
        width = CELL_WIDTH;
    }
    if (asked == 16)
        return buf_printf(out, CSI "6;%d;%dt", height, width);
    /* other numbers act, or would send back a title that the output has set */
    if ((asked != 14 && asked != 18 && asked != 19) || !facts->size ||
        !facts->size(facts->arg, &rows, &cols))
        return false;
    if (asked == 14)
        return buf_printf(out, CSI "4;%d;%dt", rows * height, cols * width);
    return buf_printf(out, CSI "%d;%d;%dt", asked - 10, rows, cols);
}

static bool report_mode(struct buf *out, const struct responder_facts *facts, bool private,
                        int mode)
{
    int number = modes_report(facts->modes, private, mode);
    if (mode < 0)
        return false;
    if (private && mode == SCHEME_REPORTS)
        number = facts->scheme_told ? 1 : 2;
    if (private && facts->mode && (mode == ORIGIN || mode == SAVED_CURSOR) &&
        (number = facts->mode(facts->arg, mode)) == 0)
        return false;
    return buf_printf(out, CSI "%s%d;%d$y", private ? "?" : "", mode, number);
}

#define KEY(prefix, inter, final)                                                                  \
    ((unsigned)(prefix) << 16 | (unsigned)(inter) << 8 | (unsigned)(final))

static bool answer_csi(struct buf *out, const struct scan_seq *seq,
                       const struct responder_facts *facts)
{
    int first = -1;
    scan_params(seq, &first, 1);
    bool plain = first <= 0;
    switch (KEY(seq->prefix, (unsigned char)seq->inter, seq->final)) {
    case KEY(0, 0, 'c'): return plain && buf_append_text(out, CSI "?62;22c");
    case KEY('>', 0, 'c'): return plain && buf_printf(out, CSI ">1;%u;0c", version_number());
    case KEY('=', 0, 'c'): return plain && buf_append_text(out, DCS "!|00000000" ST);
    case KEY('>', 0, 'q'): return plain && buf_append_text(out, DCS ">|muxd " MUXD_VERSION ST);
    case KEY(0, 0, 'n'):
    case KEY('?', 0, 'n'): return answer_status(out, seq, facts, first);
    case KEY(0, 0, 't'): return answer_size(out, facts, first);
    case KEY('?', '$', 'p'): return report_mode(out, facts, true, first);
    case KEY(0, '$', 'p'): return report_mode(out, facts, false, first);
    case KEY('?', 0, 'u'): return buf_printf(out, CSI "?%uu", modes_kitty(facts->modes));
    case KEY('?', 0, 'm'):
        return first == 4 && buf_printf(out, CSI ">4;%um", modes_other_keys(facts->modes));
    default: return false;
    }
}

/* index: enum profile_colour, or a colour of the palette. set: the program has set it to this. */
static bool append_colour(struct buf *out, const struct scan_seq *seq, const char *which,
                          const struct profile *profile, unsigned index, uint32_t rgb,
                          uint32_t set)
{
    if (set != COLOR_DEFAULT) {
        rgb = pen_rgb(set, 0);
        profile = NULL;
    }
    unsigned red = (rgb >> 16 & 255) * 257, green = (rgb >> 8 & 255) * 257,
             blue = (rgb & 255) * 257;
    if (profile && index < PROFILE_COLOURS && (profile->known >> index & 1)) {
        red = profile->colours[index][0];
        green = profile->colours[index][1];
        blue = profile->colours[index][2];
    }
    return buf_printf(out, "\033]%s;rgb:%04x/%04x/%04x%s", which, red, green, blue,
                      seq->bel ? "\007" : ST);
}

/* The next part of a string up to the separator; false: no more. */
static bool next_part(const char **at, const char *end, const char **part, size_t *len)
{
    if (*at > end)
        return false;
    const char *stop = memchr(*at, ';', (size_t)(end - *at));
    *part = *at;
    *len = (size_t)((stop ? stop : end) - *at);
    *at = (stop ? stop : end) + 1;
    return true;
}

static bool part_number(const char *part, size_t len, unsigned max, unsigned *number)
{
    *number = 0;
    for (size_t i = 0; i < len; i++) {
        if (part[i] < '0' || part[i] > '9' || len > 4)
            return false;
        *number = *number * 10 + (unsigned)(part[i] - '0');
    }
    return len > 0 && *number <= max;
}

static bool is_question(const char *part, size_t len)
{
    return len == 1 && *part == '?';
}

static bool answer_palette(struct buf *out, const struct scan_seq *seq, const char *at,
                           const char *end, const struct responder_facts *facts)
{
    const char *part;
    size_t len, before = out->len;
    unsigned index;
    for (int i = 0; i < ASKED_MAX && next_part(&at, end, &part, &len); i++) {
        bool known = part_number(part, len, 255, &index);
        if (!next_part(&at, end, &part, &len))
            break;
        char which[8];
        if (!known || !is_question(part, len))
            continue;
        snprintf(which, sizeof which, "4;%u", index & 255);
        append_colour(out, seq, which, facts->profile,
                      index < PROFILE_PALETTE ? index : PROFILE_COLOURS, pen_palette(index),
                      colours_get(facts->colours, index));
    }
    return out->len > before;
}

/* OSC 10 to 12: text, background, cursor; each further part asks for the next of them. */
static bool answer_osc(struct buf *out, const struct scan_seq *seq,
                       const struct responder_facts *facts)
{
    static const char *const names[] = {"10", "11", "12"};
    static const uint32_t colours[] = {0xe5e5e5, 0x000000, 0xe5e5e5};
    const char *at = seq->text, *end = seq->text + seq->len, *part;
    size_t len, before = out->len;
    unsigned which;
    if (!next_part(&at, end, &part, &len) || !part_number(part, len, 12, &which))
        return false;
    if (which == 4)
        return answer_palette(out, seq, at, end, facts);
    for (; which >= 10 && which <= 12 && next_part(&at, end, &part, &len); which++)
        if (is_question(part, len))
            append_colour(out, seq, names[which - 10], facts->profile,
                          which - 10 + PROFILE_FOREGROUND, colours[which - 10],
                          colours_get(facts->colours, which - 10 + COLOURS_TEXT));
    return out->len > before;
}

static const char *capability(const char *hex, size_t len)
{
    static const char *const known[][2] = {{"TN", "xterm-256color"},
                                           {"name", "xterm-256color"},
                                           {"Co", "256"},
                                           {"colors", "256"},
                                           {"RGB", "8/8/8"}};
    char name[8] = "";
    if (len % 2 != 0 || len / 2 >= sizeof name)
        return NULL;
    for (size_t i = 0; i < len / 2; i++)
        name[i] = (char)(value_hex_digit(hex[2 * i]) * 16 + value_hex_digit(hex[2 * i + 1]));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i][0]) == 0)
            return known[i][1];
    return NULL;
}

/* XTGETTCAP: one reply for each name, which repeats the name as asked. A name that is not
 * hexadecimal gets none. */
static bool answer_capabilities(struct buf *out, const char *at, const char *end)
{
    const char *part;
    size_t len, before = out->len;
    for (int i = 0; i < ASKED_MAX && next_part(&at, end, &part, &len); i++) {
        size_t digits = 0;
        while (digits < len && value_hex_digit(part[digits]) >= 0)
            digits++;
        if (len == 0 || digits < len || out->len - before > RESPONDER_MOST / 2)
            continue;
        const char *value = capability(part, len);
        if (len > 64)
            continue;
        buf_printf(out, DCS "%d+r%.*s%s", value != NULL, (int)len, part, value ? "=" : "");
        for (; value && *value; value++)
            buf_printf(out, "%02X", (unsigned)(unsigned char)*value);
        buf_append_text(out, ST);
    }
    return out->len > before;
}

/* DECRQSS: the settings that are tracked and those that never change; the reply for others is
 * "invalid". */
static bool answer_setting(struct buf *out, const char *what, size_t len,
                           const struct responder_facts *facts)
{
    if (len == 2 && memcmp(what, " q", 2) == 0)
        return buf_printf(out, DCS "1$r%u q" ST, modes_cursor_style(facts->modes));
    if (len == 2 && memcmp(what, "\"p", 2) == 0)
        return buf_append_text(out, DCS "1$r62;1\"p" ST);
    return buf_append_text(out, DCS "0$r" ST);
}

static bool answer_dcs(struct buf *out, const struct scan_seq *seq,
                       const struct responder_facts *facts)
{
    if (seq->len < 2)
        return false;
    if (memcmp(seq->text, "+q", 2) == 0)
        return answer_capabilities(out, seq->text + 2, seq->text + seq->len);
    if (memcmp(seq->text, "$q", 2) == 0)
        return answer_setting(out, seq->text + 2, seq->len - 2, facts);
    return false;
}

bool responder_report_scheme(struct buf *out, enum profile_scheme scheme)
{
    return buf_printf(out, CSI "?997;%dn", scheme == PROFILE_LIGHT ? 2 : 1);
}

static bool responder_reply(struct buf *out, const struct scan_seq *seq,
                            const struct responder_facts *facts)
{
    switch (seq->kind) {
    /* DECID */
    case SCAN_ESC: return seq->final == 'Z' && !seq->inter && buf_append_text(out, CSI "?62;22c");
    case SCAN_CSI: return answer_csi(out, seq, facts);
    case SCAN_OSC: return answer_osc(out, seq, facts);
    case SCAN_DCS: return answer_dcs(out, seq, facts);
    case SCAN_STRING:
    case SCAN_LONG: break;
    }
    return false;
}

bool responder_answer(struct buf *out, const struct scan_seq *seq,
                      const struct responder_facts *facts)
{
    size_t before = out->len;
    /* a reply is whole or left out, so the caller must leave that much room */
    if (out->max - out->len < RESPONDER_MOST)
        return false;
    if (responder_reply(out, seq, facts) && out->len - before <= RESPONDER_MOST)
        return true;
    buf_truncate(out, before);
    return false;
}
