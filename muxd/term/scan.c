/* scan: owns the search for escape sequences in what the journal holds. */
#include "term/scan.h"
#include "base/bug.h"
#include "wire/ecma48.h"
#include <string.h>

enum { SEVERAL = 0177 };

enum outcome { TAKEN, SKIPPED, UNFINISHED };

/* One candidate, from its ESC on. next: where to go on when it was taken or skipped. */
struct candidate {
    const char *begin, *end; /* end of the data */
    const char *next;
    struct scan_seq *seq;
};

static enum outcome skip_to(struct candidate *it, const char *next)
{
    it->next = next;
    return SKIPPED;
}

/* The candidate reaches to the end of the data or of max bytes. Its length alone decides that it is
 * too long, never where reads have cut. */
static enum outcome run_out(struct candidate *it, size_t max)
{
    return (size_t)(it->end - it->begin) < max ? UNFINISHED : skip_to(it, it->begin + 2);
}

static const char *limit_of(const struct candidate *it, size_t max)
{
    return (size_t)(it->end - it->begin) < max ? it->end : it->begin + max;
}

static void note_intermediate(struct scan_seq *seq, char byte)
{
    seq->inter = seq->inter ? SEVERAL : byte;
}

static enum outcome take_esc(struct candidate *it)
{
    const char *limit = limit_of(it, SCAN_CSI_MAX);
    it->seq->kind = SCAN_ESC;
    for (const char *at = it->begin + 1; at < limit; at++) {
        if (ecma_is_intermediate(*at)) {
            note_intermediate(it->seq, *at);
        } else if (ecma_ends_short(*at)) {
            it->seq->final = *at;
            it->next = at + 1;
            return TAKEN;
        } else {
            return skip_to(it, at);
        }
    }
    return run_out(it, SCAN_CSI_MAX);
}

/* Other control characters in the middle act as if they stood before the sequence, and don't end
 * it. */
static bool ends_csi_early(unsigned char byte)
{
    return byte == ECMA_ESC || ecma_gives_up((char)byte) || byte >= 0x80;
}

static enum outcome take_csi(struct candidate *it)
{
    struct scan_seq *seq = it->seq;
    const char *limit = limit_of(it, SCAN_CSI_MAX), *at = it->begin + 2;
    bool sound = true;
    seq->kind = SCAN_CSI;
    if (at < limit && ecma_is_private(*at))
        seq->prefix = *at++;
    seq->text = at;
    for (; at < limit; at++) {
        unsigned char byte = (unsigned char)*at;
        if (ecma_ends_csi(*at)) {
            seq->final = *at;
            if (!seq->inter)
                seq->len = (size_t)(at - seq->text);
            return it->next = at + 1, sound ? TAKEN : SKIPPED;
        }
        if (ends_csi_early(byte))
            return skip_to(it, at);
        if (ecma_is_intermediate(*at)) {
            if (!seq->inter)
                seq->len = (size_t)(at - seq->text);
            note_intermediate(seq, *at);
        } else if (ecma_is_parameter(*at)) {
            sound = sound && !ecma_is_private(*at) && !seq->inter;
        }
    }
    return run_out(it, SCAN_CSI_MAX);
}

static enum outcome take_string(struct candidate *it, enum scan_kind kind)
{
    const char *limit = limit_of(it, SCAN_STRING_MAX), *at = it->begin + 2;
    it->seq->kind = kind;
    it->seq->text = at;
    while (at < limit && ((unsigned char)*at >= 0x20 || (*at != ECMA_ESC && !ecma_gives_up(*at) &&
                                                         (*at != ECMA_BEL || kind != SCAN_OSC))))
        at++;
    it->seq->len = (size_t)(at - it->seq->text);
    if (at == limit || (*at == ECMA_ESC && at + 1 == limit)) {
        if (run_out(it, SCAN_STRING_MAX) == UNFINISHED)
            return UNFINISHED;
        *it->seq = (struct scan_seq){.kind = SCAN_LONG};
        return TAKEN;
    }
    if (ecma_gives_up(*at))
        return skip_to(it, at + 1);
    it->seq->bel = *at == ECMA_BEL;
    if (*at == ECMA_ESC && at[1] != '\\')
        return skip_to(it, at);
    it->next = *at == ECMA_ESC ? at + 2 : at + 1;
    return TAKEN;
}

static enum outcome scan_take(struct candidate *it)
{
    *it->seq = (struct scan_seq){.kind = SCAN_ESC};
    if (it->begin + 1 == it->end)
        return UNFINISHED;
    switch (ecma_begins(it->begin[1])) {
    case ECMA_CSI: return take_csi(it);
    case ECMA_OSC: return take_string(it, SCAN_OSC);
    case ECMA_DCS: return take_string(it, SCAN_DCS);
    case ECMA_STRING:
    case ECMA_TITLE: return take_string(it, SCAN_STRING);
    case ECMA_SHORT: break;
    }
    return take_esc(it);
}

bool scan_next(const char *data, size_t size, size_t *at, struct scan_seq *seq)
{
    BUG_UNLESS(*at <= size);
    struct candidate it = {.begin = data + *at, .end = data + size, .seq = seq};
    while (it.begin < it.end &&
           (it.begin = memchr(it.begin, ECMA_ESC, (size_t)(it.end - it.begin)))) {
        enum outcome outcome = scan_take(&it);
        *at = (size_t)((outcome == UNFINISHED ? it.begin : it.next) - data);
        if (outcome != SKIPPED)
            return outcome == TAKEN;
        it.begin = it.next;
    }
    *at = size;
    return false;
}

/* The end of the drawing sequence that begins at the ESC; NULL: it is something else, or not
 * complete. */
static const char *behind_drawing(const char *at, const char *end)
{
    const char *limit = end - at < SCAN_CSI_MAX ? end : at + SCAN_CSI_MAX;
    if (limit - at < 3 || at[1] != '[')
        return NULL;
    for (at += 2; at < limit && *at >= '0' && *at <= ';';)
        at++;
    return at < limit && ((*at >= '@' && *at <= 'X') || *at == 'm') ? at + 1 : NULL;
}

void scan_past_drawing(const char *data, size_t size, size_t *at)
{
    BUG_UNLESS(*at <= size);
    const char *end = data + size, *esc = data + *at, *behind = esc;
    while (behind && behind < end && (esc = memchr(behind, ECMA_ESC, (size_t)(end - behind))))
        behind = behind_drawing(esc, end);
    *at = behind ? size : (size_t)(esc - data);
}

bool scan_ends_string(char byte)
{
    return byte == ECMA_ESC || byte == ECMA_BEL || ecma_gives_up(byte);
}

size_t scan_params(const struct scan_seq *seq, int *values, size_t max)
{
    size_t count = 0;
    int value = -1;
    bool sub = false;
    if (seq->len == 0)
        return 0;
    for (size_t i = 0; i <= seq->len && count < max; i++) {
        char byte = i < seq->len ? seq->text[i] : ';';
        if (byte == ';') {
            values[count++] = value;
            value = -1;
            sub = false;
        } else if (byte == ':') {
            sub = true;
        } else if (byte >= '0' && byte <= '9' && !sub) {
            value = (value < 0 ? 0 : value) * 10 + (byte - '0');
            value = value > 65535 ? 65535 : value;
        }
    }
    return count;
}
