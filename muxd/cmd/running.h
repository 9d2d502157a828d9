/* running: run_command and integrate_session: a program's prompt is waited for, the program is made
 * to write marks if it can be, the command is typed, and its end is waited for. Each wait is one
 * for the program to be ready: the marks say what it was that ended, and the kernel, where it
 * knows, that it has. */
#ifndef MUXD_CMD_RUNNING_H
#define MUXD_CMD_RUNNING_H
#include "cmd/inflight.h"
#include "parts/commands/commands.h"
#include "wire/schema.h"

#define RUNNING_PATIENCE_MS 1000 /* for a program that is not at its prompt */
#define RUNNING_ANSWER_MS 10000  /* for a program that was asked who it is */
#define RUNNING_NS_PER_MS 1000000LL

enum running_step {
    RUNNING_PROMPT,    /* waits for the prompt */
    RUNNING_ASKED,     /* the program was asked who it is */
    RUNNING_LINE,      /* it was given the line that makes it write marks */
    RUNNING_COMMAND,   /* the command was typed */
    RUNNING_INTERRUPT, /* it was not complete, and was given up */
};

struct running {
    struct inflight base;
    enum running_step step;
    bool integrates; /* and nothing else: integrate_session */
    bool tried;      /* whether its marks come is known by now */
    bool marked;     /* they do */
    bool resumes;    /* it goes on with what an earlier call has asked the program */
    bool incomplete; /* the program waits for the rest of the command */
    bool has_read;   /* its reader had read all output before */
    char reader[JOURNAL_READER_NAME_MAX + 1];
    const struct adapter *adapter; /* NULL: not known */
    int64_t deadline_ns;           /* CLOCK_MONOTONIC; INT64_MAX: none */
    int64_t typed_ms;              /* when the command was typed, since 1970 */
    int64_t typed_ns;              /* CLOCK_MONOTONIC */
    int64_t interrupt_ns;          /* until when the prompt is waited for that follows a ^C */
    uint64_t typed_at;             /* the end of the output then */
    uint64_t first_id;   /* the id of the first command that can be it; 0: none was expected */
    uint64_t level;      /* with which the program is being integrated */
    struct buf prompt;   /* the bytes of the line in which the command was typed */
    const char *why_not; /* static: why there are no marks; NULL: there are, or nobody tried */
};

/* running_integrate.c */
/* Types the question. 0, or an error; ERR_NOT_AVAILABLE: the program can't be integrated, and *why
 * is in running->why_not. */
int running_ask(struct running *running, struct session *session, struct err *err);
/* The program is ready after the question: types the line that belongs to its answer. */
int running_answered(struct running *running, struct session *session, struct err *err);
/* True: the program is ready after that, and its marks have come. */
bool running_came(struct running *running, struct session *session);

/* running_resume.c */
/* The request_hash of the question with which a program is integrated at this level. */
uint64_t running_question_hash(uint64_t level);
/* How far the integration is that a call has begun, of this or of a former worker, perhaps one that
 * is no more: RUNNING_ASKED or RUNNING_LINE, and *asked_at is the end of the output when the
 * question was typed. RUNNING_PROMPT: none is under way, as nothing was asked, or something else
 * was typed since, or its prompt has come. */
enum running_step running_found(struct session *session, uint64_t *asked_at);
/* True: the call takes that over, and waits for what the program says to what was typed last. */
bool running_resume(struct running *running, struct session *session);
/* The program is ready after a question that was taken over. True: it reads our second line. */
bool running_reads_line(const struct running *running, struct session *session,
                        const struct wait_result *result);

/* running_answer.c */
struct json *running_answer(struct running *running, struct session *session,
                            const struct wait_result *result);
/* Of integrate_session. */
struct json *running_told(struct running *running, struct session *session);
/* The last of the commands that this call may have run; NULL: none is known. */
const struct ran_command *running_command(const struct running *running,
                                          const struct session *session);
/* A command's members, without its output. */
void running_describe(struct json *into, const struct ran_command *command);
/* Adds the output [from, to) as `output`, as a person would read it, or `output_base64`, the exact
 * bytes; and `omitted_bytes`. */
struct running_output {
    const struct tool *tool;
    const struct json *params;
    uint64_t from, to;
    uint64_t first_id;  /* 0, or of the first of the commands whose outputs it is */
    const char *prompt; /* bytes of the prompt that may stand at its end; "": none */
    size_t prompt_size;
    const char *typed; /* NULL: its echo is not in the output */
};
void running_add_output(struct json *into, struct session *session,
                        const struct running_output *output);
/* About how large an answer gets that shows the output from there on. */
size_t running_need(struct session *session, uint64_t from);

/* running_type.c */
int running_type(struct running *running, struct session *session, const char *data, size_t size,
                 enum input_kind kind, uint64_t request_hash, struct err *err);
int running_wait(struct running *running, struct session *session, int64_t deadline_ns,
                 struct err *err);
/* For the program's answer to a line of ours. */
int running_wait_answer(struct running *running, struct session *session, struct err *err);
/* Keeps the line that the output ends in at `end`, as it was printed: of the prompt. */
void running_note_prompt(struct running *running, struct session *session, uint64_t end);
/* Types the command and parks the call. 0 or an error. */
int running_type_command(struct running *running, struct session *session, struct err *err);

/* running.c */
extern const struct inflight_kind running_kind;
/* The program waits for a line: 0, or an error. */
int running_at_prompt(struct running *running, struct session *session, struct err *err);
#endif
