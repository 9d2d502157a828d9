/* args: the command line of ue, parsed by the rows of commands.def. Values are checked and decoded
 * here; the client acts on them. Everything in struct args is borrowed from argv and the tables,
 * except the two arrays. */
#ifndef MUXD_WIRE_ARGS_H
#define MUXD_WIRE_ARGS_H
#include "base/err.h"
#include "wire/verb.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct args_option {
    const struct verb_option *row;
    enum option_type type;
    const char *value; /* "" for flags */
    int64_t number;    /* OPTION_UINT; OPTION_MS (INT64_MAX: inf); OPTION_SIGNAL: its number */
    int rows, cols;    /* OPTION_SIZE */
};

struct args {
    const struct verb *verb; /* NULL: none given (help or version was asked for) */
    bool bare; /* no verb came, and nothing was wrong before its place */
    bool wants_help;         /* -h: print help_verb(verb) or, without verb, help_all */
    bool wants_version;
    struct args_option *options; /* owned; in the given order */
    size_t option_count;
    const char **operands; /* owned; NULL-terminated */
    size_t operand_count;
};

/* argv[0] is skipped. 0; or ERR_USAGE with a text such as "'exce': unknown verb; did you mean
 * 'exec'?" (the client puts "ue: " in front). With wants_help or wants_version the rest is not
 * checked. Call args_fini in any case. */
int args_parse(struct args *args, int argc, char *const *argv, struct err *err);
void args_fini(struct args *args); /* safe on a zeroed one */

/* Getters by long name. A name that neither the verb nor the global row has is a bug. Of an option
 * that is given several times the last one holds. */
bool args_has(const struct args *args, const char *name);
/* the value, "" for flags; NULL: not given */
const char *args_get(const struct args *args, const char *name);
/* OPTION_UINT, OPTION_MS and OPTION_SIGNAL */
int64_t args_int(const struct args *args, const char *name, int64_t fallback);
/* OPTION_SIZE; false: not given */
bool args_size(const struct args *args, const char *name, int *rows, int *cols);
/* Each occurrence in order; last: NULL or the result of the call before. */
const struct args_option *args_next(const struct args *args, const char *name,
                                    const struct args_option *last);
#endif
