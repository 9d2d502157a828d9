/* additional: the permissions that one call asks for besides those of its policy's sandbox: the
 * argument additional_permissions (CODEX.md 9). A person is asked; a yes widens the sandbox of that
 * command by exactly these. */
#ifndef MUXD_CMD_ADDITIONAL_H
#define MUXD_CMD_ADDITIONAL_H
#include "cmd/sandboxing.h"

#define ADDITIONAL_WORD "with_additional_permissions"

/* Whether the call has asked for them by sandbox_permissions. */
bool additional_wanted(struct request *request, const struct tool *tool);
/* Why the argument can't be as it stands, CODEX.md 15.6; the caller's; NULL: it can. */
char *additional_refusal(const struct json *given);
/* Adds them to the sandbox, which is confined; relative paths begin in cwd. 0, or why no sandbox
 * can have them: then nobody needs to be asked. */
int additional_widen(struct sandboxing *sandboxing, struct cmd_context *ctx,
                     struct request *request, const char *cwd, char *const *env, struct err *err);
#endif
