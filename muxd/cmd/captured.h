/* captured: what steps have taken from a session's output by name, for later steps to type. */
#ifndef MUXD_CMD_CAPTURED_H
#define MUXD_CMD_CAPTURED_H
#include "base/err.h"
#include "wire/json.h"

/* After a match: when wanted, the argument of an `expect`, has a `capture`, the match's first
 * group, or all of it where there is none, is kept in captured, an object of texts, under that
 * name. */
void captured_note(struct json *captured, const struct json *wanted, const struct json *match);
/* The text of a `write` that is no object: a text, or an array of texts and {"captured": NAME}, as
 * `chars` of params. 0, or ERR_ARGUMENTS: it is something else, or nothing was captured by that
 * name. */
int captured_write(struct json *params, const struct json *value, const struct json *captured,
                   struct err *err);
#endif
