/* rules_import: rules files of Codex (*.rules: prefix_rule and host_executable calls with literal
 * arguments) as [rule NAME] sections of muxd.ini. Pure. */
#ifndef MUXD_GUARD_RULES_IMPORT_H
#define MUXD_GUARD_RULES_IMPORT_H
#include "base/buf.h"
#include "base/err.h"

#define RULES_IMPORT_MAX_CALLS 512 /* of one file */

/* Appends the sections to out. What is not literal, or can't be said in muxd.ini, is refused: a
 * negative error with "line N: …", and out is to be thrown away. name stands for the file in the
 * first comment. */
int rules_import(const char *name, const char *text, struct buf *out, struct err *err);
#endif
