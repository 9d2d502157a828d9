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
/* For a tool, as Codex: bash, zsh and sh, by name or by a path where there is none, are the user's
 * own shell if that is of the same kind, else the first of the name in PATH. The path, or wish
 * where this doesn't apply; the caller's. */
char *shell_for_tool(const char *wish, char *const *env);
/* Base name for a session's default name: of the program, or of the first word of a shell string
 * that is no assignment. The caller's; "sh" when nothing fits. */
char *shell_default_name(const char *cmd, char *const *argv);
#endif
