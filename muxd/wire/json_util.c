/* json_util: the functions that use only the rest of json.h: getters by key, adding by type,
 * comparing, copying. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "wire/json.h"
#include <string.h>

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {"nothing", "null",  "boolean", "number",
                                        "string",  "array", "object"};
    BUG_UNLESS((size_t)type < sizeof names / sizeof *names);
    return names[type];
}

size_t json_count(const struct json *container)
{
    size_t count = 0;
    for (const struct json *it = json_first(container); it != NULL; it = json_next(it))
        count++;
    return count;
}

const char *json_get_str(const struct json *object, const char *key, size_t *len)
{
    return json_str(json_get(object, key), len);
}

bool json_get_int(const struct json *object, const char *key, int64_t *out)
{
    return json_int(json_get(object, key), out);
}

bool json_get_bool(const struct json *object, const char *key, bool *out)
{
    return json_bool(json_get(object, key), out);
}

struct json *json_string_new(const char *data, size_t len)
{
    if (utf8_valid(data, len)) {
        char *copy = xmalloc(len + 1);
        memcpy(copy, data, len);
        copy[len] = '\0';
        return json_string_taken(copy, len);
    }
    struct buf text = BUF_INIT;
    utf8_append_lossy(&text, data, len);
    size_t text_len = text.len;
    return json_string_taken(buf_take(&text), text_len);
}

struct json *json_int_new(int64_t number)
{
    BUG_UNLESS(number >= -JSON_INTEGER_MAX && number <= JSON_INTEGER_MAX);
    return json_double_new((double)number);
}

struct json *json_add_object(struct json *parent, const char *key)
{
    return json_add(parent, key, json_object_new());
}

struct json *json_add_array(struct json *parent, const char *key)
{
    return json_add(parent, key, json_array_new());
}

void json_add_str(struct json *parent, const char *key, const char *data, size_t len)
{
    json_add(parent, key, json_string_new(data, len));
}

void json_add_text(struct json *parent, const char *key, const char *text)
{
    json_add(parent, key, text != NULL ? json_string_new(text, strlen(text)) : json_null_new());
}

void json_add_buf(struct json *parent, const char *key, struct buf *text)
{
    size_t len = text->len;
    if (!text->data || utf8_valid(text->data, len)) {
        json_add(parent, key, json_string_taken(buf_take(text), len));
    } else {
        json_add_str(parent, key, text->data, len);
        buf_fini(text);
    }
}

void json_add_int(struct json *parent, const char *key, int64_t number)
{
    json_add(parent, key, json_int_new(number));
}

void json_add_double(struct json *parent, const char *key, double number)
{
    json_add(parent, key, json_double_new(number));
}

void json_add_bool(struct json *parent, const char *key, bool truth)
{
    json_add(parent, key, json_bool_new(truth));
}

void json_add_null(struct json *parent, const char *key)
{
    json_add(parent, key, json_null_new());
}

static struct json *copy_scalar(const struct json *value)
{
    double number = 0;
    bool truth = false;
    size_t len = 0;
    const char *text = json_str(value, &len);
    if (text != NULL)
        return json_string_new(text, len);
    if (json_double(value, &number))
        return json_double_new(number);
    return json_bool(value, &truth) ? json_bool_new(truth) : json_null_new();
}

struct json *json_copy(const struct json *value)
{
    enum json_type type = json_type(value);
    if (type != JSON_OBJECT && type != JSON_ARRAY)
        return copy_scalar(value);
    struct json *copy = type == JSON_OBJECT ? json_object_new() : json_array_new();
    for (const struct json *it = json_first(value); it != NULL; it = json_next(it))
        json_add(copy, type == JSON_OBJECT ? json_key(it) : NULL, json_copy(it));
    return copy;
}

static bool containers_equal(const struct json *a, const struct json *b, bool object)
{
    if (json_count(a) != json_count(b))
        return false;
    const struct json *other = json_first(b);
    for (const struct json *it = json_first(a); it != NULL;
         it = json_next(it), other = json_next(other)) {
        if (!json_equal(it, object ? json_get(b, json_key(it)) : other))
            return false;
    }
    return true;
}

bool json_equal(const struct json *a, const struct json *b)
{
    enum json_type type = json_type(a);
    if (type != json_type(b))
        return false;
    double x = 0, y = 0;
    bool p = false, q = false;
    size_t m = 0, n = 0;
    switch (type) {
    case JSON_ABSENT:
    case JSON_NULL: return true;
    case JSON_BOOL: return json_bool(a, &p) && json_bool(b, &q) && p == q;
    case JSON_NUMBER: return json_double(a, &x) && json_double(b, &y) && x == y;
    case JSON_STRING: {
        const char *s = json_str(a, &m), *t = json_str(b, &n);
        return m == n && memcmp(s, t, n) == 0;
    }
    case JSON_ARRAY: return containers_equal(a, b, false);
    case JSON_OBJECT: return containers_equal(a, b, true);
    }
    BUG("a JSON value of type %d", (int)type);
}
