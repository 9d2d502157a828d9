/* schema_output: owns the schemas of answers for programs that check them (MCP's outputSchema). A
 * member may be absent, which means unknown. Later versions may add members, so additional ones are
 * allowed. */
#include "base/bug.h"
#include "wire/schema.h"

struct member {
    const char *name, *type, *other; /* JSON types; other: a second one, or NULL */
};

#define WHOSE /* the session of the answer, at the end of most answers */                          \
    {"session_id", "integer", NULL}, {"number", "integer", NULL}, {"name", "string", NULL},        \
        {"state", "string", NULL}, {"waiting_for", "string", "null"},                              \
        {"exit_code", "integer", NULL},                                                            \
    {                                                                                              \
        "signal", "string", "integer"                                                              \
    }
#define PRINTED /* the output, and how the wait for it ended */                                    \
    {"output", "string", NULL}, {"from", "integer", NULL}, {"to", "integer", NULL},                \
        {"omitted_bytes", "integer", NULL}, {"truncated", "object", NULL},                         \
        {"wall_time_seconds", "number", NULL}, {"reason", "string", NULL},                         \
        {"evidence", "string", NULL}, {"match", "object", NULL},                                   \
        {"children_left", "integer", NULL},                          \
    {                                                                                              \
        "note", "string", NULL                                                                     \
    }

static const struct member of_session[] = {
    WHOSE, PRINTED, {"chunk_id", "string", NULL}, {NULL, NULL, NULL}};
static const struct member of_typing[] = {WHOSE,
                                          PRINTED,
                                          {"chunk_id", "string", NULL},
                                          {"held_ms", "integer", NULL},
                                          {"submitted", "boolean", NULL},
                                          {"bracketed", "boolean", NULL},
                                          {NULL, NULL, NULL}};
static const struct member of_oneshot[] = {WHOSE,
                                           PRINTED,
                                           {"success", "boolean", NULL},
                                           {"timed_out", "boolean", NULL},
                                           {NULL, NULL, NULL}};
static const struct member of_steps[] = {
    WHOSE, {"completed", "integer", NULL}, {"steps", "array", NULL}, {NULL, NULL, NULL}};
static const struct member of_command[] = {WHOSE,
                                           PRINTED,
                                           {"command", "string", NULL},
                                           {"cwd", "string", NULL},
                                           {"start", "string", NULL},
                                           {"end", "string", NULL},
                                           {"status", "integer", NULL},
                                           {"by", "string", NULL},
                                           {"incomplete", "boolean", NULL},
                                           {NULL, NULL, NULL}};
static const struct member of_screen[] = {WHOSE,
                                          {"screen", "string", NULL},
                                          {"rows", "integer", NULL},
                                          {"cols", "integer", NULL},
                                          {"cursor", "object", NULL},
                                          {"title", "string", NULL},
                                          {"hash", "string", NULL},
                                          {NULL, NULL, NULL}};
static const struct member of_patch[] = {
    {"output", "string", NULL}, {"exit_code", "integer", NULL},        {"success", "boolean", NULL},
    {"files", "array", NULL},   {"wall_time_seconds", "number", NULL}, {NULL, NULL, NULL}};
static const struct member of_list[] = {{"sessions", "array", NULL}, {NULL, NULL, NULL}};

static const struct member *members_of(const struct tool *tool)
{
    BUG_UNLESS(tool >= tools && tool < tools + TOOL_COUNT_);
    switch ((enum tool_id)(tool - tools)) {
    case TOOL_LIST_SESSIONS:
    case TOOL_KILL_SESSION: return of_list;
    case TOOL_APPLY_PATCH: return of_patch;
    case TOOL_SHELL_COMMAND:
    case TOOL_SHELL: return of_oneshot;
    case TOOL_WRITE_STDIN: return of_typing;
    case TOOL_RUN_STEPS: return of_steps;
    case TOOL_RUN_COMMAND: return of_command;
    case TOOL_READ_SCREEN: return of_screen;
    default: return of_session;
    }
}

struct json *schema_output(const struct tool *tool)
{
    struct json *schema = json_object_new();
    json_add_text(schema, "type", "object");
    struct json *properties = json_add_object(schema, "properties");
    for (const struct member *it = members_of(tool); it->name; it++) {
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
