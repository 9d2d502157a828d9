/* patch_recorded: what a patch puts on record: before it writes, and when it has. */
#ifndef MUXD_CMD_PATCH_RECORDED_H
#define MUXD_CMD_PATCH_RECORDED_H
#include "cmd/cmd.h"
#include "wire/tool.h"

struct patch_plan;

struct patch_recorded {
    struct cmd_context *ctx;
    struct json *facts; /* owned: who asks; NULL: it does not go on record */
    char *id;           /* owned; NULL: it has not begun */
    struct json *by;    /* owned: who lets it begin, for the record of that */
    bool granted;       /* it is a person's yes, which owes a record of its effect */
};
/* While its request is being handled. base: the directory of the call; roots: where patches may
 * write is limited. */
void patch_recorded_init(struct patch_recorded *recorded, struct cmd_context *ctx,
                         struct request *request, const struct tool *tool, const char *cwd,
                         bool roots);
void patch_recorded_fini(struct patch_recorded *recorded);
/* Adds path, kind and, when moved, from of each file of the plan: "files". */
void patch_recorded_add_files(struct json *into, const struct patch_plan *plan);
/* It is about to write. 0 or ERR_AUDIT: then it must not. */
int patch_recorded_begin(struct patch_recorded *recorded, const struct patch_plan *plan,
                         struct err *err);
/* It may not write there; plan may be NULL. */
void patch_recorded_refused(struct patch_recorded *recorded, const struct patch_plan *plan,
                            const char *reason);
/* It has written (0), or has failed. Nothing when it has not begun. */
void patch_recorded_end(struct patch_recorded *recorded, int exit_code);
#endif
