/* verb: the rows of commands.def as data: the verbs of ue with options and operands. Read by the
 * command line parser, the help, the completions and the man page. */
#ifndef MUXD_WIRE_VERB_H
#define MUXD_WIRE_VERB_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tool_arg;

enum verb_id {
#define VERB(ident, ...) VERB_##ident,
#define OPTION(...)
#define END(ident)
#include "wire/commands.def"
#undef VERB
#undef OPTION
#undef END
    VERB_COUNT_
};

enum option_type {
    OPTION_FLAG = 1, /* takes no value */
    OPTION_TEXT,
    OPTION_UINT, /* .min to .max */
    OPTION_MS,   /* 250, 10s, 5m; inf (INT64_MAX) where .max is 0 */
    OPTION_SIZE, /* ROWSxCOLS: sets the arguments rows and cols */
    OPTION_ENV,  /* NAME=VALUE */
    OPTION_SIGNAL,
};

/* The candidates for the completion of a value or an operand. */
enum complete_kind {
    COMPLETE_NONE,
    COMPLETE_SESSION, /* live sessions */
    COMPLETE_ENDED,   /* ended sessions */
    COMPLETE_CONFIGURED, /* configured sessions that don't run */
    COMPLETE_STARTABLE, /* live sessions, and configured ones that start on demand */
    COMPLETE_FILE,
    COMPLETE_DIR,
    COMPLETE_COMMAND,
    COMPLETE_SHELL, /* /etc/shells */
    COMPLETE_SIGNAL,
    COMPLETE_KEY,
    COMPLETE_SIZE,
    COMPLETE_VERB,
    COMPLETE_TOOL,
    COMPLETE_ENV, /* names of variables with = */
    COMPLETE_EVENT, /* types of events, and all */
    COMPLETE_FORMAT, /* of the schemas of tools */
};

struct verb_option {
    const char *name; /* the long form without dashes, and the key for args_get */
    char letter;      /* the short form; 0: none */
    const char *metavar;   /* name of its value; NULL: it takes none */
    enum option_type type; /* 0: the argument's */
    int64_t min, max;      /* OPTION_UINT, OPTION_MS; both 0: the argument's */
    bool repeats;          /* may be given several times; otherwise the last one holds */
    const char *argument;  /* the tool's argument that it sets; NULL: none, it is for ue itself */
    const char *sets;      /* the value that a flag sets: a word, an item of a list; NULL: true */
    /* names, separated by blanks, of options that it excludes */
    const char *excludes;
    /* COMPLETE_NONE: the choices of the argument, or its numbers if these are few */
    enum complete_kind complete;
    const char *help; /* NULL: the argument's */
};

#define VERB_OPERANDS_MAX 3

struct verb {
    const char *name;      /* "" for VERB_GLOBAL, whose options stand before the verb or after it */
    const char *tool;      /* the method that it calls; NULL: none, or it depends */
    /* the tool's argument that each operand sets; NULL: the verb's function sets it. The last one
     * takes all further operands: a list as it is, a text joined with blanks */
    const char *arguments[VERB_OPERANDS_MAX];
    const char *summary;   /* one line, lower case, no full stop */
    const char *operands;  /* as the usage shows them; NULL: none */
    int operands_min;
    int operands_max;      /* -1: any number */
    /* names of options, separated by blanks, that make operands unnecessary */
    const char *unless;
    bool operands_end_options; /* the first operand ends the options (exec) */
    bool hidden;           /* neither in help nor in completions */
    /* of each operand; the last one holds for all further ones */
    enum complete_kind complete[VERB_OPERANDS_MAX];
    const char *help;      /* the help text; each line, ended by \n, is a paragraph */
    const char *examples;  /* "command\twhat it does\n"… */
    const struct verb_option *options; /* ends with a row whose name is NULL */
};

extern const struct verb verbs[VERB_COUNT_];
const struct verb *verb_by_name(const char *name); /* also by an alias; NULL: no such verb */
/* ERR_USAGE: no verb is called so, and what the person may have meant. */
int verb_unknown(const char *word, struct err *err);
/* an option of the verb or a global one; NULL: neither */
const struct verb_option *verb_option_by_name(const struct verb *verb, const char *name,
                                              size_t len);
const struct verb_option *verb_option_by_letter(const struct verb *verb, char letter);
/* The argument of that name of the verb's tool; NULL: name is NULL, the verb has no tool, or the
 * tool has no such argument. */
const struct tool_arg *verb_argument(const struct verb *verb, const char *name);
/* A row of the verb, or a global one, completed from its argument: type, bounds, help. */
struct verb_option verb_option_full(const struct verb *verb, const struct verb_option *row);
/* Whether one of the two excludes the other. */
bool verb_option_excludes(const struct verb_option *row, const struct verb_option *other);
#endif
