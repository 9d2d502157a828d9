/* shell_runs: every command that an argument vector runs, as far as can be seen: the vector
 * itself, what it wraps (sudo, env, xargs, find -exec …), scripts for a shell, and so on.
 * For judging what must not run; there may be commands that nobody can see in the text. Pure. */
#ifndef MUXD_GUARD_SHELL_RUNS_H
#define MUXD_GUARD_SHELL_RUNS_H
#include "guard/shell_scan.h"

struct shell_runs {
    struct shell_command *commands; /* the first one is the vector itself */
    size_t count, words; /* words: of all but the first command */
    bool overflow; /* there are more than were looked at */
    bool dangerous; /* one of them is (known.h) */
};
/* argv ends with NULL and has at least one word. The caller owes shell_runs_fini. */
void shell_runs(struct shell_runs *runs, char *const *argv);
void shell_runs_fini(struct shell_runs *runs);

/* The script that argv gives to a shell: SHELL -c SCRIPT or SHELL -lc SCRIPT and no more words;
 * borrowed. NULL: it does not, or the program is no shell whose words are read here as it reads
 * them: sh, bash, dash, ksh or zsh, without a directory or in one of the system's. */
const char *shell_script_of(char *const *argv);
/* what follows the last slash; without one, what follows the = of zsh's =NAME */
const char *shell_base_name(const char *word);
#endif
