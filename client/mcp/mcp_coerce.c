/* mcp_coerce: owns the parsing of arguments that a client has sent as strings. */
#include "base/value.h"
#include "client/mcp/mcp.h"
#include "client/rpc/params.h"
#include <string.h>

static struct json *parsed(const char *text, size_t len, enum json_type type)
{
    struct err err;
    struct json *value = json_parse(text, len, &err);
    if (value && json_type(value) == type)
        return value;
    json_free(value);
    return NULL;
}

/* NULL: the string stays, and the daemon reports what is wrong with it. */
static struct json *mcp_coerce_value_of(const struct tool_arg *arg, const char *text, size_t len)
{
    bool truth;
    switch (arg->type) {
    case ARG_UINT: return parsed(text, len, JSON_NUMBER);
    case ARG_BOOL: return value_bool(text, &truth) ? json_bool_new(truth) : NULL;
    case ARG_SESSIONS:
    case ARG_STRINGS:
    case ARG_OBJECTS: return parsed(text, len, JSON_ARRAY);
    case ARG_ENV:
    case ARG_OBJECT: return parsed(text, len, JSON_OBJECT);
    case ARG_STRING:
    case ARG_PATTERNS:
    case ARG_COMMAND:
    case ARG_SESSION:
    case ARG_ID: break;
    }
    return NULL;
}

void mcp_coerce(const struct tool *tool, struct json *arguments)
{
    for (const struct tool_arg *arg = tool->args; arg->name; arg++) {
        size_t len;
        const char *key = arg->alias && json_get(arguments, arg->alias) ? arg->alias : arg->name;
        const char *text = json_get_str(arguments, key, &len);
        struct json *value = text ? mcp_coerce_value_of(arg, text, len) : NULL;
        if (value)
            params_set(arguments, key, value);
    }
}
