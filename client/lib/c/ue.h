/* ue.h: libue, the client of muxd(7) as a C library: sessions with shells, REPLs, debuggers and
 * installers, driven without sleeps. The names of its functions and arguments are those of the
 * tools. C11 and C++17; link with `pkg-config --cflags --libs libue`.
 *
 *     struct ue_client *ue;
 *     struct ue_answer *answer;
 *     struct ue_error error;
 *     if (ue_open(NULL, &ue, &error) == 0) {
 *         struct ue_exec_command_args args = {.cmd = "uname -sr", .exit = true};
 *         if (ue_exec_command(ue, &args, &answer, &error) == 0)
 *             fwrite(answer->output, 1, answer->output_size, stdout);
 *         ...
 *
 * Errors. A function that returns int gives 0, or one of enum ue_code, which is negative, and fills
 * in *error (NULL: not wanted). A program that fails is no error: see exit_code.
 * Ownership. What is given to the library is copied before the call returns. An answer is the
 * caller's until ue_answer_free; all it points to lives as long.
 * Threads. Use a client in one thread at a time; two clients share nothing. After fork(2) only the
 * parent may go on with it. Descriptors are close-on-exec. The library never prints, exits, or
 * changes signals, umask or locale. When no memory is left, it ends the process by abort(3), as
 * muxd does; nothing that a daemon says can make it take more than max_answer bytes for a line.
 * Connection. When the daemon's worker dies or is replaced, each call goes to its successor, and
 * the daemon does it once. apply_patch, run_steps, integrate_session and other methods that could
 * do harm a second time are not sent again and end with UE_ERR_NO_DAEMON. */
#ifndef UE_H
#define UE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#define UE_API __attribute__((visibility("default")))

/* The numbers and names of muxd(7), which stay. */
enum ue_code {
    UE_OK = 0,
    /* begin errors */
    /* muxd itself failed; the log says more */
    UE_ERR_INTERNAL = -32603,
    /* the line is no strict JSON object */
    UE_ERR_PARSE = -32700,
    /* no valid JSON-RPC request */
    UE_ERR_INVALID_REQUEST = -32600,
    /* no tool or verb of that name */
    UE_ERR_NO_SUCH_METHOD = -32601,
    /* an argument is missing, unknown or of a wrong type */
    UE_ERR_ARGUMENTS = -32602,
    /* no session of that name or number */
    UE_ERR_NO_SUCH_SESSION = -32001,
    /* a live session has that name */
    UE_ERR_NAME_TAKEN = -32002,
    /* not a valid session name */
    UE_ERR_BAD_NAME = -32003,
    /* the session has ended */
    UE_ERR_ENDED = -32004,
    /* a pipe session's standard input is closed */
    UE_ERR_STDIN_CLOSED = -32005,
    /* the session's input queue has no room */
    UE_ERR_INPUT_FULL = -32006,
    /* the kernel would cut the line in canonical mode */
    UE_ERR_LINE_TOO_LONG = -32007,
    /* the program could not be started */
    UE_ERR_SPAWN = -32008,
    /* a limit of [limits] was reached */
    UE_ERR_LIMIT = -32009,
    /* larger than its cap */
    UE_ERR_TOO_LARGE = -32010,
    /* the caller runs inside this session */
    UE_ERR_SELF = -32011,
    /* this build or configuration does not offer it */
    UE_ERR_NOT_AVAILABLE = -32012,
    /* the configuration is wrong */
    UE_ERR_CONFIG = -32013,
    /* not a valid PCRE2 pattern */
    UE_ERR_PATTERN = -32014,
    /* no key of that name */
    UE_ERR_KEY = -32015,
    /* a system call failed; the text has the errno */
    UE_ERR_SYSTEM = -32016,
    /* the request was cancelled by its client */
    UE_ERR_CANCELLED = -32017,
    /* the daemon is being stopped */
    UE_ERR_STOPPING = -32018,
    /* no daemon listens on the socket */
    UE_ERR_NO_DAEMON = -32019,
    /* refused by policy, sandbox or a person */
    UE_ERR_DENIED = -32020,
    /* a person holds the session's keyboard */
    UE_ERR_KEYBOARD_HELD = -32022,
    /* the program reads a secret, for a person to type */
    UE_ERR_SECRET_PROMPT = -32023,
    /* the session still runs */
    UE_ERR_NOT_ENDED = -32021,
    /* the client read too little of its answers and was disconnected */
    UE_ERR_OUTPUT_TOTAL = -32024,
    /* no command of that id waits for an approval */
    UE_ERR_NO_SUCH_APPROVAL = -32025,
    /* the session's program is not at its prompt */
    UE_ERR_BUSY = -32027,
    /* what is to go on record can't be written, so nothing was done */
    UE_ERR_AUDIT = -32026,
    /* end errors */
};

