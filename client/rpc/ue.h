/* ue: what all verbs of the client share: command line, connection, exit statuses and messages. */
#ifndef MUXD_CLIENT_UE_H
#define MUXD_CLIENT_UE_H
#include "client/rpc/connect.h"
#include "wire/args.h"
#include <stdbool.h>

enum ue_exit { /* of the contract; errors have those of err_exit_status */
    UE_WRONG_USAGE = 64,
    UE_NO_DAEMON = 69,
    UE_FAIL_ON = 123, /* what --fail-on waits for came first */
    UE_NOT_TRUE = 124,
    UE_FAILED = 125,
    UE_INTERRUPTED = 130,
};

struct ue {
    struct args args;
    struct connection conn;
    int status_fd; /* --status-fd; -1: none */
    bool told;     /* the line was written to it */
    int64_t patience_ms; /* how long to wait for room in a session's input queue (typing.h) */
    /* most bytes of input that fit one request however they are encoded (typing_piece_max); 0: the
     * daemon was not asked yet */
    size_t piece_max;
    bool lost; /* raw_print missed some output */
};

/* One function for each VERB row of commands.def; returns the exit status. */
typedef int ue_verb_fn(struct ue *ue);
#define VERB(ident, ...) ue_verb_fn verb_##ident;
#define PLAIN(ident, ...)
#define OPTION(...)
#define END(ident)
#include "wire/commands.def"
#undef VERB
#undef OPTION
#undef END

int admin_version(struct ue *ue); /* --version */

/* Writes the error to stderr as "ue: SUBJECT: what is wrong; what to do" and to --status-fd as
 * "failed NAME". Returns ue's exit status. err->code is an error. */
int ue_fail(struct ue *ue, const struct err *err);
/* Writes one line to --status-fd, on the first call only: "exited CODE", "running NUMBER", … */
void ue_tell_status(struct ue *ue, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
