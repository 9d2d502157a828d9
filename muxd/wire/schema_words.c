/* schema_words: owns the words for types and values in refusals of arguments. */
#include "wire/schema_words.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES_MAX 64

const char *schema_words_expected(enum arg_type type)
{
    switch (type) {
    case ARG_STRING: return "a string";
    case ARG_UINT: return "a whole number";
    case ARG_BOOL: return "a boolean";
    case ARG_COMMAND: return "a string or an array of strings";
    case ARG_SESSION: return "a whole number or a name";
    case ARG_SESSIONS: return "an array of whole numbers or names";
    case ARG_STRINGS: return "an array of strings";
    case ARG_PATTERNS: return "a string, an array of strings or an object of strings";
    case ARG_OBJECTS: return "an array of objects";
    case ARG_ENV: return "an object of strings";
    case ARG_OBJECT: return "an object";
    case ARG_ID: return "a whole number or a string";
    }
    BUG("an argument of type %d", (int)type);
}

char *schema_words_shown(const char *text)
{
    struct buf escaped = BUF_INIT;
    size_t len = strlen(text), keep = utf8_cut(text, len, SHOWN_BYTES_MAX);
    utf8_append_escaped(&escaped, text, keep, false);
    if (keep < len)
        buf_append_text(&escaped, "…");
    return escaped.data ? buf_take(&escaped) : xstrdup("");
}

static char *number_came(const struct json *value)
{
    struct buf text = BUF_INIT;
    json_print(&text, value);
    char *words = xasprintf(strpbrk(text.data, ".eE") ? "floating point `%s`" : "integer `%s`",
                            text.data);
    buf_fini(&text);
    return words;
}

static char *string_came(const char *text)
{
    char *shown = schema_words_shown(text), *words = xasprintf("string \"%s\"", shown);
    free(shown);
    return words;
}

char *schema_words_came(const struct json *value)
{
    bool truth = false;
    switch (json_type(value)) {
    case JSON_NULL: return xstrdup("null");
    case JSON_BOOL:
        json_bool(value, &truth);
        return xasprintf("boolean `%s`", truth ? "true" : "false");
    case JSON_NUMBER: return number_came(value);
    case JSON_STRING: return string_came(json_str(value, NULL));
    case JSON_ARRAY: return xstrdup("sequence");
    case JSON_OBJECT: return xstrdup("map");
    case JSON_ABSENT: break;
    }
    BUG("a value of type %d", (int)json_type(value));
}

char *schema_words_choices(const char *choices)
{
    struct buf text = BUF_INIT;
    for (const char *at = choices; *at != '\0'; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        buf_printf(&text, "%s`%.*s`", at == choices ? "one of " : ", ", (int)len, at);
        at += len;
    }
    return buf_take(&text);
}