struct ue_error {
    int code;           /* enum ue_code */
    char name[32];      /* "no_such_session": also of an error that this library does not know */
    char text[1024];    /* for people: what is wrong and what to do; UTF-8, one line */
    int64_t session_id; /* whose call was cancelled; 0: not known */
};

struct ue_client; /* a connection to a daemon, with all calls on it */

/* Members that are 0 or NULL have their default, here and in all arguments below: begin with
 * {0}. Later versions add members at the end, and take what was compiled with fewer. */
struct ue_options {
    const char *socket;  /* default: $MUXD_SOCKET, else where ue(1) looks */
    const char *config;  /* file that a daemon is started with; default: as muxd(8) */
    const char *muxd;    /* program to start; default: beside this library, else in $PATH */
    bool no_start;       /* never start a daemon */
    bool as_tools;       /* ask as a model does: the tools' clamps, and [policy] of muxd.ini(5) */
    const char *client;  /* who asks, for the log of input; default: libue/VERSION */
    const char *profile; /* the [policy NAME] by which commands are judged */
    const char
        *reader;       /* name of this client's own place in each output; default: the common one */
    size_t max_answer; /* bytes of a line from the daemon; default 64 MiB */
    /* milliseconds without a word from the daemon after which a call ends with UE_ERR_NO_DAEMON;
     * default: a call may take as long as it takes */
    int64_t answer_ms;
    /* Something is told about a call that goes on, as that a person is asked to approve it: name
     * "approval"; json as in muxd(7), borrowed during the call. */
    void (*on_notice)(void *arg, const char *name, const char *json);
    void *notice_arg;
};

/* Connects, after starting a daemon when there is none, which takes some 50 ms. options: NULL: all
 * defaults. *client is set when it returns 0. UE_ERR_NO_DAEMON; UE_ERR_NOT_AVAILABLE: the daemon
 * speaks a newer protocol. */
static inline int ue_open(const struct ue_options *options, struct ue_client **client,
                          struct ue_error *error);
/* Ends all calls (each callback gets UE_ERR_CANCELLED) and subscriptions, leaves sessions as they
 * are, and frees client. Not from a callback. NULL is fine. */
UE_API void ue_close(struct ue_client *client);
UE_API const char *ue_version(void);                          /* of the library: "0.1.0" */
UE_API const char *ue_muxd_version(const struct ue_client *); /* of the daemon */

/* A session, as list_sessions and kill_session tell. Strings may be NULL, numbers -1: not known. */
struct ue_session {
    int64_t session_id; /* its number */
    const char *name, *state, *waiting_for, *cmd, *cwd;
    const char *created, *ended;   /* ISO 8601, UTC */
    const char *signal, *ended_by; /* ended_by: kill_session only, as is survivors */
    int exit_code, pid;
    int64_t output_bytes, unread_bytes, survivors;
    bool tty;
};

/* What a pattern of until or fail_on has matched. */
struct ue_match {
    const char *name, *pattern; /* name: NULL: it has none */
    const char *text, *line;    /* line: the whole one, with line */
    size_t text_size, line_size;
    int64_t index, from, to;   /* index: which one of its argument, from 0; absolute offsets */
    const char *const *groups; /* group_count of them; NULL: has no part in the match */
    size_t group_count;
};

/* What a call says. Strings may be NULL, numbers -1: not told, or not known. */
struct ue_answer {
    const char *output; /* bytes, output_size of them; a NUL follows */
    size_t output_size;
    int64_t from, to;         /* absolute offsets of output in bytes */
    int64_t omitted_bytes;    /* that the daemon no longer has */
    int64_t number;           /* of the session */
    const char *name, *state; /* state: running, exited, signaled, killed, lost */
    bool running;
    int exit_code;        /* of a program that has ended; 128 + N for signal N */
    const char *signal;   /* "SEGV", … */
    const char *reason;   /* what ended the wait: exit, until, fail_on, ready, … */
    const char *evidence; /* what `ready` went by */
    const struct ue_match *match;
    const char *waiting_for; /* line, key, secret; NULL while it computes */
    int64_t children_left;
    double wall_time_seconds;
    /* run_command: its own output and status, not the session's */
    const char *command, *cwd, *start, *end; /* start, end: ISO 8601, UTC */
    const char *by;                          /* how its end is known: marks, prompt, exit */
    int status;
    int64_t id;                        /* for read_command */
    bool incomplete;                   /* the program waits for the rest of it */
    const char *screen, *title, *hash; /* read_screen; screen: screen_size bytes of UTF-8 */
    size_t screen_size;
    int rows, cols, cursor_row, cursor_col;   /* from 1 */
    const struct ue_session *const *sessions; /* list_sessions, kill_session: session_count */
    size_t session_count;
    int64_t completed;                    /* run_steps: steps that were done */
    const struct ue_answer *const *steps; /* run_steps: what each one says, step_count */
    size_t step_count;
};
UE_API void ue_answer_free(struct ue_answer *answer); /* NULL is fine */
/* The whole answer as JSON (muxd(7)), in one line; the answer's. size: NULL, or set to its bytes.
 */
