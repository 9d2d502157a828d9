/* confine_hide: what a plan hides. For this room only. */
#ifndef MUXD_CONFINE_CONFINE_HIDE_H
#define MUXD_CONFINE_CONFINE_HIDE_H
#include "confine/confine.h"

/* Fills hidden_dirs, hidden_files and asked; the roots are known by then. ERR_ARGUMENTS,
 * ERR_TOO_LARGE. */
int confine_hide(struct confine_plan *plan, const struct confine_wish *wish,
                 const struct confine_place *place, struct err *err);
bool confine_is_dir(const char *path); /* confine_plan.c */

/* confine_glob.c: appends the paths that match an absolute pattern as it is now: * and ? and [...]
 * within a name, ** for any number of directories; names with a dot count, and no link is followed
 * on the way. A pattern with none of these stands for itself. ERR_TOO_LARGE: there are more than
 * so many entries to look at, or more than CONFINE_GLOB_FOUND match. */
int confine_glob(const char *pattern, int entries, struct strv *out, struct err *err);
#define CONFINE_GLOB_FOUND 256
#define CONFINE_GLOB_DEPTH 64
#endif
