/* schema: the arguments of a tool and its rows of tools.def: validation, typed reading with
 * defaults, and the JSON schema of a tool. After schema_check has returned 0, params has only
 * known arguments, under their canonical names, of the right type and in range, without nulls;
 * so the getters can't fail on the type. */
#ifndef MUXD_WIRE_SCHEMA_H
#define MUXD_WIRE_SCHEMA_H
#include "base/err.h"
#include "wire/json.h"
#include "wire/tool.h"

/* Checks params, an object, and its member `_meta`, if there is one, by the rows of TOOL_META.
 * Edits them: renames aliases, drops ignored fields and the nulls of arguments that may be
 * absent. ignore_fields: NULL, or names ending with NULL that are dropped unchecked. 0;
 * ERR_ARGUMENTS "failed to parse function arguments: …", which names the field. */
int schema_check(const struct tool *tool, struct json *params, const char *const *ignore_fields,
                 struct err *err);

/* Parses the text of an argument object, as `ue call` and `--args` take it. Empty or blank text
 * is an empty object. NULL and ERR_ARGUMENTS "failed to parse function arguments: …": it is no
 * strict JSON, or no object. */
struct json *schema_parse(const char *text, size_t size, struct err *err);

/* Getters for checked params. A name that is no argument of the tool, or one of another type, is a
 * bug. */
bool schema_has(const struct json *params, const char *name);
/* the value, else the default, else NULL */
const char *schema_str(const struct tool *tool, const struct json *params, const char *name,
                       size_t *len);
/* the value, else the default, else fallback */
int64_t schema_int(const struct tool *tool, const struct json *params, const char *name,
                   int64_t fallback);
bool schema_bool(const struct tool *tool, const struct json *params, const char *name,
                 bool fallback);
/* the checked `_meta`, to be read with &tools[TOOL_META]; NULL: none */
const struct json *schema_meta(const struct json *params);

/* The text of an ARG_SESSION value: its name, or its number in digits written into room. */
#define SCHEMA_SESSION_ROOM 24
const char *schema_session(const struct json *value, char room[SCHEMA_SESSION_ROOM]);

/* Which of a tool's arguments a schema shows. */
enum schema_view {
    /* those that models trained on Codex know; muxd's own tools as SCHEMA_MODEL shows them */
    SCHEMA_CODEX,
    SCHEMA_ALL, /* all, muxd's additions too */
    /* all that models can use, in few tokens: without ARG_PLUMBING */
    SCHEMA_MODEL,
};
enum schema_format { SCHEMA_OPENAI, SCHEMA_OPENAI_CHAT, SCHEMA_ANTHROPIC, SCHEMA_MCP };
#define SCHEMA_FORMAT_COUNT (SCHEMA_MCP + 1)

/* The values returned are the caller's. */

/* {"type":"object","properties":…,"required":…,"additionalProperties":false}
 * listed: the answer of the method `tools`, which says by name what is left out (`without`) and
 * what of ARG_UNSHOWN is shown (`with`, with the choices that are left); NULL: the tables alone. */
struct json *schema_view(const struct tool *tool, enum schema_view view,
                         const struct json *listed);
/* A tool as an API wants it: OpenAI's Responses and Chat Completions, Anthropic's Messages, MCP's
 * tools/list (the newest revision). Responses gets a tool that has a grammar as a custom tool. */
struct json *schema_format(const struct tool *tool, enum schema_view view,
                           enum schema_format format, const struct json *listed);
/* the schema of the answer's object; schema_output.c */
struct json *schema_output(const struct tool *tool);
/* Whether word is one of an argument's choices, which are separated by blanks. */
bool schema_is_choice(const char *choices, const char *word);
#endif
