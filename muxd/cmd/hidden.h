/* hidden: what the patterns of a policy and of a call hide is looked for in a thread, before the
 * call is handled: a large tree takes seconds, and the loop never blocks. */
#ifndef MUXD_CMD_HIDDEN_H
#define MUXD_CMD_HIDDEN_H
#include "cmd/sandboxing.h"

/* True: the request was taken, and `again` is called with it once the files are found; a person's
 * yes by which it is handled goes with it. To be asked behind gate_default_waits and
 * gate_refuses_arguments, before anything is done. */
bool hidden_waits(struct cmd_context *ctx, struct request *request, const struct tool *tool,
                  void (*again)(struct cmd_context *ctx, struct request *request));
/* The same for what its handler knows to be hidden. */
bool hidden_search(struct cmd_context *ctx, struct request *request, const char *const *unreadable,
                   void (*again)(struct cmd_context *ctx, struct request *request));
/* Gives it what was found for this request, if that is what it hides. */
void hidden_give(const struct cmd_context *ctx, const struct request *request,
                 struct sandboxing *sandboxing);
#endif
