/* op: a parked request about one session: its wait, where its output begins, how the answer is to look. Shared by the handlers
 * that start, write to and read from sessions. */
#ifndef MUXD_CMD_OP_H
#define MUXD_CMD_OP_H
#include "cmd/cmd.h"
#include "session/owner.h"
#include "sys/pattern.h"
#include "wire/schema.h"

struct op {
    struct cmd_context *ctx;
    struct request *request; /* NULL once answered or cancelled */
    const struct tool *tool;
    uint64_t number; /* of the session */
    struct wait *wait;
    struct pattern *until;
    int64_t started_ns;
    unsigned holds; /* the request, the spawn that is under way: freed at 0 */
    bool starting, fired;      /* the spawn is under way: the answer waits for it, however short the wait is */
    struct wait_result result; /* when fired */
    bool idle_interrupt; /* C-c for a session that had ended already: a success that says so */
    bool polls; /* it only looks for what is new */
    /* the answer */
    char reader[JOURNAL_READER_NAME_MAX + 1], replaced[JOURNAL_READER_NAME_MAX + 1]; /* replaced: whose place it was given */
    bool peek, base64, streams, tokens_given;
    uint64_t from;
    int64_t max_tokens, max_bytes, max_line; /* max_line 0: lines are not cut */
    bool has_to;     /* a part of what was printed: up to `to` */
    uint64_t to;
    struct typing *typing;            /* typing.c; owned; NULL: nothing is to be typed, or it was */
    int64_t held_from_ns;             /* its input came while the session was held; 0: it did not */
    enum { SUBMIT_NOT, SUBMIT_PENDING, SUBMIT_DONE } submit;
    bool bracketed;                   /* what was pasted was marked as such */
};

/* A new op for the request: parses the arguments that all these tools share. NULL: the request was failed already. */
struct op *op_new(struct cmd_context *ctx, struct request *request, const struct tool *tool);
void op_free(struct op *op);
void op_fail(struct op *op, const struct err *err); /* answers with err and lets go */
int op_check_wait(const struct cmd_context *ctx, int64_t yield_ms, struct err *err); /* a verb's -y: ERR_ARGUMENTS over [limits] max_wait */
/* The conditions and the deadline that the arguments ask for. typed: this call writes something. 0 or an error for op_fail. */
int op_wait_spec(struct op *op, struct session *session, bool typed, bool is_tty, struct wait_spec *spec, struct err *err);
/* Registers the wait; the answer goes out when it ends. 0 or an error for op_fail. */
int op_park(struct op *op, struct session *session, const struct wait_spec *spec, struct err *err);
/* The answer goes out now for this reason; no wait is registered. */
void op_end(struct op *op, struct session *session, enum wait_reason reason);

/* typing.c: types what write_stdin says, now or when its turn has come, and parks the op. 0 or an error for op_fail. */
int typing_begin(struct op *op, struct session *session, const struct wait_spec *spec, struct err *err);
void typing_free(struct typing *typing); /* NULL is fine */
/* A spawn on whose behalf the answer waits, and its outcome. */
void op_starting(struct op *op);
void op_spawned(void *op, uint64_t number, const struct err *err);
void op_not_starting(struct op *op); /* it was refused at once */
/* Where this op's reader stands, or what `since` says. */
void op_set_from(struct op *op, struct session *session);

/* meta.c: the context of a request */
const char *meta_str(struct request *request, const char *name);
bool meta_bool(struct request *request, const char *name);
uint64_t meta_request_hash(struct request *request);          /* 0: none */
char *meta_cwd(struct request *request, const char *workdir); /* absolute; the caller's */
/* Whose environment a new session gets: the tools' ([env] of the config on top), people's (a TERM of their own), or just the caller's. */
enum meta_env_for { META_ENV_TOOLS, META_ENV_PEOPLE, META_ENV_CALLER };
char **meta_env(struct cmd_context *ctx, struct request *request, enum meta_env_for whose, const struct json *extra,
                struct err *err); /* strv; NULL: err */
mode_t meta_umask(struct request *request);
/* Who asks for a new session, and how: for the events. tool: what was called. */
void meta_source(struct request *request, const struct tool *tool, struct session_spec *spec);

/* attach_size.c: a request has set the size of the session: it stays until a terminal that shows it changes its own. */
void attach_hold_size(struct cmd_context *ctx, uint64_t number);
/* Whose terminal decides the session's size from now on: a word of [attach] size; another one: the config says. */
void attach_size_set(struct cmd_context *ctx, struct session *session, const char *word);
const char *attach_size_word(struct session *session); /* NULL: the config says */

struct author meta_author(struct request *request, enum input_who who); /* borrows from the request */

/* answer.c: the JSON object of an answer (contract, section 5) */
struct json *answer_build(struct op *op, struct session *session, const struct wait_result *result, uint64_t *to);
/* record.c */
struct recorder_facts;
void describe_recording(struct json *into, const struct recorder_facts *facts);
/* describe.c */
struct json *describe_session(struct session *session);
struct json *describe_parked(uint64_t number, const char *name, pid_t pid); /* registry_each_parked */
void describe_end(struct json *into, struct session *session); /* state, exit_code, signal … */
void describe_keyboard(struct json *into, struct session *session); /* member `keyboard`: who has it */
void describe_owner(struct json *into, const struct owner_state *state); /* uid, pid, client, since; nothing while it is nobody's */
/* failure.c: the model text that `ue call` prints for a refusal (data.content) */
void failure_reply(struct request *request, const struct tool *tool, const struct err *err);
#endif
