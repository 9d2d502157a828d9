/* base64: strict in both directions, so that each sequence of bytes has one spelling. */
#include "wire/base64.h"
#include "base/bug.h"
#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool base64_encode(struct buf *out, const void *data, size_t len)
{
    BUG_UNLESS(len <= SIZE_MAX / 4 * 3 - 2);
    const unsigned char *from = data;
    size_t size = (len + 2) / 3 * 4;
    char *to = size > 0 ? buf_reserve(out, size) : NULL;
    if (to == NULL)
        return size == 0;
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        uint32_t bits = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                        (left > 2 ? from[i + 2] : 0);
        *to++ = alphabet[bits >> 18];
        *to++ = alphabet[bits >> 12 & 63];
        *to++ = left > 1 ? alphabet[bits >> 6 & 63] : '=';
        *to++ = left > 2 ? alphabet[bits & 63] : '=';
    }
    buf_commit(out, size);
    return true;
}

static int base64_value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Four characters of which the last `padding` are '='; false when they are wrong. */
static bool decode_four(const char *text, size_t padding, char *to)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++) {
        int value = i < 4 - padding ? base64_value_of(text[i]) : 0;
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
    }
    if ((padding == 1 && (bits & 0xff) != 0) || (padding == 2 && (bits & 0xffff) != 0))
        return false;
    for (size_t i = 0; i < 3 - padding; i++)
        to[i] = (char)(bits >> (16 - 8 * i) & 0xff);
    return true;
}

bool base64_decode(struct buf *out, const char *text, size_t len)
{
    if (len == 0)
        return true;
    if (len % 4 != 0)
        return false;
    size_t padding = text[len - 1] != '=' ? 0 : text[len - 2] != '=' ? 1 : 2;
    size_t size = len / 4 * 3 - padding;
    char *to = buf_reserve(out, size);
    if (to == NULL)
        return false;
    for (size_t i = 0; i < len; i += 4) {
        if (!decode_four(text + i, i + 4 == len ? padding : 0, to + i / 4 * 3))
            return false;
    }
    buf_commit(out, size);
    return true;
}
