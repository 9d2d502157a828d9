/* confine_git: what inside a writable root is kept read-only, though it does not lie at its top. */
#ifndef MUXD_CONFINE_CONFINE_GIT_H
#define MUXD_CONFINE_CONFINE_GIT_H
#include "confine/confine.h"

/* The path, if it lies in a writable root, is kept read-only, and the directories between them
 * stay where they are. */
void confine_keep(struct confine_plan *plan, const char *path);
/* What leads to the path inside the writable roots stays where it is. */
void confine_pin(struct confine_plan *plan, const char *path);
/* The file .git of root (a worktree, a submodule) names a directory: that one is kept, and the one
 * that it shares with others. */
void confine_git_keep(struct confine_plan *plan, const char *root, const char *file);

/* confine_plan.c */
void confine_sort(struct strv *paths); /* parents first */
void confine_add_once(struct strv *list, const char *path);
#endif
