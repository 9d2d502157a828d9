/* schema: the only place where a request's arguments are refused for their shape. Models read the
 * texts, which name the field, what came and what was expected. */
#include "wire/schema.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/value.h"
#include "wire/schema_words.h"
#include <stdlib.h>
#include <string.h>

#define PREFIX "failed to parse function arguments: "

/* The object that is being checked. path: "" or "_meta.", in front of its fields' names in
 * texts. */
struct check {
    const struct tool *tool;
    const char *path;
    struct json *params;
    const char *const *ignore;
    struct err *err;
};

/* Refuses a value: "invalid type: CAME for `FIELD`, expected WHAT". */
static int fail_came(const struct check *c, const char *wrong, const struct json *value,
                     const char *where, const struct tool_arg *arg, const char *what)
{
    char *came = schema_words_came(value);
    int rc = err_set(c->err, ERR_ARGUMENTS, PREFIX "invalid %s: %s %s `%s%s`, expected %s", wrong,
                     came, where, c->path, arg->name, what);
    free(came);
    return rc;
}

static int fail_type(const struct check *c, const struct tool_arg *arg, const struct json *value)
{
    return fail_came(c, "type", value, "for", arg, schema_words_expected(arg->type));
}

static int fail_item(const struct check *c, const struct tool_arg *arg, const struct json *item)
{
    return fail_came(c, "type", item, "in", arg, schema_words_expected(arg->type));
}

static int fail_number(const struct check *c, const struct tool_arg *arg, const struct json *value)
{
    int64_t whole, max = arg->max ? arg->max : JSON_INTEGER_MAX;
    char *what = xasprintf("%s from %lld to %lld", schema_words_expected(ARG_UINT),
                           (long long)arg->min, (long long)max);
    int rc = fail_came(c, json_int(value, &whole) ? "value" : "type", value, "for", arg, what);
    free(what);
    return rc;
}

static int check_number(const struct check *c, const struct tool_arg *arg, const struct json *value)
{
    int64_t number = 0, max = arg->max ? arg->max : JSON_INTEGER_MAX;
    if (json_type(value) != JSON_NUMBER)
        return fail_type(c, arg, value);
    if (!json_int(value, &number) || number < arg->min || number > max)
        return fail_number(c, arg, value);
    return 0;
}

bool schema_is_choice(const char *choices, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = choices; *at != '\0'; at += strspn(at, " ")) {
        size_t span = strcspn(at, " ");
        if (span == len && memcmp(at, word, len) == 0)
            return true;
        at += span;
    }
    return false;
}

static int fail_choice(const struct check *c, const struct tool_arg *arg, const char *word)
{
    char *shown = schema_words_shown(word), *choices = schema_words_choices(arg->choices);
    int rc = err_set(c->err, ERR_ARGUMENTS, PREFIX "unknown variant `%s` for `%s%s`, expected %s",
                     shown, c->path, arg->name, choices);
    free(shown);
    free(choices);
    return rc;
}

static int check_nul(const struct check *c, const struct tool_arg *arg, const char *text,
                     size_t len)
{
    if ((arg->flags & ARG_NO_NUL) && memchr(text, '\0', len) != NULL)
        return err_set(c->err, ERR_ARGUMENTS, PREFIX "invalid value: a NUL byte in `%s%s`", c->path,
                       arg->name);
    return 0;
}

static int check_string(const struct check *c, const struct tool_arg *arg, const struct json *value)
{
    size_t len = 0;
    const char *text = json_str(value, &len);
    if (text == NULL)
        return fail_type(c, arg, value);
    if (arg->choices != NULL && !schema_is_choice(arg->choices, text))
        return fail_choice(c, arg, text);
    if (arg->type == ARG_STRING && arg->max != 0 && len > (size_t)arg->max)
        return err_set(c->err, ERR_ARGUMENTS,
                       PREFIX "invalid length: `%s%s` has %zu bytes, at most %lld are allowed",
                       c->path, arg->name, len, (long long)arg->max);
    return check_nul(c, arg, text, len);
}

/* One expression of `until`. */
static int check_pattern(const struct check *c, const struct tool_arg *arg,
                         const struct json *value)
{
    size_t len = 0;
    json_str(value, &len);
    if (len <= (size_t)arg->max)
        return 0;
    return err_set(c->err, ERR_ARGUMENTS,
                   PREFIX "invalid length: `%s%s` has %zu bytes, at most %lld are allowed", c->path,
                   arg->name, len, (long long)arg->max);
}

static int check_session(const struct check *c, const struct tool_arg *arg,
                         const struct json *value)
{
    int64_t number;
    size_t len = 0;
    if (json_int(value, &number) || (json_str(value, &len) != NULL && len > 0))
        return 0;
    if (json_type(value) == JSON_STRING)
        return err_set(c->err, ERR_ARGUMENTS,
                       PREFIX "invalid value: an empty string for `%s%s`, expected %s", c->path,
                       arg->name, schema_words_expected(ARG_SESSION));
    return arg->type == ARG_SESSIONS ? fail_item(c, arg, value) : fail_type(c, arg, value);
}

