/* command: what a shell tool is to run, as an argument vector and as words for people. */
#ifndef MUXD_CMD_COMMAND_H
#define MUXD_CMD_COMMAND_H
#include "cmd/cmd.h"

struct tool;

struct command {
    char *shown; /* owned; as a person would type it */
    char **argv; /* owned; strv */
    /* owned; the name of a session that is given none, made from the first word; NULL: made from
     * argv[0] */
    char *name;
};

/* The text goes to a shell: the call's, the config's or that of env. [limits] argv holds. The
 * caller owes command_fini in any case. 0, or ERR_SPAWN (no such shell) or ERR_LIMIT. Whether it
 * may run is gate.h's business. */
int command_from_text(struct command *command, const struct config *cfg, const char *shell,
                      bool login, const char *text, char *const *env, struct err *err);
/* The same for the call of a tool, which may name a shell and ask for a login shell. ERR_ARGUMENTS:
 * login shells are forbidden ([tools] allow_login). */
int command_from_call(struct command *command, const struct config *cfg, struct request *request,
                      const struct tool *tool, const char *text, char *const *env, struct err *err);
/* The words, an array of strings, are the argument vector. */
int command_from_words(struct command *command, const struct config *cfg, const struct json *words,
                       struct err *err);
void command_fini(struct command *command); /* safe on a zeroed one */
/* The limits that the config sets for a new session. */
void command_limits(struct session_spec *spec, const struct config_limits *limits);
#endif
