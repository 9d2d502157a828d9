/* schema_json: owns the JSON schemas of tools.def, in the form that each API wants. */
#include "base/value.h"
#include "wire/schema.h"
#include <string.h>

static void add_types(struct json *property, const char *key, const char *first, const char *second)
{
    if (second == NULL) {
        json_add_text(property, key, first);
        return;
    }
    struct json *types = json_add_array(property, key);
    json_add_text(types, NULL, first);
    json_add_text(types, NULL, second);
}

static void add_item_type(struct json *property, const char *key, const char *first,
                          const char *second)
{
    add_types(json_add_object(property, key), "type", first, second);
}

/* Codex has one type for each argument. Where muxd has two, models are shown the one that they
 * know. */
static void add_type(struct json *property, const struct tool_arg *arg, enum schema_view view)
{
    switch (arg->type) {
    case ARG_STRING: add_types(property, "type", "string", NULL); break;
    case ARG_UINT: add_types(property, "type", "number", NULL); break;
    case ARG_BOOL: add_types(property, "type", "boolean", NULL); break;
    case ARG_COMMAND:
        add_types(property, "type", "string", view == SCHEMA_ALL ? "array" : NULL);
        if (view == SCHEMA_ALL)
            add_item_type(property, "items", "string", NULL);
        break;
    case ARG_SESSION:
        add_types(property, "type", "number", view == SCHEMA_CODEX ? NULL : "string");
        break;
    case ARG_SESSIONS:
        add_types(property, "type", "array", NULL);
        add_item_type(property, "items", "number", "string");
        break;
    case ARG_PATTERNS:
        if (view != SCHEMA_ALL) {
            add_types(property, "type", "string", NULL);
            break;
        }
        add_types(property, "type", "string", "array");
        json_add_text((struct json *)(uintptr_t)json_get(property, "type"), NULL, "object");
        add_item_type(property, "items", "string", NULL);
        add_item_type(property, "additionalProperties", "string", NULL);
        break;
    case ARG_STRINGS:
        add_types(property, "type", "array", NULL);
        add_item_type(property, "items", "string", NULL);
        break;
    case ARG_ENV:
        add_types(property, "type", "object", NULL);
        add_item_type(property, "additionalProperties", "string", NULL);
        break;
    case ARG_OBJECTS:
        add_types(property, "type", "array", NULL);
        add_item_type(property, "items", "object", NULL);
        break;
    case ARG_OBJECT: add_types(property, "type", "object", NULL); break;
    case ARG_ID: add_types(property, "type", "integer", "string"); break;
    }
}

/* Models are not shown the bounds, to save tokens: a refusal names them. */
static void add_limits(struct json *property, const struct tool_arg *arg, enum schema_view view,
                       const char *choices_left)
{
    if (arg->type == ARG_UINT && arg->max != 0 && view != SCHEMA_MODEL) {
        json_add_int(property, "minimum", arg->min);
        json_add_int(property, "maximum", arg->max);
    }
    if (arg->choices == NULL)
        return;
    struct json *choices = json_add_array(property, "enum");
    for (const char *at = choices_left; *at != '\0'; at += strspn(at, " ")) {
        json_add_str(choices, NULL, at, strcspn(at, " "));
        at += strcspn(at, " ");
    }
}

/* Models are not told that an absent argument is false or empty. */
static void add_default(struct json *property, const struct tool_arg *arg, enum schema_view view)
{
    bool truth = false;
    int64_t number = 0;
    if (arg->fallback == NULL || (view == SCHEMA_MODEL && arg->fallback[0] == '\0'))
        return;
    if (arg->type == ARG_BOOL && value_bool(arg->fallback, &truth)) {
        if (truth || view != SCHEMA_MODEL)
            json_add_bool(property, "default", truth);
    } else if (arg->type == ARG_UINT && value_int(arg->fallback, 0, INT64_MAX, &number)) {
        json_add_int(property, "default", number);
    } else {
        json_add_text(property, "default", arg->fallback);
    }
}

static bool is_shown(const struct tool_arg *arg, enum schema_view view)
{
    switch (view) {
    case SCHEMA_CODEX: return !(arg->flags & ARG_MUXD);
    case SCHEMA_MODEL: return !(arg->flags & ARG_PLUMBING);
    case SCHEMA_ALL: break;
    }
    return true;
}

static bool schema_json_is_among(const struct json *names, const char *name)
{
    for (const struct json *it = json_first(names); it != NULL; it = json_next(it))
        if (strcmp(json_str(it, NULL) ? json_str(it, NULL) : "", name) == 0)
            return true;
    return false;
}

