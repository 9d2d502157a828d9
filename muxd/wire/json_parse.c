/* json_parse: reads a text once and builds the tree meanwhile. Strictly RFC 8259: text that
 * cJSON's own parser would accept although it is no JSON, or would change (numbers, NULs), is
 * refused with its place. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"
#include "wire/json.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_CHARS_MAX 63
#define PAIRWISE_KEYS_MAX 8 /* up to this many, comparing each pair is faster than sorting */
/* a value takes some 80 bytes: "[0,0,0…" must not become a gigabyte */
#define VALUES_MAX 262144

struct parser {
    const char *data;
    size_t size, at, values;
    int depth; /* number of containers around the current place */
    enum json_flags flags;
    struct err *err;
};

/* Sets err. Always NULL, so that a reader can return it. */
static void *fail_at(const struct parser *p, size_t at, const char *what)
{
    if (at >= p->size)
        err_set(p->err, ERR_PARSE, "JSON ends too early, at byte %zu: %s", p->size + 1, what);
    else
        err_set(p->err, ERR_PARSE, "JSON is wrong at byte %zu: %s", at + 1, what);
    return NULL;
}

static void *json_parse_fail(const struct parser *p, const char *what)
{
    return fail_at(p, p->at, what);
}

static int json_parse_peek(const struct parser *p)
{
    return p->at < p->size ? (unsigned char)p->data[p->at] : -1;
}

static bool json_parse_skip(struct parser *p, char c)
{
    bool there = json_parse_peek(p) == c;
    p->at += there;
    return there;
}

static void skip_blanks(struct parser *p)
{
    for (int c = json_parse_peek(p); c == ' ' || c == '\t' || c == '\r' || c == '\n';
         c = json_parse_peek(p))
        p->at++;
}

/* ---- strings ---- */

/* Four hexadecimal digits; -1 when they are not. */
static int32_t read_hex4(struct parser *p)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        int digit = p->at < p->size ? value_hex_digit(p->data[p->at]) : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* The character of the "\u" escape at begin; -1 and err. */
static int32_t read_unicode(struct parser *p, size_t begin, bool is_key)
{
    const char *wrong = NULL;
    int32_t rune = read_hex4(p), low = -1;
    if (rune < 0)
        wrong = "expected four hexadecimal digits after '\\u'";
    else if (rune == 0 && (is_key || !(p->flags & JSON_ALLOW_NUL)))
        wrong = "the escape \\u0000 is not taken; send bytes as base64";
    else if (rune >= 0xdc00 && rune <= 0xdfff)
        wrong = "a low surrogate without its high one";
    if (rune >= 0xd800 && rune <= 0xdbff) {
        if (json_parse_skip(p, '\\') && json_parse_skip(p, 'u'))
            low = read_hex4(p);
        if (low < 0xdc00 || low > 0xdfff)
            wrong = "a high surrogate without its low one";
        rune = 0x10000 + (rune - 0xd800) * 0x400 + (low - 0xdc00);
    }
    if (wrong == NULL)
        return rune;
    fail_at(p, begin, wrong);
    return -1;
}

static bool read_escape(struct parser *p, bool is_key, struct buf *out)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    size_t begin = p->at++;
    if (p->at == p->size)
        return json_parse_fail(p, "the string has no end");
    if (json_parse_skip(p, 'u')) {
        int32_t rune = read_unicode(p, begin, is_key);
        return rune >= 0 && utf8_append_rune(out, rune);
    }
    const char *name = memchr(names, p->data[p->at], sizeof(names) - 1);
    if (name == NULL)
        return fail_at(p, begin, "unknown escape");
    p->at++;
    return buf_append_byte(out, bytes[name - names]);
}

/* Skips ASCII that needs no decoding; returns the byte behind it, -1 at the end. */
static int skip_plain(struct parser *p)
{
    int c = json_parse_peek(p);
    while (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
        p->at++;
        c = json_parse_peek(p);
    }
    return c;
}

static bool skip_rune(struct parser *p)
{
    int32_t rune = -1;
    size_t bytes = utf8_decode(p->data + p->at, p->size - p->at, &rune);
    p->at += rune < 0 ? 0 : bytes;
    return rune >= 0 || json_parse_fail(p, "not valid UTF-8; send bytes as base64");
}