UE_API const char *ue_answer_json(struct ue_answer *answer, size_t *size);

enum { UE_YES = 1, UE_NO = -1 }; /* for arguments whose default is the daemon's */
#define UE_AT_ONCE INT64_C(-1)   /* yield_time_ms: don't wait */
#define UE_FOREVER INT64_MAX     /* yield_time_ms: as long as it takes */

/* Arguments have the names and the meaning of muxd(7). Texts are UTF-8; bytes may be anything. A
 * session is given by its name or its number in digits. What a wait is for: until, a PCRE2 pattern
 * that new output has to match; fail_on, one that ends it with the reason "fail_on"; until_any and
 * fail_on_any, several of them in place of one, NULL at the end (match->index tells which); ready,
 * that the program waits for input (the default on a terminal when nothing else is given); quiet_ms
 * of silence; exit, its end. The first to happen ends it, and yield_time_ms at the latest, then the
 * reason is "deadline". count: which of the matches counts, from 1; line: a match lies in one whole
 * line. With text, output is as a person would read it; else it is the exact bytes, at most
 * max_bytes (1 MiB); what is beyond comes with the next call. */
#define UE_WAIT_ARGS                                                                               \
    const char *until, *fail_on;                                                                   \
    const char *const *until_any, *const *fail_on_any;                                             \
    int ready; /* UE_YES, UE_NO */                                                                 \
    bool exit, line, text;                                                                         \
    int64_t count, quiet_ms, yield_time_ms, max_bytes

struct ue_exec_command_args {
    const char *cmd;         /* for $SHELL -c */
    const char *const *argv; /* or a program without a shell; NULL at the end */
    UE_WAIT_ARGS;
    bool tty;        /* on a terminal; else pipes */
    bool stdin_open; /* pipes: write_stdin may write, until eof */
    const char *name, *workdir, *shell, *sandbox;
    const char *const *env; /* "NAME=VALUE", to add to ours; NULL at the end */
    int login;              /* UE_YES, UE_NO */
    int64_t rows, cols;
};
struct ue_write_stdin_args {
    const char *session_id;
    const char *chars; /* typed as they are, chars_size bytes; 0: up to the NUL */
    size_t chars_size;
    const char *const *keys; /* then these: "Enter", "C-c", …; NULL at the end */
    UE_WAIT_ARGS;
    bool submit; /* then Enter, once the program has taken the rest */
    bool paste, eof, peek;
    bool has_since;
    int64_t since; /* absolute offset to return output from; 0 counts with has_since */
};
/* Its output is the command's alone: as a person would read it, or with exact as bytes. */
struct ue_run_command_args {
    const char *session_id, *command;
    bool exact;
    bool interrupt_incomplete; /* give it up by ^C when the program waits for the rest of it */
    int64_t yield_time_ms;
};
struct ue_read_output_args {
    const char *session_id;
    UE_WAIT_ARGS;
    bool peek; /* leave the reader where it is */
    bool has_since, has_to;
    int64_t since, to; /* absolute offsets; 0 counts with has_since and has_to */
};
struct ue_list_sessions_args {
    bool all; /* ended ones, too */
};
struct ue_kill_session_args {
    const char *session_id;
    const char *signal; /* send only this: "INT", "9"; default: end it */
    bool all;           /* every live session */
};
struct ue_read_screen_args {
    const char *session_id;
    const char *format, *wait_change;
    int64_t history, stable_ms, yield_time_ms;
    bool join;
};
struct ue_run_steps_args {
    const char *session_id;
    const char *steps; /* a JSON array, as muxd(7) has it */
};

/* Each makes the call, waits until it is answered, and sets *answer when it returns 0. Callbacks of
 * other calls may run meanwhile. */
