/* sandboxing: the sandbox that a call asks for, and what the daemon says of sandboxes. */
#ifndef MUXD_CMD_SANDBOXING_H
#define MUXD_CMD_SANDBOXING_H
#include "cmd/cmd.h"
#include "confine/confine.h"

struct config_policy;
struct tool;

struct sandboxing {
    struct confine_wish wish; /* its paths are those below */
    bool confined;            /* false: it may do everything */
    bool by_policy;           /* a policy confines it, so that an approval may set it free */
    struct strv roots, unreadable, readable, found;
    char *workspace;
};
/* The arguments of a call (ARGS_SANDBOX), of a tool that has them; relative paths begin in cwd. The
 * caller owes sandboxing_fini in any case. ERR_ARGUMENTS: they don't go together. */
int sandboxing_read(struct sandboxing *sandboxing, const struct tool *tool,
                    const struct json *params, const char *cwd, struct err *err);
/* The same under a policy (NULL: none): its sandbox, around the directory that the client works in,
 * or a narrower one that the call asks for. ERR_DENIED: it asks for more. */
int sandboxing_decide(struct sandboxing *sandboxing, const struct config_policy *policy,
                      struct request *request, const struct tool *tool, const char *cwd,
                      struct err *err);
void sandboxing_fini(struct sandboxing *sandboxing); /* as before sandboxing_read */
/* In words, as a person is asked: "workspace-write, network". */
void sandboxing_words(const struct sandboxing *sandboxing, struct buf *out);
/* Whether a call asks for one. */
bool sandboxing_wanted(const struct tool *tool, const struct json *params);
/* The line of `ue status`. */
void sandboxing_status(struct cmd_context *ctx, struct json *into);
#endif
