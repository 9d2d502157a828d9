/* patching: apply_patch, called as a tool or found to be all that a shell tool is to run
 * (CODEX.md 19). */
#ifndef MUXD_CMD_PATCHING_H
#define MUXD_CMD_PATCHING_H
#include "cmd/cmd.h"
#include "wire/tool.h"

/* command is what tool is to run (a string for a shell, or an argument vector), workdir where,
 * or NULL. True: the command is only a patch, which is applied without a shell; the request is
 * answered, now or later. */
bool patching_takes(struct cmd_context *ctx, struct request *request, const struct tool *tool,
                    const struct json *command, const char *workdir);
#endif