/* Reads up to the closing quote. Returns where the last part without escapes begins; the parts
 * before it go to out, decoded. 0: it failed. */
static size_t read_pieces(struct parser *p, bool is_key, struct buf *out)
{
    size_t rest = p->at;
    for (;;) {
        int c = skip_plain(p);
        bool ok = true;
        if (c == '"')
            return rest;
        if (c < 0)
            ok = json_parse_fail(p, "the string has no end");
        else if (c < 0x20)
            ok = json_parse_fail(p, "a control character in a string must be escaped");
        else if (c != '\\')
            ok = skip_rune(p);
        else {
            buf_append(out, p->data + rest, p->at - rest);
            ok = read_escape(p, is_key, out);
            rest = p->at;
        }
        if (!ok)
            return 0;
    }
}

/* The string is the caller's; NULL: it failed. A string without escapes is copied once, into
 * memory of its size. */
static char *read_string(struct parser *p, bool is_key, size_t *len)
{
    struct buf decoded = BUF_INIT;
    p->at++;
    size_t rest = read_pieces(p, is_key, &decoded);
    if (rest == 0) {
        buf_fini(&decoded);
        return NULL;
    }
    *len = decoded.len + p->at - rest;
    if (decoded.data == NULL)
        decoded.data = xmalloc(*len + 1);
    else
        buf_reserve(&decoded, p->at - rest);
    memcpy(decoded.data + decoded.len, p->data + rest, p->at - rest);
    decoded.data[*len] = '\0';
    p->at++;
    return decoded.data;
}

/* ---- numbers and words ---- */

static size_t skip_digits(struct parser *p)
{
    size_t begin = p->at;
    while (p->at < p->size && p->data[p->at] >= '0' && p->data[p->at] <= '9')
        p->at++;
    return p->at - begin;
}

/* digits: those of an integer, without sign and leading zeros. */
static bool integer_fits(const char *digits, size_t count)
{
    static const char limit[] = "9007199254740992";
    const size_t most = sizeof(limit) - 1;
    return count < most || (count == most && memcmp(digits, limit, count) <= 0);
}

static struct json *json_parse_read_number(struct parser *p)
{
    size_t begin = p->at;
    json_parse_skip(p, '-');
    size_t first = p->at, digits = skip_digits(p);
    if (digits == 0)
        return json_parse_fail(p, "expected a digit");
    if (digits > 1 && p->data[first] == '0')
        return fail_at(p, first, "a number has no leading zeros");
    if (json_parse_skip(p, '.') && skip_digits(p) == 0)
        return json_parse_fail(p, "expected a digit after the decimal point");
    if (json_parse_skip(p, 'e') || json_parse_skip(p, 'E')) {
        if (!json_parse_skip(p, '+'))
            json_parse_skip(p, '-');
        if (skip_digits(p) == 0)
            return json_parse_fail(p, "expected a digit in the exponent");
    }
    if (p->at == first + digits && !integer_fits(p->data + first, digits))
        return fail_at(p, begin, "an integer beyond 2^53 would lose digits; send it as a string");
    if (p->at - begin > NUMBER_CHARS_MAX)
        return fail_at(p, begin, "a number of more than 63 characters");
    char text[NUMBER_CHARS_MAX + 1] = "";
    memcpy(text, p->data + begin, p->at - begin);
    double number = strtod(text, NULL);
    if (isfinite(number))
        return json_double_new(number);
    err_set(p->err, ERR_PARSE, "JSON is wrong: a number is too large");
    return NULL;
}

static struct json *json_parse_read_word(struct parser *p)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        size_t len = strlen(words[i]);
        if (p->size - p->at >= len && memcmp(p->data + p->at, words[i], len) == 0) {
            p->at += len;
            return i == 2 ? json_null_new() : json_bool_new(i == 0);
        }
    }
    return json_parse_fail(p, "expected a value");
}

/* ---- containers ---- */

