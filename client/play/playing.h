/* playing: a script while it runs: for the files of this room. */
#ifndef MUXD_CLIENT_PLAYING_H
#define MUXD_CLIENT_PLAYING_H
#include "client/play/play.h"
#include "wire/json.h"
#include "wire/msg.h"

#define PLAY_VALUE_MAX (4u << 20)  /* bytes of a variable or of an expanded word */
#define PLAY_BEFORE_MAX (1u << 20) /* of ${before} and of a report's output */

enum play_flow { /* what comes after a command */
                 PLAY_NEXT,
                 PLAY_BREAK,
                 PLAY_CONTINUE,
                 PLAY_AGAIN,
                 PLAY_STOP, /* play->status is set */
};

struct play_variable {
    char *name, *data; /* data is NUL-terminated, too */
    size_t len;
};

struct played { /* a session */
    char *name; /* in the script */
    int64_t number;
    int64_t place; /* offset of the output behind the last match: what comes next is looked at */
    bool own, kept, closed; /* begun by the script; to be left running; ended by it */
    struct json *fail_on;   /* patterns; NULL: none */
};

struct play {
    struct ue *ue;
    const struct script *script;
    const char *const *operands; /* borrowed */
    size_t operand_count;
    unsigned flags;
    bool held; /* ^C ends the script */
    struct play_variable *variables;
    size_t variable_count;
    struct played *sessions;
    size_t session_count;
    size_t current; /* index of the session that commands act on; SIZE_MAX: none yet */
    int64_t timeout_ms;
    int status;
    bool interrupted;                 /* between two commands */
    const struct script_node *branch; /* to run in place of a block; NULL: none */
    const struct script_node *node;   /* that runs */
    struct json *report;              /* of that node, with PLAY_JSON; else NULL */
    int64_t begun_ms;                 /* clock_mono_ms */
};

struct play_step { /* a command with its words expanded */
    const struct script_node *node;
    struct buf *values;
    size_t count;
    struct played *session; /* NULL: it acts on none */
};

/* One function for each row of words.def. */
typedef enum play_flow play_fn(struct play *play, const struct play_step *step);
#define WORD(ident, ...) play_fn play_##ident;
#define PART(...)
#include "client/script/words.def"
#undef WORD

/* play.c: a list of commands, one after the other. */
enum play_flow play_nodes(struct play *play, const struct script_node *node);
/* The value as text, up to a NUL byte. */
const char *play_text(const struct play_step *step, size_t at);

/* The words expanded. To be ended by play_step_fini in any case. 0 or an error. */
int play_step_init(struct play *play, struct play_step *step, const struct script_node *node,
                   struct err *err);
/* Whether the values are what the command takes; literal ones have been checked before. */
int play_check_values(const struct play_step *step, struct err *err);
void play_step_fini(struct play_step *step);
/* play_batch.c: several commands in a row about one session, whose values are known before the
 * first runs, as one call. *node moves behind them. False: there are none, nothing was done. */
bool play_batch(struct play *play, const struct script_node **node, enum play_flow *flow);

/* play_vars.c */
int play_expand(struct play *play, const struct script_word *word, struct buf *out,
                struct err *err);
void play_set(struct play *play, const char *name, const char *data, size_t len);
void play_unset(struct play *play, const char *name); /* fine when it is not set */
void play_set_number(struct play *play, const char *name, int64_t number);
/* ${match}, ${match.1}, ${match.NAME} from the daemon's `match`; those of an earlier one go. */
void play_set_match(struct play *play, const struct json *match);
/* name becomes the first group of the last match, or all of it where there is none. */
void play_set_captured(struct play *play, const char *name);
void play_vars_fini(struct play *play);

/* play_report.c */
void play_report_begin(struct play *play, const struct play_step *step);
void play_report_end(struct play *play); /* does nothing when none was begun */
void play_trace(const struct play *play, const struct play_step *step);
/* Tells what failed, with file and line. Ends the script with that status. */
enum play_flow play_fail(struct play *play, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with the words and the status of an error. */
enum play_flow play_fail_err(struct play *play, const struct err *err);

/* play_call.c */
/* A call to the daemon, which ^C ends. params are freed. wait_ms: its deadline; negative: none is
 * given. 0 or an error; the caller finishes answer in every case. */
int play_call(struct play *play, const char *tool, struct json *params, int64_t wait_ms,
              unsigned meta, struct msg_answer *answer, struct err *err);
struct json *play_params(const struct played *session); /* with its number; the caller's */
/* The bytes of a session's output in that range, as far as they are kept. */
int play_read(struct play *play, const struct played *session, int64_t from, int64_t to,
              struct buf *out, struct err *err);
/* play_sessions.c: the session that a command acts on, looked for when it is named. 0 or an
 * error. */
int play_session(struct play *play, const struct script_node *node, struct played **session,
                 struct err *err);
void play_sessions_fini(struct play *play);
/* Ends what the script has begun and not kept. 0, or UE_FAILED when that can't be done. */
int play_end_sessions(struct play *play);
#endif
