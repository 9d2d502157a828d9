/* known: commands that are known to be safe, and dangerous ones (CODEX.md 17): what a policy goes
 * by where no rule says anything. Tables only; pure. */
#ifndef MUXD_GUARD_KNOWN_H
#define MUXD_GUARD_KNOWN_H
#include <stdbool.h>

/* The name of a program that is named without a directory, or in one of the system's; NULL: it is
 * somewhere else. Borrowed. */
const char *known_name(const char *word);

/* Whether one command, of plain words, only reads. A program counts by its bare name or in one of
 * the system's directories: /tmp/ls is not ls. At least one word. */
bool known_is_safe(char *const *words);
/* Whether it removes files without asking: rm -f, whatever its path. What it wraps is not looked
 * at: shell_runs does that. At least one word. */
bool known_is_dangerous(char *const *words);
#endif
