/* rules_import: rules files of Codex (*.rules: prefix_rule and host_executable calls with literal
 * arguments) as [rule NAME] sections of muxd.ini. Pure. */
#ifndef MUXD_GUARD_RULES_IMPORT_H
#define MUXD_GUARD_RULES_IMPORT_H
#include "base/buf.h"
#include <stddef.h>

#define RULES_IMPORT_MAX_CALLS 512 /* statements of one file */

/* A statement that is not literal, or that muxd.ini can't say: the line, and why. */
typedef void rules_import_refused(void *arg, int line, const char *why);
/* Appends the sections of all other statements to out; whether they are wanted without those that
 * were refused is the caller's to decide. name stands for the file in the first comment. Returns
 * how many sections there are. */
size_t rules_import(const char *name, const char *text, struct buf *out,
                    rules_import_refused *refused, void *arg);
#endif
