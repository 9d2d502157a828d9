/* tools: which tools the daemon offers, for `ue tools` and the MCP server. */
#ifndef MUXD_CLIENT_TOOLS_H
#define MUXD_CLIENT_TOOLS_H
#include "wire/json.h"
#include "wire/schema.h"
#include <stdbool.h>

/* listed is the answer of the method `tools`; shown: only tools that are listed to models, else also those that work unlisted. */
extern const char *const tools_formats[SCHEMA_FORMAT_COUNT]; /* as --format takes them */
bool tools_has(const struct json *listed, const char *name, bool shown);
/* The tools that are shown, in the order of the tables, as an array in that format. The caller's. */
struct json *tools_schemas(const struct json *listed, enum schema_view view, enum schema_format format);
#endif
