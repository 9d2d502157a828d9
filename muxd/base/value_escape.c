/* value_escape.c: owns the C escapes that people type, and their digits. */
#include "base/utf8.h"
#include "base/value.h"
#include <string.h>

int value_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Exactly count hexadecimal digits; -1 when there are fewer. */
static int32_t take_hex(const char *text, int count)
{
    int32_t number = 0;
    for (int i = 0; i < count; i++) {
        int digit = value_hex_digit(text[i]);
        if (digit < 0)
            return -1;
        number = number << 4 | digit;
    }
    return number;
}

/* One to three octal digits at *text, up to 377. */
static int32_t take_octal(const char **text)
{
    int32_t number = 0;
    for (int i = 0; i < 3 && **text >= '0' && **text <= '7'; i++)
        number = number << 3 | (*(*text)++ - '0');
    return number <= 0377 ? number : -1;
}

/* *text is behind the backslash and moves behind the escape. Bytes written; 0: no such escape. */
static size_t take_escape(const char **text, char out[4])
{
    static const char letters[] = "ntreabfv\\'\"", bytes[] = "\n\t\r\033\a\b\f\v\\'\"";
    char kind = **text;
    if (kind == 0)
        return 0;
    int32_t number = -1;
    const char *letter = strchr(letters, kind);
    if (kind >= '0' && kind <= '7') {
        number = take_octal(text);
    } else if (kind == 'x') {
        number = take_hex(*text + 1, 2);
        *text += 3;
    } else if (kind == 'u') {
        number = take_hex(*text + 1, 4);
        *text += 5;
        return utf8_encode(number, out);
    } else if (letter) {
        number = bytes[letter - letters];
        *text += 1;
    }
    if (number < 0)
        return 0;
    out[0] = (char)number;
    return 1;
}

long value_unescape(const char *text, char *out, const char **bad)
{
    char *to = out;
    while (*text) {
        if (*text != '\\') {
            *to++ = *text++;
            continue;
        }
        const char *start = text++;
        char bytes[4];
        size_t n = take_escape(&text, bytes);
        if (n == 0) {
            *bad = start;
            return -1;
        }
        memcpy(to, bytes, n);
        to += n;
    }
    *to = 0;
    return (long)(to - out);
}
