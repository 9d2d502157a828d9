/* schema_read: reads checked arguments as values, with their defaults. */
#include "base/bug.h"
#include "base/value.h"
#include "wire/schema.h"
#include <stdio.h>
#include <string.h>

static const struct tool_arg *row(const struct tool *tool, const char *name)
{
    const struct tool_arg *arg = tool_arg_by_name(tool, name);
    if (arg == NULL)
        BUG("'%s' has no argument '%s'", tool->name, name);
    return arg;
}

bool schema_has(const struct json *params, const char *name)
{
    return json_get(params, name) != NULL;
}

const char *schema_str(const struct tool *tool, const struct json *params, const char *name,
                       size_t *len)
{
    const struct tool_arg *arg = row(tool, name);
    const char *text = json_get_str(params, arg->name, len);
    if (text == NULL && len != NULL)
        *len = arg->fallback != NULL ? strlen(arg->fallback) : 0;
    return text != NULL ? text : arg->fallback;
}

int64_t schema_int(const struct tool *tool, const struct json *params, const char *name,
                   int64_t fallback)
{
    const struct tool_arg *arg = row(tool, name);
    int64_t number = fallback;
    BUG_UNLESS(arg->type == ARG_UINT);
    if (!json_get_int(params, arg->name, &number) && arg->fallback != NULL)
        value_int(arg->fallback, 0, INT64_MAX, &number);
    return number;
}

bool schema_bool(const struct tool *tool, const struct json *params, const char *name,
                 bool fallback)
{
    const struct tool_arg *arg = row(tool, name);
    bool truth = fallback;
    BUG_UNLESS(arg->type == ARG_BOOL);
    if (!json_get_bool(params, arg->name, &truth) && arg->fallback != NULL)
        value_bool(arg->fallback, &truth);
    return truth;
}

const struct json *schema_meta(const struct json *params)
{
    return json_get(params, "_meta");
}

const char *schema_session(const struct json *value, char room[SCHEMA_SESSION_ROOM])
{
    int64_t number = 0;
    const char *name = json_str(value, NULL);
    if (name != NULL)
        return name;
    json_int(value, &number);
    snprintf(room, SCHEMA_SESSION_ROOM, "%lld", (long long)number);
    return room;
}
