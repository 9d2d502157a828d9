/* scan.c: owns the grammar of escape sequences. Text without them goes by at the speed of memchr(3). */
#include "term/scan.h"
#include <string.h>

enum { ESC = 033, BEL = 007, CAN = 030, SUB = 032, SEVERAL = 0177 };

enum outcome { TAKEN, SKIPPED, UNFINISHED };

/* One candidate, from its ESC. next: where to go on when it was taken or skipped. */
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

/* It reaches to the end of what may be looked at. Too long is decided by its length alone, never by where reads have cut. */
static enum outcome run_out(struct candidate *it, size_t max)
{
    return (size_t)(it->end - it->begin) < max ? UNFINISHED : skip_to(it, it->begin + 2);
}

static const char *limit_of(const struct candidate *it, size_t max)
{
    return (size_t)(it->end - it->begin) < max ? it->end : it->begin + max;
}

static bool is_intermediate(unsigned char byte)
{
    return byte >= 0x20 && byte <= 0x2f;
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
        unsigned char byte = (unsigned char)*at;
        if (is_intermediate(byte)) {
            note_intermediate(it->seq, *at);
        } else if (byte >= 0x30 && byte <= 0x7e) {
            it->seq->final = *at;
            it->next = at + 1;
            return TAKEN;
        } else {
            return skip_to(it, at);
        }
    }
    return run_out(it, SCAN_CSI_MAX);
}

/* Other control characters in the middle act as if they stood before it, and don't end it. */
static bool ends_csi_early(unsigned char byte)
{
    return byte == ESC || byte == CAN || byte == SUB || byte >= 0x80;
}

static enum outcome take_csi(struct candidate *it)
{
    struct scan_seq *seq = it->seq;
    const char *limit = limit_of(it, SCAN_CSI_MAX), *at = it->begin + 2;
    bool sound = true;
    seq->kind = SCAN_CSI;
    if (at < limit && *at >= '<' && *at <= '?')
        seq->prefix = *at++;
    seq->text = at;
    for (; at < limit; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte >= 0x40 && byte <= 0x7e) {
            seq->final = *at;
            if (!seq->inter)
                seq->len = (size_t)(at - seq->text);
            return it->next = at + 1, sound ? TAKEN : SKIPPED;
        }
        if (ends_csi_early(byte))
            return skip_to(it, at);
        if (is_intermediate(byte)) {
            if (!seq->inter)
                seq->len = (size_t)(at - seq->text);
            note_intermediate(seq, *at);
        } else if (byte >= 0x30 && byte <= 0x3f) {
            sound = sound && byte < '<' && !seq->inter;
        }
    }
    return run_out(it, SCAN_CSI_MAX);
}

static enum outcome take_string(struct candidate *it, enum scan_kind kind)
{
    const char *limit = limit_of(it, SCAN_STRING_MAX), *at = it->begin + 2;
    it->seq->kind = kind;
    it->seq->text = at;
    while (at < limit && ((unsigned char)*at >= 0x20 || (*at != ESC && *at != CAN && *at != SUB && (*at != BEL || kind != SCAN_OSC))))
        at++;
    it->seq->len = (size_t)(at - it->seq->text);
    if (at == limit || (*at == ESC && at + 1 == limit))
        return run_out(it, SCAN_STRING_MAX);
    if (*at == CAN || *at == SUB)
        return skip_to(it, at + 1);
    it->seq->bel = *at == BEL;
    if (*at == ESC && at[1] != '\\')
        return skip_to(it, at);
    it->next = *at == ESC ? at + 2 : at + 1;
    return TAKEN;
}

static enum outcome take(struct candidate *it)
{
    *it->seq = (struct scan_seq){.kind = SCAN_ESC};
    if (it->begin + 1 == it->end)
        return UNFINISHED;
    switch (it->begin[1]) {
    case '[': return take_csi(it);
    case ']': return take_string(it, SCAN_OSC);
    case 'P': return take_string(it, SCAN_DCS);
    case 'X':
    case '^':
    case '_': return take_string(it, SCAN_STRING);
    default: return take_esc(it);
    }
}

bool scan_next(const char *data, size_t size, size_t *at, struct scan_seq *seq)
{
    struct candidate it = {.begin = data + *at, .end = data + size, .seq = seq};
    while (it.begin < it.end && (it.begin = memchr(it.begin, ESC, (size_t)(it.end - it.begin)))) {
        enum outcome outcome = take(&it);
        *at = (size_t)((outcome == UNFINISHED ? it.begin : it.next) - data);
        if (outcome != SKIPPED)
            return outcome == TAKEN;
        it.begin = it.next;
    }
    *at = size;
    return false;
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