#define UE_TOOL(tool)                                                                              \
    UE_API int ue_##tool##_sized(struct ue_client *client, const struct ue_##tool##_args *args,    \
                                 size_t args_size, struct ue_answer **answer,                      \
                                 struct ue_error *error);                                          \
    static inline int ue_##tool(struct ue_client *client, const struct ue_##tool##_args *args,     \
                                struct ue_answer **answer, struct ue_error *error)                 \
    {                                                                                              \
        return ue_##tool##_sized(client, args, sizeof *args, answer, error);                       \
    }
UE_TOOL(exec_command)
UE_TOOL(write_stdin)
UE_TOOL(run_command)
UE_TOOL(read_output)
UE_TOOL(list_sessions)
UE_TOOL(kill_session)
UE_TOOL(read_screen)
UE_TOOL(run_steps)

/* Any method of muxd(7), its arguments as a JSON object (NULL: none). Not attach and type_secret,
 * which take the connection. */
UE_API int ue_call(struct ue_client *client, const char *method, const char *arguments,
                   struct ue_answer **answer, struct ue_error *error);
/* size bytes as a JSON string with its quotes, for arguments; what is no UTF-8 becomes U+FFFD. The
 * caller's, for free(3). */
UE_API char *ue_quote(const char *data, size_t size);

/* Several calls at once, and a loop of the program's own: ue_send, then ue_process whenever ue_fd
 * can be read. */

/* answer: the callee's, to free; NULL: error says why. Called once for each ue_send. It may make
 * calls, but not close the client. */
typedef void ue_answer_fn(void *arg, struct ue_answer *answer, const struct ue_error *error);
/* Returns the number of the call, which is positive, or an error; then fn is not called. Blocks
 * only to connect again after the daemon has gone. */
UE_API int64_t ue_send(struct ue_client *client, const char *method, const char *arguments,
                       ue_answer_fn *fn, void *arg, struct ue_error *error);
/* Ends the wait of a call, never its program: its callback gets UE_ERR_CANCELLED, or an answer that
 * was under way. Ends a subscription at once, without a call. UE_ERR_ARGUMENTS: no such number. */
UE_API int ue_cancel(struct ue_client *client, int64_t number, struct ue_error *error);
/* A descriptor to poll for reading (POLLIN), the same as long as client lives; not to be read. -1
 * with errno: the kernel gives none. */
UE_API int ue_fd(struct ue_client *client);
/* Takes what has come and calls back, waiting for it at most timeout_ms (0: not at all, -1: until
 * something was called back; at once when nothing is under way). Returns how many callbacks it
 * made. */
UE_API int ue_process(struct ue_client *client, int timeout_ms);

struct ue_event {
    int64_t seq;        /* numbers grow; the one after the last is where to begin again */
    const char *type;   /* created, output, ready, end, …; "gap": events are missing */
    const char *json;   /* the whole event (muxd(7)) */
    int64_t session_id; /* -1: about none */
    const char *name;
};
/* All is borrowed until it returns. error: NULL, or why the subscription has ended (event is NULL).
 */
typedef void ue_event_fn(void *arg, const struct ue_event *event, const struct ue_error *error);
struct ue_subscribe_args {
    const char *const *types; /* NULL at the end; default: all but output */
    const char *session_id;   /* only of this one */
    bool has_since;
    int64_t since; /* the first event; 0 counts with has_since; default: from now on */
};
/* Calls fn for each event from now on, none twice and none left out, also after a restart of the
 * worker (what the daemon itself no longer has is a "gap"). Returns its number for ue_cancel, or an
 * error. */
static inline int64_t ue_subscribe(struct ue_client *client, const struct ue_subscribe_args *args,
                                   ue_event_fn *fn, void *arg, struct ue_error *error);

UE_API int ue_open_sized(const struct ue_options *options, size_t options_size,
                         struct ue_client **client, struct ue_error *error);
UE_API int64_t ue_subscribe_sized(struct ue_client *client, const struct ue_subscribe_args *args,
                                  size_t args_size, ue_event_fn *fn, void *arg,
                                  struct ue_error *error);
static inline int ue_open(const struct ue_options *options, struct ue_client **client,
                          struct ue_error *error)
{
    return ue_open_sized(options, sizeof *options, client, error);
}
static inline int64_t ue_subscribe(struct ue_client *client, const struct ue_subscribe_args *args,
                                   ue_event_fn *fn, void *arg, struct ue_error *error)
{
    return ue_subscribe_sized(client, args, sizeof *args, fn, arg, error);
}
#undef UE_TOOL
#ifdef __cplusplus
}
#endif
#endif
