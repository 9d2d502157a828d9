/* schemas: owns the choice of the schemas: those of the tools that the daemon offers. */
#include "client/rpc/schemas.h"
#include "base/bug.h"
#include <string.h>

const char *const schemas_formats[SCHEMA_FORMAT_COUNT] = {[SCHEMA_OPENAI] = "openai",
                                                          [SCHEMA_OPENAI_CHAT] = "openai-chat",
                                                          [SCHEMA_ANTHROPIC] = "anthropic",
                                                          [SCHEMA_MCP] = "mcp"};

static bool schemas_is_shown(const struct json *listed, const char *name)
{
    for (const struct json *it = json_first(json_get(listed, "tools")); it; it = json_next(it)) {
        const char *other = json_get_str(it, "name", NULL);
        bool shown = false;
        if (other && strcmp(other, name) == 0)
            return json_get_bool(it, "shown", &shown) && shown;
    }
    return false;
}

struct json *schemas_offered(const struct json *listed, enum schema_view view,
                             enum schema_format format)
{
    BUG_UNLESS((size_t)format < SCHEMA_FORMAT_COUNT);
    struct json *schemas = json_array_new();
    for (size_t i = 0; i < TOOL_COUNT_; i++)
        if (tools[i].kind == TOOL_MODEL && schemas_is_shown(listed, tools[i].name))
            json_add(schemas, NULL, schema_format(&tools[i], view, format, listed));
    return schemas;
}
