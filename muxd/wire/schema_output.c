/* schema_output: owns what the answers' objects look like for programs that check them (MCP's outputSchema). Members may be absent:
 * absent means unknown. More members may come, so none is refused. */
#include "wire/schema.h"
#include <string.h>

struct member {
    const char *name, *type, *other; /* JSON types; other: a second one, or NULL */
};

static const struct member of_session[] = {
    {"output", "string", NULL},        {"chunk_id", "string", NULL},      {"wall_time_seconds", "number", NULL},
    {"exit_code", "integer", NULL},    {"signal", "string", "integer"},   {"session_id", "integer", NULL},
    {"number", "integer", NULL},       {"name", "string", NULL},          {"state", "string", NULL},
    {"waiting_for", "string", "null"}, {"reason", "string", NULL},        {"evidence", "string", NULL},
    {"from", "integer", NULL},         {"to", "integer", NULL},           {"omitted_bytes", "integer", NULL},
    {"timed_out", "boolean", NULL},    {"children_left", "integer", NULL}, {NULL, NULL, NULL}};
static const struct member of_patch[] = {
    {"output", "string", NULL}, {"exit_code", "integer", NULL}, {"files", "array", NULL},
    {"wall_time_seconds", "number", NULL}, {NULL, NULL, NULL}};
static const struct member of_list[] = {{"sessions", "array", NULL}, {NULL, NULL, NULL}};

struct json *schema_output(const struct tool *tool)
{
    bool list = tool == &tools[TOOL_LIST_SESSIONS] || tool == &tools[TOOL_KILL_SESSION];
    struct json *schema = json_object_new();
    json_add_text(schema, "type", "object");
    struct json *properties = json_add_object(schema, "properties");
    for (const struct member *it = list ? of_list : tool == &tools[TOOL_APPLY_PATCH] ? of_patch : of_session; it->name; it++) {
        struct json *property = json_add_object(properties, it->name);
        if (it->other) {
            struct json *types = json_add_array(property, "type");
            json_add_text(types, NULL, it->type);
            json_add_text(types, NULL, it->other);
        } else {
            json_add_text(property, "type", it->type);
        }
    }
    return schema;
}
