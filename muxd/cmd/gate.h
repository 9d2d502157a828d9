/* gate: refuses a command that the rules of the config don't let run. */
#ifndef MUXD_CMD_GATE_H
#define MUXD_CMD_GATE_H
#include "config/config.h"

/* 0, or ERR_DENIED with the text that Codex has for it (CODEX.md 15.5). argv as it would be
 * executed, at least one word. */
int gate_command(const struct config *cfg, char *const *argv, struct err *err);
#endif
