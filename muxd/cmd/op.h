/* op: a parked request about one session: what it waits for, where its output begins, how the
 * answer looks. Shared by the handlers that start, write to and read from sessions. */
#ifndef MUXD_CMD_OP_H
#define MUXD_CMD_OP_H
#include "cmd/inflight.h"
#include "cmd/patterns.h"
#include "wire/schema.h"

struct op {
    struct inflight base;
    struct patterns patterns;
    bool idle_interrupt;   /* C-c for a session that had ended already: a success that says so */
    bool polls;            /* it only asks for what is new */
    /* the answer */
    /* replaced: the reader that was dropped to make room for this one */
    char reader[JOURNAL_READER_NAME_MAX + 1], replaced[JOURNAL_READER_NAME_MAX + 1];
    bool peek, base64, streams, tokens_given;
    bool marks; /* those that muxd has had written stay in the output */
    bool text; /* the output as a person would read it (term/plain.h) */
    uint64_t from;
    int64_t max_tokens, max_bytes, max_line; /* max_line 0: lines are not cut */
    bool has_to;                             /* a range of the output is asked for: up to `to` */
    uint64_t to;
    struct typing *typing; /* typing.c; owned; NULL: nothing is to be typed, or the call is over */
    int64_t held_from_ns;  /* when its input came, while the session was held; 0: it was not held */
    enum { SUBMIT_NOT, SUBMIT_PENDING, SUBMIT_DONE } submit;
    bool bracketed; /* the pasted text was marked as a paste */
};

/* A new op for the request; parses the arguments that these tools share. NULL: the request was
 * failed already. */
struct op *op_new(struct cmd_context *ctx, struct request *request, const struct tool *tool);
void op_fail(struct op *op, const struct err *err); /* answers with err; the op may be freed */
/* ERR_ARGUMENTS for a verb's -y over [limits] max_wait */
int op_check_wait(const struct cmd_context *ctx, int64_t yield_ms, struct err *err);
/* The conditions and the deadline that the arguments ask for. typed: this call writes something.
 * session NULL: not started yet. 0 or an error for op_fail. */
int op_wait_spec(struct op *op, struct session *session, bool typed, bool is_tty,
                 struct wait_spec *spec, struct err *err);
/* Sets `from`: the place of this op's reader, or what `since` says. ERR_ARGUMENTS for a range that
 * the output can't have. */
int op_set_from(struct op *op, struct session *session, struct err *err);
#endif
