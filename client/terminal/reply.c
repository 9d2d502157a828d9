/* reply: owns the forms of replies. No key looks like one: keys have no private parameters, no
 * final `t` behind three parameters, and no strings. Sources: xterm ctlseqs (OSC 4, 10 to 12,
 * XTWINOPS, DA1), contour's report of the colour scheme (?997). */
#include "client/terminal/reply.h"
#include "base/bug.h"
#include "wire/ecma48.h"
#include <string.h>

#define PARAMS_MAX 3
#define CELL_REPORT 6
#define SCHEME_REPORT 997

/* Reads digits, without a leading zero; false: there are none. */
static bool reply_number(const char **at, const char *end, int *value)
{
    const char *begin = *at;
    *value = 0;
    do {
        if (*at == end || **at < '0' || **at > '9')
            break;
        *value = *value * 10 + *(*at)++ - '0';
    } while (*value > 0 && *value < 100000);
    return *at > begin;
}

static enum reply note_cell(struct profile *profile, const int *values)
{
    if (values[1] > 0 && values[1] <= PROFILE_CELL_MAX && values[2] > 0 &&
        values[2] <= PROFILE_CELL_MAX) {
        profile->cell_height = values[1];
        profile->cell_width = values[2];
    }
    return REPLY_FACT;
}

static enum reply note_scheme(struct profile *profile, int value)
{
    if (value != 1 && value != 2)
        return REPLY_NONE;
    profile->scheme = value == 1 ? PROFILE_DARK : PROFILE_LIGHT;
    return REPLY_SCHEME;
}

static enum reply reply_take_csi(struct profile *profile, const char *data, const char *end,
                                 size_t *used)
{
    const char *at = data + 2;
    int values[PARAMS_MAX] = {0}, count = 0;
    bool private = at < end && *at == '?';
    at += private;
    for (int value; at < end; at++, count++) {
        bool some = reply_number(&at, end, &value);
        if (count < PARAMS_MAX)
            values[count] = value;
        if (at < end && (!some || *at != ';')) {
            count += some;
            break;
        }
        if (at == end)
            break;
    }
    /* An unfinished key is held back no longer than necessary. */
    if (at == end)
        return private || at == data + 2 || values[0] == CELL_REPORT ? REPLY_PART : REPLY_NONE;
    *used = (size_t)(at - data) + 1;
    if (private && *at == 'c' && count > 0)
        return REPLY_LAST;
    if (private && *at == 'n' && count == 2 && values[0] == SCHEME_REPORT)
        return note_scheme(profile, values[1]);
    return !private && *at == 't' && count == PARAMS_MAX && values[0] == CELL_REPORT
               ? note_cell(profile, values)
               : REPLY_NONE;
}

static void note_colour(struct profile *profile, int which, const char *text, size_t size)
{
    uint16_t colour[3];
    if (which < 0 || which >= PROFILE_COLOURS || !profile_parse_colour(text, size, colour))
        return;
    memcpy(profile->colours[which], colour, sizeof colour);
    profile->known |= 1u << which;
}

static enum reply take_osc(struct profile *profile, const char *data, const char *end, size_t *used)
{
    const char *at = data + 2, *text;
    int code, which;
    bool some = reply_number(&at, end, &code);
    if (at == end)
        return !some || code == 1 || code == 4 || (code >= 10 && code <= 12) ? REPLY_PART
                                                                             : REPLY_NONE;
    if (!some || *at++ != ';' || (code != 4 && (code < 10 || code > 12)))
        return REPLY_NONE;
    which = code - 10 + PROFILE_FOREGROUND;
    if (code == 4 && reply_number(&at, end, &which) && at < end && *at++ != ';')
        return REPLY_NONE;
    for (text = at; at < end && *at >= ' ' && *at < 0x7f;)
        at++;
    if (at == end || (*at == ECMA_ESC && at + 1 == end))
        return REPLY_PART;
    if (*at != ECMA_BEL && (*at != ECMA_ESC || at[1] != '\\'))
        return REPLY_NONE;
    *used = (size_t)(at - data) + (*at == ECMA_BEL ? 1 : 2);
    note_colour(profile, code == 4 && which >= PROFILE_PALETTE ? -1 : which, text,
                (size_t)(at - text));
    return REPLY_FACT;
}

enum reply reply_take(struct profile *profile, const char *data, size_t size, size_t *used)
{
    enum reply reply = REPLY_NONE;
    const char *end = data + (size < REPLY_MAX ? size : REPLY_MAX);
    BUG_UNLESS(size > 0 && data[0] == ECMA_ESC);
    *used = size;
    if (size == 1)
        return REPLY_PART;
    if (ecma_begins(data[1]) == ECMA_CSI)
        reply = reply_take_csi(profile, data, end, used);
    else if (ecma_begins(data[1]) == ECMA_OSC)
        reply = take_osc(profile, data, end, used);
    return reply == REPLY_PART && size >= REPLY_MAX ? REPLY_NONE : reply;
}
