/* schema_words: how refusals of arguments say what came and what is allowed, in the words that
 * models know from Codex (those of serde). */
#ifndef MUXD_WIRE_SCHEMA_WORDS_H
#define MUXD_WIRE_SCHEMA_WORDS_H
#include "wire/json.h"
#include "wire/tool.h"

/* "a string", "a whole number", … */
const char *schema_words_expected(enum arg_type type);
/* What came: "integer `5`", "string \"soon\"", "sequence"; long ones are cut. The caller's. */
char *schema_words_came(const struct json *value);
/* A client's word, cut and escaped for a text. The caller's. */
char *schema_words_shown(const char *text);
/* "one of `a`, `b`" of choices, which are separated by blanks. The caller's. */
char *schema_words_choices(const char *choices);
#endif
