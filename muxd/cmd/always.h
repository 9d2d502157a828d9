/* always: rules that a person has approved for good, in the rules file beside the config. */
#ifndef MUXD_CMD_ALWAYS_H
#define MUXD_CMD_ALWAYS_H
#include "cmd/cmd.h"

/* Adds a [rule NAME] that allows commands which begin with these words, unless one does so already.
 * The file is replaced as a whole, or stays as it is. Where there is no config yet, the user gets
 * one without any key, so that rules can stand beside it. 0, ERR_CONFIG (a file is wrong) or
 * ERR_SYSTEM. */
int always_add(struct cmd_context *ctx, char *const *prefix, struct err *err);
#endif