static int check_member_name(const struct check *c, const struct tool_arg *arg, const char *name)
{
    if (name[0] != '\0' && strchr(name, '=') == NULL)
        return 0;
    char *shown = schema_words_shown(name);
    int rc = err_set(c->err, ERR_ARGUMENTS,
                     PREFIX "invalid value: '%s' in `%s%s` can't be the name of a variable", shown,
                     c->path, arg->name);
    free(shown);
    return rc;
}

static int check_item(const struct check *c, const struct tool_arg *arg, const struct json *item)
{
    size_t len = 0;
    int rc = 0;
    if (arg->type == ARG_SESSIONS)
        return check_session(c, arg, item);
    if (arg->type == ARG_OBJECTS)
        return json_type(item) == JSON_OBJECT ? 0 : fail_item(c, arg, item);
    const char *text = json_str(item, &len);
    if (text == NULL)
        return fail_item(c, arg, item);
    if (arg->type == ARG_ENV)
        rc = check_member_name(c, arg, json_key(item));
    return rc < 0 ? rc : check_nul(c, arg, text, len);
}

static int check_items(const struct check *c, const struct tool_arg *arg, const struct json *value)
{
    if (json_type(value) != (arg->type == ARG_ENV ? JSON_OBJECT : JSON_ARRAY))
        return fail_type(c, arg, value);
    int64_t count = 0;
    for (const struct json *item = json_first(value); item != NULL; item = json_next(item)) {
        int rc = check_item(c, arg, item);
        if (rc < 0)
            return rc;
        count++;
    }
    if (count < arg->min || (arg->max != 0 && count > arg->max))
        return err_set(c->err, ERR_ARGUMENTS,
                       PREFIX "invalid length: `%s%s` has %lld items, allowed are %lld to %lld",
                       c->path, arg->name, (long long)count, (long long)arg->min,
                       (long long)(arg->max ? arg->max : JSON_INTEGER_MAX));
    return 0;
}

static int check_patterns(const struct check *c, const struct tool_arg *arg,
                          const struct json *value)
{
    int64_t count = 0;
    if (json_type(value) == JSON_STRING)
        return check_pattern(c, arg, value);
    if (json_type(value) != JSON_ARRAY && json_type(value) != JSON_OBJECT)
        return fail_type(c, arg, value);
    for (const struct json *item = json_first(value); item != NULL; item = json_next(item)) {
        int rc = json_str(item, NULL) == NULL ? fail_item(c, arg, item)
                                              : check_pattern(c, arg, item);
        if (rc < 0)
            return rc;
        count++;
    }
    if (count > 0)
        return 0;
    return err_set(c->err, ERR_ARGUMENTS, PREFIX "invalid length: `%s%s` has no pattern", c->path,
                   arg->name);
}

static int check_value(const struct check *c, const struct tool_arg *arg, const struct json *value)
{
    enum json_type type = json_type(value);
    switch (arg->type) {
    case ARG_STRING: return check_string(c, arg, value);
    case ARG_PATTERNS: return check_patterns(c, arg, value);
    case ARG_UINT: return check_number(c, arg, value);
    case ARG_BOOL: return type == JSON_BOOL ? 0 : fail_type(c, arg, value);
    case ARG_COMMAND:
        return type == JSON_ARRAY ? check_items(c, arg, value) : check_string(c, arg, value);
    case ARG_SESSION: return check_session(c, arg, value);
    case ARG_SESSIONS:
    case ARG_STRINGS:
    case ARG_OBJECTS:
    case ARG_ENV: return check_items(c, arg, value);
    case ARG_OBJECT: return type == JSON_OBJECT ? 0 : fail_type(c, arg, value);
    case ARG_ID: {
        int64_t number;
        return json_int(value, &number) || type == JSON_STRING ? 0 : fail_type(c, arg, value);
    }
    }
    BUG("an argument of type %d", (int)arg->type);
}

static int fail_unknown(const struct check *c, const char *key)
{
    const char *names[64];
    size_t count = 0;
    struct buf list = BUF_INIT;
    for (const struct tool_arg *arg = c->tool->args; arg->name != NULL && count < 64; arg++) {
        if (arg->flags & ARG_UNSHOWN)
            continue;
        buf_printf(&list, "%s`%s`", count > 0 ? ", " : "", arg->name);
        names[count++] = arg->name;
    }
    const char *nearest = count > 0 ? value_nearest(key, names, count) : NULL;
    char *shown = schema_words_shown(key);
    int rc = err_set(c->err, ERR_ARGUMENTS, PREFIX "unknown field `%s%s`, %s%s%s%s%s", c->path,
                     shown, nearest != NULL ? "did you mean `" : "",
                     nearest != NULL ? nearest : "", nearest != NULL ? "`? " : "",
                     count > 0 ? "expected one of " : "there are no arguments",
                     list.data ? list.data : "");
    free(shown);
    buf_fini(&list);
    return rc;
}

static bool is_ignored(const struct check *c, const char *key)
{
    for (size_t i = 0; c->ignore != NULL && c->ignore[i] != NULL; i++) {
        if (strcmp(c->ignore[i], key) == 0)
            return true;
    }
    return false;
}

