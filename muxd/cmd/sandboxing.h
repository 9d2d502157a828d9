/* sandboxing: the sandbox that a call asks for, and what the daemon says of sandboxes. */
#ifndef MUXD_CMD_SANDBOXING_H
#define MUXD_CMD_SANDBOXING_H
#include "cmd/cmd.h"
#include "confine/confine.h"

struct tool;

struct sandboxing {
    struct confine_wish wish; /* its paths are those below */
    bool confined;            /* false: the call asks for none */
    struct strv roots, unreadable;
};
/* The arguments of a call (ARGS_SANDBOX); relative paths begin in cwd. The caller owes
 * sandboxing_fini in any case. ERR_ARGUMENTS: they don't go together. */
int sandboxing_read(struct sandboxing *sandboxing, const struct tool *tool,
                    const struct json *params, const char *cwd, struct err *err);
void sandboxing_fini(struct sandboxing *sandboxing);
/* Whether a call asks for one. */
bool sandboxing_wanted(const struct tool *tool, const struct json *params);
/* The line of `ue status`. */
void sandboxing_status(struct cmd_context *ctx, struct json *into);
#endif
