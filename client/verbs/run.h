/* run: runs a verb that sends one call and prints its answer. */
#ifndef MUXD_CLIENT_RUN_H
#define MUXD_CLIENT_RUN_H
#include "client/rpc/params.h"
#include "client/rpc/ue.h"

struct run {
    const char *tool; /* NULL: the verb's */
    unsigned meta;    /* enum meta_flags; META_VERB besides, unless --args is given */
    unsigned call;    /* enum call_flags */
    /* Adds to params what the rows of the tables can't say. 0 or an error. Not called with --args.
     * NULL: nothing to add. */
    int (*fill)(struct ue *ue, struct json *params, struct err *err);
    /* Prints the result for people (--json prints it as it is). NULL: prints its text, or else its
     * members. */
    void (*print)(struct ue *ue, const struct json *params, const struct json *result);
    /* ue's exit status. NULL: 0. */
    int (*status)(struct ue *ue, const struct json *result);
    /* Reports an error and returns ue's exit status. NULL: talk_fail. */
    int (*fail)(struct ue *ue, const struct json *params, const struct err *err);
};

/* The argument object with its context: that of --args, else made from the command line. The
 * caller's; NULL and err. */
struct json *run_params(struct ue *ue, const struct run *run, struct err *err);
/* Asks, prints, returns ue's exit status. */
int run_verb(struct ue *ue, const struct run *run);
/* The same for a tool whose answer is about one session (talk.h): its status is ue's. */
int run_talk(struct ue *ue, const struct run *run);
/* "NAME (NUMBER)"; the number alone of what an earlier daemon left, whose names are gone. */
void run_append_session(struct buf *out, const struct json *session);
/* ", 1 process could not be ended: PID (COMMAND)" of an answer with survivors; else nothing. */
void run_append_survivors(struct buf *out, const struct json *result);
/* For struct run: 0, or UE_FAILED when one of the sessions in the answer has survivors. */
int run_survivors_status(struct ue *ue, const struct json *result);
/* The function of verbs that need no own one (PLAIN in commands.def). */
ue_verb_fn run_plain;
#endif