static char *json_parse_read_key(struct parser *p)
{
    size_t len;
    if (json_parse_peek(p) != '"')
        return json_parse_fail(p, "expected a key in double quotes");
    char *key = read_string(p, true, &len);
    skip_blanks(p);
    if (key == NULL || json_parse_skip(p, ':'))
        return key;
    free(key);
    return json_parse_fail(p, "expected ':' after the key");
}

static bool fail_key(const struct parser *p, const char *key)
{
    struct buf text = BUF_INIT;
    size_t len = strlen(key);
    utf8_append_escaped(&text, key, len < 64 ? len : 64, false);
    err_set(p->err, ERR_PARSE, "duplicate field `%s`; name it once",
            text.data ? text.data : "");
    buf_fini(&text);
    return false;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A complete object has no key twice. */
static bool check_keys(const struct parser *p, const struct json *object)
{
    size_t count = json_count(object), n = 0;
    const char *few[PAIRWISE_KEYS_MAX], **keys = few, *twice = NULL;
    if (count > PAIRWISE_KEYS_MAX)
        keys = xreallocarray(NULL, count, sizeof(*keys));
    for (const struct json *it = json_first(object); it != NULL; it = json_next(it)) {
        keys[n++] = json_key(it);
        for (size_t i = 0; keys == few && twice == NULL && i + 1 < n; i++)
            twice = strcmp(few[i], few[n - 1]) == 0 ? few[i] : NULL;
    }
    if (keys != few) {
        qsort(keys, n, sizeof(*keys), compare_keys);
        for (size_t i = 1; twice == NULL && i < n; i++)
            twice = strcmp(keys[i], keys[i - 1]) == 0 ? keys[i] : NULL;
        free(keys);
    }
    return twice == NULL || fail_key(p, twice);
}

static struct json *read_value(struct parser *p);

/* Reads behind the opening bracket of a container that is not empty. */
static bool read_items(struct parser *p, struct json *container, bool object)
{
    do {
        skip_blanks(p);
        char *key = object ? json_parse_read_key(p) : NULL;
        struct json *value = object && key == NULL ? NULL : read_value(p);
        if (value == NULL) {
            free(key);
            return false;
        }
        json_add_taken(container, key, value);
        skip_blanks(p);
    } while (json_parse_skip(p, ','));
    if (!json_parse_skip(p, object ? '}' : ']'))
        return json_parse_fail(p, object ? "expected ',' or '}'" : "expected ',' or ']'");
    return !object || check_keys(p, container);
}

static struct json *read_container(struct parser *p, bool object)
{
    if (p->depth == JSON_DEPTH_MAX)
        return json_parse_fail(p, "nested deeper than 64");
    struct json *container = object ? json_object_new() : json_array_new();
    p->depth++;
    p->at++;
    skip_blanks(p);
    if (!json_parse_skip(p, object ? '}' : ']') && !read_items(p, container, object)) {
        json_free(container);
        return NULL;
    }
    p->depth--;
    return container;
}

/* NULL: it failed. Recursion is limited by JSON_DEPTH_MAX. */
static struct json *read_value(struct parser *p)
{
    size_t len;
    skip_blanks(p);
    if (++p->values > VALUES_MAX)
        return json_parse_fail(p, "more than 262144 values");
    int c = json_parse_peek(p);
    if (c == '{' || c == '[')
        return read_container(p, c == '{');
    if (c == '-' || (c >= '0' && c <= '9'))
        return json_parse_read_number(p);
    if (c != '"')
        return json_parse_read_word(p);
    char *text = read_string(p, false, &len);
    return text != NULL ? json_string_taken(text, len) : NULL;
}

struct json *json_parse_with(const char *data, size_t size, enum json_flags flags, struct err *err)
{
    struct parser p = {.data = data, .size = size, .flags = flags, .err = err};
    struct json *root = read_value(&p);
    skip_blanks(&p);
    BUG_UNLESS(p.at <= size && (root == NULL || p.depth == 0));
    if (root == NULL || p.at == size)
        return root;
    json_free(root);
    return json_parse_fail(&p, "something follows the value");
}

struct json *json_parse(const char *data, size_t size, struct err *err)
{
    return json_parse_with(data, size, JSON_STRICT, err);
}
