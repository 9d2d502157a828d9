/* json_print: prints a tree as one line of text in one pass. Answers have megabytes of terminal
 * output in one string, so plain bytes are copied in runs and looked at once. */
#include "base/bug.h"
#include "wire/json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a byte is printed: 0: as it is, as all of UTF-8; 'u': \u00XX; else a backslash and this
 * letter. */
static const char escapes[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r',
    ['\t'] = 't', [0x7f] = 'u',  [0x00] = 'u', [0x01] = 'u', [0x02] = 'u', [0x03] = 'u',
    [0x04] = 'u', [0x05] = 'u',  [0x06] = 'u', [0x07] = 'u', [0x0b] = 'u', [0x0e] = 'u',
    [0x0f] = 'u', [0x10] = 'u',  [0x11] = 'u', [0x12] = 'u', [0x13] = 'u', [0x14] = 'u',
    [0x15] = 'u', [0x16] = 'u',  [0x17] = 'u', [0x18] = 'u', [0x19] = 'u', [0x1a] = 'u',
    [0x1b] = 'u', [0x1c] = 'u',  [0x1d] = 'u', [0x1e] = 'u', [0x1f] = 'u',
};

static bool print_escape(struct buf *out, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', escapes[byte], '0', '0', hex[byte >> 4], hex[byte & 15]};
    return buf_append(out, text, escapes[byte] == 'u' ? 6 : 2);
}

bool json_print_str(struct buf *out, const char *data, size_t len)
{
    size_t at = 0;
    bool ok = buf_append_byte(out, '"');
    while (ok && at < len) {
        size_t run = at;
        while (at < len && escapes[(unsigned char)data[at]] == 0)
            at++;
        if (at > run)
            ok = buf_append(out, data + run, at - run);
        if (ok && at < len)
            ok = print_escape(out, (unsigned char)data[at++]);
    }
    return ok && buf_append_byte(out, '"');
}

static bool print_number(struct buf *out, double number)
{
    char text[40];
    if (fabs(number) <= (double)JSON_INTEGER_MAX && number == (double)(int64_t)number) {
        int len = snprintf(text, sizeof(text), "%lld", (long long)number);
        return buf_append(out, text, (size_t)len);
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    char *comma = strchr(text, ','); /* a locale's decimal point */
    if (comma != NULL)
        *comma = '.';
    if (strpbrk(text, ".e") == NULL) /* beyond 2^53: as an integer it would be refused when read */
        return buf_append_text(out, text) && buf_append_text(out, ".0");
    return buf_append_text(out, text);
}

static bool print_container(struct buf *out, const struct json *value, bool object)
{
    bool ok = buf_append_byte(out, object ? '{' : '[');
    const struct json *first = json_first(value);
    for (const struct json *it = first; ok && it != NULL; it = json_next(it)) {
        if (it != first)
            ok = buf_append_byte(out, ',');
        if (ok && object)
            ok = json_print_str(out, json_key(it), strlen(json_key(it))) &&
                 buf_append_byte(out, ':');
        ok = ok && json_print(out, it);
    }
    return ok && buf_append_byte(out, object ? '}' : ']');
}

bool json_print(struct buf *out, const struct json *value)
{
    size_t len = 0;
    double number = 0;
    bool truth = false;
    switch (json_type(value)) {
    case JSON_ABSENT:
    case JSON_NULL: return buf_append(out, "null", 4);
    case JSON_BOOL:
        return json_bool(value, &truth) && buf_append_text(out, truth ? "true" : "false");
    case JSON_NUMBER: return json_double(value, &number) && print_number(out, number);
    case JSON_STRING: {
        const char *text = json_str(value, &len);
        return json_print_str(out, text, len);
    }
    case JSON_ARRAY: return print_container(out, value, false);
    case JSON_OBJECT: return print_container(out, value, true);
    }
    BUG("a JSON value that is of no type");
}
