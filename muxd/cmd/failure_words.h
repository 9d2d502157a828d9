/* failure_words: the frame that Codex puts around a command that could not be started (CODEX.md 4,
 * step 12): the whole argument vector in a shell's quotes, and an error in Rust's debug form. */
#ifndef MUXD_CMD_FAILURE_WORDS_H
#define MUXD_CMD_FAILURE_WORDS_H
/* The words joined for a shell, each quoted only as far as needed: `/bin/bash -lc 'exit 3'`. The
 * caller's. */
char *failure_words_joined(char *const *argv);
/* `CreateProcess { message: "Rejected(\"Failed to create unified exec process: REASON\")" }`. The
 * caller's. */
char *failure_words_create_process(const char *reason);
/* The same for a command that may not start: "CreateProcess { message: … }" with this text. */
char *failure_words_rejected(const char *text);
#endif
