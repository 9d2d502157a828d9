/* schemas: which tools the daemon offers, for `ue tools` and the MCP server. */
#ifndef MUXD_CLIENT_SCHEMAS_H
#define MUXD_CLIENT_SCHEMAS_H
#include "wire/json.h"
#include "wire/schema.h"

extern const char *const schemas_formats[SCHEMA_FORMAT_COUNT]; /* as --format takes them */
/* An array of the tools that the daemon shows to models, in the order of the tables. listed: the
 * answer of the method `tools`. The caller's. */
struct json *schemas_offered(const struct json *listed, enum schema_view view,
                             enum schema_format format);
#endif
