/* json_scan: RFC 8259 without recursion and without building anything. The library behind json.c takes much that is no JSON;
 * what passes here, it reads right. */
#include "wire/json_scan.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"
#include <stdlib.h>
#include <string.h>

#define NUMBER_CHARS_MAX 63 /* the library cuts longer ones */

enum expect { EXPECT_VALUE, EXPECT_VALUE_OR_CLOSE, EXPECT_KEY, EXPECT_KEY_OR_CLOSE, EXPECT_AFTER };

struct scanner {
    struct json_scan *out;
    const char *data;
    size_t size, at;
    size_t values, strings;
    enum json_flags flags;
    char open[JSON_DEPTH_MAX]; /* the containers we are in: '{' or '[' */
    size_t depth;
    struct err *err;
};

static int fail_at(struct scanner *s, size_t at, const char *what)
{
    if (at >= s->size)
        return err_set(s->err, ERR_PARSE, "JSON ends too early, at byte %zu: %s", s->size + 1, what);
    return err_set(s->err, ERR_PARSE, "JSON is wrong at byte %zu: %s", at + 1, what);
}

static int fail(struct scanner *s, const char *what)
{
    return fail_at(s, s->at, what);
}

static int peek(const struct scanner *s)
{
    return s->at < s->size ? (unsigned char)s->data[s->at] : -1;
}

static void skip_blanks(struct scanner *s)
{
    while (s->at < s->size && strchr(" \t\r\n", s->data[s->at]) != NULL && s->data[s->at] != '\0')
        s->at++;
}

