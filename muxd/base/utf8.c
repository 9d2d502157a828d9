/* utf8.c: owns decoding: which bytes are characters, and what replaces ill-formed ones. */
#include "base/utf8.h"
#include <string.h>

static const char replacement[3] = {'\xEF', '\xBF', '\xBD'};

/* The bytes that may follow a lead byte at once (Unicode 15, table 3-7); later ones are always 80
 * to BF. */
struct lead {
    size_t length; /* 0: no lead byte */
    unsigned char low, high;
    unsigned char bits; /* of the code point, in the lead byte */
};

static struct lead lead_of(unsigned char byte)
{
    if (byte < 0xC2 || byte > 0xF4)
        return (struct lead){0};
    if (byte < 0xE0)
        return (struct lead){2, 0x80, 0xBF, byte & 0x1F};
    if (byte < 0xF0)
        return (struct lead){3, byte == 0xE0 ? 0xA0 : 0x80, byte == 0xED ? 0x9F : 0xBF,
                             byte & 0x0F};
    return (struct lead){4, byte == 0xF0 ? 0x90 : 0x80, byte == 0xF4 ? 0x8F : 0xBF, byte & 0x07};
}

size_t utf8_decode(const char *data, size_t size, int32_t *rune)
{
    const unsigned char *bytes = (const unsigned char *)data;
    if (bytes[0] < 0x80) {
        *rune = bytes[0];
        return 1;
    }
    *rune = -1;
    struct lead lead = lead_of(bytes[0]);
    if (lead.length == 0)
        return 1;
    int32_t value = lead.bits;
    for (size_t i = 1; i < lead.length; i++) {
        if (i == size)
            return 0;
        unsigned char low = i == 1 ? lead.low : 0x80, high = i == 1 ? lead.high : 0xBF;
        if (bytes[i] < low || bytes[i] > high)
            return i;
        value = value << 6 | (bytes[i] & 0x3F);
    }
    *rune = value;
    return lead.length;
}

/* Eight bytes at a time: nearly all output of programs is ASCII. */
size_t utf8_ascii_run(const char *data, size_t size)
{
    size_t at = 0;
    for (uint64_t word; size - at >= sizeof word; at += sizeof word) {
        memcpy(&word, data + at, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    while (at < size && !(data[at] & 0x80))
        at++;
    return at;
}

/* Bytes at the front that are whole, well-formed characters. */
static size_t valid_run(const char *data, size_t size)
{
    size_t at = 0;
    for (;;) {
        at += utf8_ascii_run(data + at, size - at);
        /* this loop goes on over characters that are not ASCII, so that the loop over words isn't
         * entered for each of them */
        for (;;) {
            if (at == size)
                return at;
            int32_t rune;
            size_t n = utf8_decode(data + at, size - at, &rune);
            if (rune < 0)
                return at;
            at += n;
            if (n == 1)
                break;
        }
    }
}

bool utf8_valid(const char *data, size_t size)
{
    return size == 0 || valid_run(data, size) == size;
}

size_t utf8_incomplete_tail(const char *data, size_t size)
{
    for (size_t n = 1; n <= 3 && n <= size; n++) {
        unsigned char byte = (unsigned char)data[size - n];
        if (byte < 0x80)
            return 0;
        if (byte < 0xC0)
            continue;
        int32_t rune;
        return utf8_decode(data + size - n, n, &rune) == 0 ? n : 0;
    }
    return 0;
}

bool utf8_append_lossy(struct buf *out, const char *data, size_t size)
{
    size_t before = out->len;
    for (size_t at = 0; at < size;) {
        size_t run = valid_run(data + at, size - at);
        bool fits = buf_append(out, data + at, run);
        at += run;
        if (fits && at < size) {
            int32_t rune;
            size_t bad = utf8_decode(data + at, size - at, &rune);
            at += bad ? bad : size - at;
            fits = buf_append(out, replacement, sizeof replacement);
        }
        if (!fits) {
            buf_truncate(out, before);
            return false;
        }
    }
    return true;
}

size_t utf8_encode(int32_t rune, char out[4])
{
    if (rune < 0 || rune > 0x10FFFF || (rune >= 0xD800 && rune <= 0xDFFF))
        return 0;
    if (rune < 0x80) {
        out[0] = (char)rune;
        return 1;
    }
    size_t length = rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; rune >>= 6)
        out[i] = (char)(0x80 | (rune & 0x3F));
    static const unsigned char marks[] = {[2] = 0xC0, [3] = 0xE0, [4] = 0xF0};
    out[0] = (char)(marks[length] | rune);
    return length;
}

bool utf8_append_rune(struct buf *out, int32_t rune)
{
    char bytes[4];
    size_t size = utf8_encode(rune, bytes);
    return size > 0 && buf_append(out, bytes, size);
}

bool utf8_is_boundary(const char *data, size_t size, size_t at)
{
    return at == 0 || at >= size || ((unsigned char)data[at] & 0xC0) != 0x80;
}

size_t utf8_count(const char *data, size_t size)
{
    size_t count = 0;
    for (size_t at = 0; at < size; at++)
        count += ((unsigned char)data[at] & 0xC0) != 0x80;
    return count;
}

size_t utf8_cut(const char *data, size_t size, size_t max)
{
    if (size <= max)
        return size;
    while (!utf8_is_boundary(data, size, max))
        max--;
    return max;
}

/* Characters that a terminal obeys instead of showing, and bidirectional controls, which can make a
 * line read as another one. */
bool utf8_is_obeyed(int32_t rune)
{
    return (rune >= 0 && rune < 0x20) || (rune >= 0x7F && rune < 0xA0) ||
           (rune >= 0x202A && rune <= 0x202E) || (rune >= 0x2066 && rune <= 0x2069) ||
           rune == 0x2028 || rune == 0x2029;
}

static bool is_unsafe(int32_t rune, bool keep_newlines)
{
    if (rune == '\n' || rune == '\t')
        return !keep_newlines;
    return rune < 0 || utf8_is_obeyed(rune);
}

void utf8_append_escaped(struct buf *out, const char *data, size_t size, bool keep_newlines)
{
    for (size_t at = 0; at < size;) {
        int32_t rune;
        size_t n = utf8_decode(data + at, size - at, &rune);
        if (n == 0)
            n = size - at;
        bool fits = true;
        if (!is_unsafe(rune, keep_newlines))
            fits = buf_append(out, data + at, n);
        else
            for (size_t i = 0; i < n && fits; i++)
                fits = buf_printf(out, "\\x%02x", (unsigned char)data[at + i]);
        if (!fits)
            return;
        at += n;
    }
}
