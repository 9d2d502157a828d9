/* patch_ask: whether a patch may write where its policy's sandbox does not let it: a person is
 * asked (CODEX.md 19.4). */
#ifndef MUXD_CMD_PATCH_ASK_H
#define MUXD_CMD_PATCH_ASK_H
#include "cmd/cmd.h"
#include "wire/tool.h"

struct patch_plan;
struct patch_ask { /* borrowed */
    struct cmd_context *ctx;
    struct request *request;
    const struct tool *tool;         /* the one that was called */
    const char *text, *cwd;          /* of the patch */
    const struct patch_plan *plan;   /* the refused one */
    const struct json *recorded;     /* who asks, for the record; NULL: nothing goes on record */
};
/* A person has said yes to this patch, from this directory. */
bool patch_ask_has_yes(const struct patch_ask *ask);
/* True: the policy lets it ask, and the request is parked until there is an answer. */
bool patch_ask_parks(const struct patch_ask *ask);
#endif
