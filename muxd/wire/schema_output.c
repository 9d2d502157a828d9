/* schema_output: owns the schemas of answers for programs that check them (MCP's outputSchema). A
 * member may be absent, which means unknown. Later versions may add members, so additional ones are
 * allowed. */
#include "base/bug.h"
#include "wire/schema.h"
#include "wire/shape.h"

static void add_member(struct json *properties, const struct shape_member *member)
{
    struct json *property = json_add_object(properties, member->name);
    const char *type = shape_json_type(member->type);
    if (member->other == SHAPE_NOT) {
        json_add_text(property, "type", type);
        return;
    }
    struct json *types = json_add_array(property, "type");
    json_add_text(types, NULL, type);
    json_add_text(types, NULL, shape_json_type(member->other));
}

static void add_members(struct json *properties, const struct shape *shape)
{
    if (shape->also != SHAPE_IS_ANY)
        add_members(properties, &shapes[shape->also]);
    for (const struct shape_member *it = shape->members; it->name; it++)
        if (it->shown)
            add_member(properties, it);
}

struct json *schema_output(const struct tool *tool)
{
    BUG_UNLESS(tool >= tools && tool < tools + TOOL_COUNT_);
    struct json *schema = json_object_new();
    json_add_text(schema, "type", "object");
    struct json *properties = json_add_object(schema, "properties");
    add_members(properties, &shapes[shape_of_tool((enum tool_id)(tool - tools))]);
    return schema;
}
