/* ue: what all verbs of the client share: the command line, the one connection, exit statuses and
 * words for people. */
#ifndef MUXD_CLIENT_UE_H
#define MUXD_CLIENT_UE_H
#include "client/rpc/connect.h"
#include "wire/args.h"
#include <stdbool.h>

enum ue_exit { /* contract, section 2; the others come from err_exit_status */
    UE_WRONG_USAGE = 64,
    UE_NO_DAEMON = 69,
    UE_NOT_TRUE = 124,
    UE_FAILED = 125,
    UE_INTERRUPTED = 130,
};

struct ue {
    struct args args;
    struct connection conn;
    int status_fd; /* --status-fd; -1: none */
    bool told;     /* something was written to it */
    int64_t patience_ms; /* how long a session's full input queue is waited for (typing.h) */
    /* bytes of input in one request, whatever they are (typing_piece_max); 0: not asked yet */
    size_t piece_max;
};

/* One function for each VERB row of commands.def; it returns the exit status. A missing one is a
 * link error. */
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

/* The error goes to stderr as "ue: SUBJECT: what is wrong; what to do" and, as "failed NAME", to
 * --status-fd. Returns ue's exit status. */
int ue_fail(struct ue *ue, const struct err *err);
/* One line to --status-fd, the first time only: "exited CODE", "running NUMBER", … */
void ue_tell_status(struct ue *ue, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
