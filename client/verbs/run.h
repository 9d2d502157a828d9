/* run: the one way of all verbs that send one call and print its answer. */
#ifndef MUXD_CLIENT_RUN_H
#define MUXD_CLIENT_RUN_H
#include "client/rpc/params.h"
#include "client/rpc/ue.h"

struct run {
    const char *tool; /* NULL: the verb's */
    unsigned meta;    /* enum meta_flags; META_VERB besides, unless --args is given */
    unsigned call;    /* enum call_flags */
    /* What the rows of the tables can't say, into params. 0 or an error. NULL: nothing. Not called
     * with --args. */
    int (*fill)(struct ue *ue, struct json *params, struct err *err);
    /* For people; --json prints the result as it is. NULL: its text, else its members, a line
     * each. */
    void (*print)(struct ue *ue, const struct json *params, const struct json *result);
    /* ue's exit status. NULL: 0. */
    int (*status)(struct ue *ue, const struct json *result);
    /* NULL: talk_fail. */
    int (*fail)(struct ue *ue, const struct json *params, const struct err *err);
};

/* The argument object with its context: --args as it is, else what the command line says. The
 * caller's; NULL and err. */
struct json *run_params(struct ue *ue, const struct run *run, struct err *err);
/* Asks, prints, returns ue's exit status. */
int run_verb(struct ue *ue, const struct run *run);
/* The same for a tool whose answer is about one session: printed as --json, --raw or the model's
 * text, and its status is ue's. */
int run_talk(struct ue *ue, const struct run *run);
/* A verb that has no function of its own (PLAIN in commands.def). */
ue_verb_fn run_plain;
#endif