static bool is_required(const struct check *c, const struct tool_arg *arg)
{
    return (arg->flags & ARG_REQUIRED) &&
           (arg->unless == NULL || json_get(c->params, arg->unless) == NULL);
}

static int check_member(const struct check *c, const struct json *value)
{
    const char *key = json_key(value);
    const struct tool_arg *arg = tool_arg_by_name(c->tool, key);
    if (arg == NULL && !is_ignored(c, key))
        return fail_unknown(c, key);
    if (arg != NULL && json_type(value) == JSON_NULL && is_required(c, arg))
        return fail_type(c, arg, value);
    if (arg == NULL || json_type(value) == JSON_NULL) {
        json_free(json_detach(c->params, key));
        return 0;
    }
    if (strcmp(key, arg->name) != 0) {
        if (json_get(c->params, arg->name) != NULL)
            return err_set(c->err, ERR_ARGUMENTS,
                           PREFIX "duplicate field `%s%s`, `%s` is another name for it", c->path,
                           arg->name, arg->alias);
        json_rename(c->params, key, arg->name);
    }
    int rc = check_value(c, arg, value);
    return rc;
}

static bool is_given(const struct json *params, const char *name)
{
    bool truth = true;
    const struct json *value = json_get(params, name);
    return value != NULL && (!json_bool(value, &truth) || truth);
}

/* The checks that need all members: required ones are there, and those that others need. */
static int check_whole(const struct check *c)
{
    for (const struct tool_arg *arg = c->tool->args; arg->name != NULL; arg++) {
        if (is_required(c, arg) && json_get(c->params, arg->name) == NULL)
            return err_set(c->err, ERR_ARGUMENTS, PREFIX "missing field `%s%s`", c->path,
                           arg->name);
        if (arg->needs != NULL && is_given(c->params, arg->name) &&
            !is_given(c->params, arg->needs))
            return err_set(c->err, ERR_ARGUMENTS, "%s", arg->needs_text);
    }
    return 0;
}

static int schema_check_members(const struct check *c)
{
    const struct json *next;
    for (const struct json *it = json_first(c->params); it != NULL; it = next) {
        next = json_next(it);
        bool meta = c->tool->kind != TOOL_INNER && strcmp(json_key(it), "_meta") == 0;
        int rc = meta ? 0 : check_member(c, it);
        if (rc < 0)
            return rc;
    }
    return check_whole(c);
}

/* An empty reader or a relative directory would be treated as absent, and the call would do
 * something else than was asked. */
static int check_meta(const struct json *meta, struct err *err)
{
    const char *cwd = json_get_str(meta, "cwd", NULL), *reader = json_get_str(meta, "reader", NULL);
    if (cwd != NULL && cwd[0] != '/')
        return err_set(err, ERR_ARGUMENTS,
                       PREFIX "invalid value: '%.80s' for `_meta.cwd`, expected an absolute path",
                       cwd);
    if (reader != NULL && reader[0] == '\0')
        return err_set(err, ERR_ARGUMENTS,
                       PREFIX "invalid value: '' for `_meta.reader`, expected a name");
    return 0;
}

static int fail_object(const struct json *value, const char *where, struct err *err)
{
    char *came = schema_words_came(value);
    int rc = err_set(err, ERR_ARGUMENTS, PREFIX "invalid type: %s%s, expected an object", came,
                     where);
    free(came);
    return rc;
}

int schema_check(const struct tool *tool, struct json *params, const char *const *ignore_fields,
                 struct err *err)
{
    BUG_UNLESS(tool >= tools && tool < tools + TOOL_COUNT_);
    struct check c = {
        .tool = tool, .path = "", .params = params, .ignore = ignore_fields, .err = err};
    if (json_type(params) != JSON_OBJECT)
        return fail_object(params, "", err);
    int rc = schema_check_members(&c);
    const struct json *meta = json_get(params, "_meta");
    if (rc < 0 || meta == NULL)
        return rc;
    if (json_type(meta) == JSON_NULL) {
        json_free(json_detach(params, "_meta"));
        return 0;
    }
    if (json_type(meta) != JSON_OBJECT)
        return fail_object(meta, " for `_meta`", err);
    struct check inner = {.tool = &tools[TOOL_META],
                          .path = "_meta.",
                          .params = (struct json *)(uintptr_t)meta,
                          .err = err};
    rc = schema_check_members(&inner);
    return rc < 0 ? rc : check_meta(meta, err);
}

struct json *schema_parse(const char *text, size_t size, struct err *err)
{
    size_t blank = 0;
    while (blank < size && (text[blank] == ' ' || text[blank] == '\n' || text[blank] == '\t' ||
                            text[blank] == '\r'))
        blank++;
    if (blank == size)
        return json_object_new();
    struct json *params = json_parse(text, size, err);
    if (params != NULL && json_type(params) == JSON_OBJECT)
        return params;
    if (params != NULL)
        fail_object(params, "", err);
    else if (err != NULL) {
        err->code = ERR_ARGUMENTS;
        err_prefix(err, "failed to parse function arguments");
    }
    json_free(params);
    return NULL;
}