/* What the caller's policy lets it ask for; NULL: not this. */
static const struct json *asked_by(const struct json *listed, const char *name)
{
    const struct json *it = json_first(json_get(listed, "with"));
    for (const char *other; it != NULL; it = json_next(it))
        if ((other = json_get_str(it, "name", NULL)) != NULL && strcmp(other, name) == 0)
            break;
    return it;
}

/* Where one type of two is shown, or one choice is left, its words are about that one. */
static const char *help_of(const struct tool_arg *arg, enum schema_view view, const char *left)
{
    bool one = arg->choices != NULL
                   ? strchr(left, ' ') == NULL
                   : view == SCHEMA_CODEX ||
                         (view == SCHEMA_MODEL &&
                          (arg->type == ARG_COMMAND || arg->type == ARG_PATTERNS));
    return one && arg->plain_help != NULL ? arg->plain_help : arg->help;
}

struct json *schema_view(const struct tool *tool, enum schema_view view,
                         const struct json *listed)
{
    struct json *schema = json_object_new();
    if (tool->own && view == SCHEMA_CODEX)
        view = SCHEMA_MODEL;
    json_add_text(schema, "type", "object");
    struct json *properties = json_add_object(schema, "properties");
    struct json *required = json_array_new();
    for (const struct tool_arg *arg = tool->args; arg->name != NULL; arg++) {
        const struct json *asked = asked_by(listed, arg->name);
        const char *left = json_get_str(asked, "choices", NULL);
        left = left != NULL ? left : arg->choices;
        if (!is_shown(arg, view) || ((arg->flags & ARG_UNSHOWN) && asked == NULL) ||
            schema_json_is_among(json_get(listed, "without"), arg->name))
            continue;
        struct json *property = json_add_object(properties, arg->name);
        add_type(property, arg, view);
        json_add_text(property, "description", help_of(arg, view, left));
        add_limits(property, arg, view, left);
        add_default(property, arg, view);
        if (arg->flags & ARG_REQUIRED)
            json_add_text(required, NULL, arg->name);
    }
    if (json_first(required) != NULL)
        json_add(schema, "required", required);
    else
        json_free(required);
    json_add_bool(schema, "additionalProperties", false);
    return schema;
}

static void add_name(struct json *into, const struct tool *tool)
{
    json_add_text(into, "name", tool->name);
    json_add_text(into, "description", tool->description);
}

static void add_function(struct json *into, const struct tool *tool, enum schema_view view,
                         const struct json *listed)
{
    add_name(into, tool);
    json_add_bool(into, "strict", false); /* strict mode would make every argument required */
    json_add(into, "parameters", schema_view(tool, view, listed));
}

/* The input is text by a grammar, not an object. */
static void add_custom(struct json *into, const struct tool *tool)
{
    json_add_text(into, "type", "custom");
    add_name(into, tool);
    struct json *format = json_add_object(into, "format");
    json_add_text(format, "type", "grammar");
    json_add_text(format, "syntax", "lark");
    json_add_text(format, "definition", tool->grammar);
}

static void add_mcp(struct json *into, const struct tool *tool, enum schema_view view,
                    const struct json *listed)
{
    json_add_text(into, "name", tool->name);
    json_add_text(into, "title", tool->title);
    json_add_text(into, "description", tool->description);
    json_add(into, "inputSchema", schema_view(tool, view, listed));
    json_add(into, "outputSchema", schema_output(tool));
    struct json *hints = json_add_object(into, "annotations");
    json_add_text(hints, "title", tool->title);
    json_add_bool(hints, "readOnlyHint", tool->hints & TOOL_READ_ONLY);
    json_add_bool(hints, "destructiveHint", tool->hints & TOOL_DESTRUCTIVE);
    json_add_bool(hints, "idempotentHint", tool->hints & TOOL_IDEMPOTENT);
    json_add_bool(hints, "openWorldHint", tool->hints & TOOL_OPEN_WORLD);
}

struct json *schema_format(const struct tool *tool, enum schema_view view,
                           enum schema_format format, const struct json *listed)
{
    struct json *whole = json_object_new();
    switch (format) {
    case SCHEMA_OPENAI:
        if (tool->grammar != NULL) {
            add_custom(whole, tool);
            break;
        }
        json_add_text(whole, "type", "function");
        add_function(whole, tool, view, listed);
        break;
    case SCHEMA_OPENAI_CHAT:
        json_add_text(whole, "type", "function");
        add_function(json_add_object(whole, "function"), tool, view, listed);
        break;
    case SCHEMA_ANTHROPIC:
        add_name(whole, tool);
        json_add(whole, "input_schema", schema_view(tool, view, listed));
        break;
    case SCHEMA_MCP: add_mcp(whole, tool, view, listed); break;
    }
    return whole;
}