/* Four hexadecimal digits at s->at; -1 when they are not. */
static int32_t scan_hex4(struct scanner *s)
{
    if (s->size - s->at < 4)
        return -1;
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = value_hex_digit(s->data[s->at + (size_t)i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    s->at += 4;
    return unit;
}

/* Behind "\u". *bytes: what it decodes to in UTF-8; 1 for NUL. */
static int scan_unicode(struct scanner *s, bool is_key, size_t *bytes, bool *has_nul)
{
    size_t begin = s->at - 2;
    int32_t unit = scan_hex4(s);
    if (unit < 0)
        return fail_at(s, begin, "expected four hexadecimal digits after '\\u'");
    if (unit == 0) {
        if (is_key || !(s->flags & JSON_ALLOW_NUL))
            return fail_at(s, begin, "the escape \\u0000 is not taken; send bytes as base64");
        *has_nul = true;
    }
    if (unit >= 0xdc00 && unit <= 0xdfff)
        return fail_at(s, begin, "a low surrogate without its high one");
    if (unit >= 0xd800 && unit <= 0xdbff) {
        if (s->size - s->at < 2 || s->data[s->at] != '\\' || s->data[s->at + 1] != 'u')
            return fail_at(s, begin, "a high surrogate without its low one");
        s->at += 2;
        int32_t low = scan_hex4(s);
        if (low < 0xdc00 || low > 0xdfff)
            return fail_at(s, begin, "a high surrogate without its low one");
        *bytes = 4;
        return 0;
    }
    *bytes = unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    return 0;
}

static int scan_escape(struct scanner *s, bool is_key, size_t *bytes, bool *has_nul)
{
    s->at++;
    int c = peek(s);
    if (c < 0)
        return fail(s, "the string has no end");
    s->at++;
    *bytes = 1;
    if (c == 'u')
        return scan_unicode(s, is_key, bytes, has_nul);
    if (c == 0 || strchr("\"\\/bfnrt", c) == NULL)
        return fail_at(s, s->at - 2, "unknown escape");
    return 0;
}

static void note_nul(struct scanner *s, size_t len)
{
    struct json_scan *out = s->out;
    if (out->count == out->cap) {
        out->cap = out->cap ? out->cap * 2 : 8;
        out->nuls = xreallocarray(out->nuls, out->cap, sizeof(*out->nuls));
    }
    out->nuls[out->count++] = (struct json_scan_nul){.ordinal = s->strings, .len = len};
}

static int scan_string(struct scanner *s, bool is_key)
{
    size_t len = 0;
    s->at++;
    bool has_nul = false;
    for (;;) {
        size_t run = s->at;
        int c = peek(s);
        while (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            s->at++;
            c = peek(s);
        }
        len += s->at - run;
        size_t bytes = 0;
        if (c == '"')
            break;
        if (c < 0)
            return fail_at(s, s->size, "the string has no end");
        if (c < 0x20)
            return fail(s, "a control character in a string must be escaped");
        if (c == '\\') {
            int rc = scan_escape(s, is_key, &bytes, &has_nul);
            if (rc < 0)
                return rc;
        } else {
            int32_t rune = -1;
            bytes = utf8_decode(s->data + s->at, s->size - s->at, &rune);
            if (bytes == 0 || rune < 0)
                return fail_at(s, s->at, "not valid UTF-8; send bytes as base64");
            s->at += bytes;
        }
        len += bytes;
    }
    s->at++;
    if (!is_key) {
        if (has_nul)
            note_nul(s, len);
        s->strings++;
    }
    return 0;
}

static size_t scan_digits(struct scanner *s)
{
    size_t begin = s->at;
    while (s->at < s->size && s->data[s->at] >= '0' && s->data[s->at] <= '9')
        s->at++;
    return s->at - begin;
}

/* digits: those of an integer, without sign and leading zeros. */
static bool integer_fits(const char *digits, size_t count)
{
    static const char limit[] = "9007199254740992";
    return count < sizeof(limit) - 1 || (count == sizeof(limit) - 1 && memcmp(digits, limit, count) <= 0);
}

static int scan_number(struct scanner *s)
{
    size_t begin = s->at;
    bool integer = true;
    s->at += s->data[s->at] == '-';
    size_t first = s->at, digits = scan_digits(s);
    if (digits == 0)
        return fail(s, "expected a digit");
    if (digits > 1 && s->data[first] == '0')
        return fail_at(s, first, "a number has no leading zeros");
    if (peek(s) == '.') {
        integer = false;
        s->at++;
        if (scan_digits(s) == 0)
            return fail(s, "expected a digit after the decimal point");
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        integer = false;
        s->at++;
        s->at += peek(s) == '+' || peek(s) == '-';
        if (scan_digits(s) == 0)
            return fail(s, "expected a digit in the exponent");
    }
    if (integer && !integer_fits(s->data + first, digits))
        return fail_at(s, begin, "an integer beyond 2^53 would lose digits; send it as a string");
    if (s->at - begin > NUMBER_CHARS_MAX)
        return fail_at(s, begin, "a number of more than 63 characters");
    return 0;
}

static int scan_word(struct scanner *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        size_t len = strlen(words[i]);
        if (s->size - s->at >= len && memcmp(s->data + s->at, words[i], len) == 0) {
            s->at += len;
            return 0;
        }
    }
    return fail(s, "expected a value");
}

/* One value; a container only gets opened. *next: what must follow. */
static int scan_value(struct scanner *s, enum expect *next)
{
    if (++s->values > JSON_VALUES_MAX)
        return fail(s, "more than 262144 values");
    int c = peek(s);
    *next = EXPECT_AFTER;
    if (c == '{' || c == '[') {
        if (s->depth == JSON_DEPTH_MAX)
            return fail(s, "nested deeper than 64");
        s->open[s->depth++] = (char)c;
        s->at++;
        *next = c == '{' ? EXPECT_KEY_OR_CLOSE : EXPECT_VALUE_OR_CLOSE;
        return 0;
    }
    if (c == '"')
        return scan_string(s, false);
    if (c == '-' || (c >= '0' && c <= '9'))
        return scan_number(s);
    return scan_word(s);
}

static int scan_key(struct scanner *s)
{
    if (peek(s) != '"')
        return fail(s, "expected a key in double quotes");
    int rc = scan_string(s, true);
    if (rc < 0)
        return rc;
    skip_blanks(s);
    if (peek(s) != ':')
        return fail(s, "expected ':' after the key");
    s->at++;
    return 0;
}

/* After a value inside a container: a comma or the matching bracket. */
static int scan_after(struct scanner *s, enum expect *next)
{
    bool object = s->open[s->depth - 1] == '{';
    int c = peek(s);
    if (c == ',') {
        *next = object ? EXPECT_KEY : EXPECT_VALUE;
    } else if (c == (object ? '}' : ']')) {
        s->depth--;
        *next = EXPECT_AFTER;
    } else {
        return fail(s, object ? "expected ',' or '}'" : "expected ',' or ']'");
    }
    s->at++;
    return 0;
}

static int scan_step(struct scanner *s, enum expect *next)
{
    int c = peek(s);
    if ((*next == EXPECT_KEY_OR_CLOSE && c == '}') || (*next == EXPECT_VALUE_OR_CLOSE && c == ']')) {
        s->at++;
        s->depth--;
        *next = EXPECT_AFTER;
        return 0;
    }
    if (*next == EXPECT_AFTER)
        return scan_after(s, next);
    if (*next == EXPECT_KEY || *next == EXPECT_KEY_OR_CLOSE) {
        *next = EXPECT_VALUE;
        return scan_key(s);
    }
    return scan_value(s, next);
}

int json_scan(struct json_scan *scan, const char *data, size_t size, enum json_flags flags, struct err *err)
{
    struct scanner s = {.out = scan, .data = data, .size = size, .flags = flags, .err = err};
    enum expect next = EXPECT_VALUE;
    *scan = (struct json_scan){0};
    do {
        skip_blanks(&s);
        int rc = scan_step(&s, &next);
        if (rc < 0)
            return rc;
    } while (next != EXPECT_AFTER || s.depth > 0);
    skip_blanks(&s);
    return s.at < s.size ? fail(&s, "something follows the value") : 0;
}

void json_scan_fini(struct json_scan *scan)
{
    free(scan->nuls);
    *scan = (struct json_scan){0};
}
