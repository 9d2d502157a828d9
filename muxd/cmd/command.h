/* command: what a shell tool is asked to run, as an argument vector and as words for people. */
#ifndef MUXD_CMD_COMMAND_H
#define MUXD_CMD_COMMAND_H
#include "cmd/cmd.h"

struct command {
    char *shown; /* owned; as a person would type it */
    char **argv; /* owned; strv */
    /* owned; for a session that is given none: made from the first word; NULL: from argv[0] */
    char *name;
};

/* text goes to a shell: that of the call, of the config or of env. argv_bytes of the config holds.
 * command_fini is due in any case. 0, or ERR_SPAWN (no such shell), ERR_LIMIT. */
int command_from_text(struct command *command, const struct config *cfg, const char *shell,
                      bool login, const char *text, char *const *env, struct err *err);
/* An array of strings that is not empty is the argument vector itself. */
int command_from_words(struct command *command, const struct config *cfg, const struct json *words,
                       struct err *err);
void command_fini(struct command *command); /* safe on a zeroed one */
/* The limits that the config sets to a new session. */
void command_limits(struct session_spec *spec, const struct config_limits *limits);
#endif
