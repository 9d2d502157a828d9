/* shell: which shell runs a command string, and the argument vector for it (CODEX.md 4, steps 7 and
 * 8). Pure but for looking at files. */
#ifndef MUXD_SESSION_SHELL_H
#define MUXD_SESSION_SHELL_H
#include "base/err.h"
#include <stdbool.h>
/* shell: wish of the caller or NULL (then $SHELL of env, passwd, /bin/sh). A shell that doesn't
 * exist or isn't executable: ERR_SPAWN naming it. *argv: NULL-terminated, freed with strv_free.
 * login: -lc where the shell knows it (bash, zsh, sh, dash, ksh), fish -l -c. */
int shell_argv(const char *shell, bool login, const char *cmd, char *const *env, char ***argv,
               struct err *err);
/* Base name for a session's default name: of the program, or of the first word of a shell string
 * that is no assignment. The caller's; "sh" when nothing fits. */
char *shell_default_name(const char *cmd, char *const *argv);
#endif
