/* talk: a call whose answer is about one session (exec, write, poll, call): printed as JSON, raw
 * bytes or the model's text, and turned into ue's exit status. */
#ifndef MUXD_CLIENT_TALK_H
#define MUXD_CLIENT_TALK_H
#include "client/rpc/call.h"
#include "client/rpc/ue.h"

enum talk_format { TALK_MODEL, TALK_JSON, TALK_RAW, TALK_TEXT };
/* How the answer is printed: --json, --raw or --text, else $UE_FORMAT, else the model's text. The
 * variable counts for exec, write and poll. */
enum talk_format talk_format(const struct ue *ue);
/* 0, or ERR_USAGE: $UE_FORMAT is none of the formats. */
int talk_check_format(const struct ue *ue, struct err *err);

/* Makes the call: talk_ask, or typing_ask for a call that types. 0 or an error; the caller finishes
 * answer in every case. */
typedef int talk_ask_fn(struct ue *ue, const char *tool, struct json *params,
                        struct msg_answer *answer, struct err *err);
talk_ask_fn talk_ask;
/* Asks and prints the answer in its format. Returns ue's exit status. */
int talk(struct ue *ue, const char *tool, struct json *params, talk_ask_fn *ask);
/* Prints an answer. wanted: the arguments of the call, which say what it waited for. */
int talk_show(struct ue *ue, const struct json *wanted, const struct json *result);
/* Only the status, which is also written to --status-fd. */
int talk_status(struct ue *ue, const struct json *wanted, const struct json *result);
/* ue_fail; after ^C it says that the session goes on and returns 130. params: of the call. */
int talk_fail(struct ue *ue, const struct json *params, const struct err *err);

/* raw_answer.c: the session's bytes and nothing else. raw_ask sets the arguments that ask for
 * them. */
void raw_ask(struct json *params);
bool raw_print(const struct json *result); /* false: some of it is no longer kept */
bool raw_is_full(const struct json *result); /* the answer was full: there may be more */
/* The exit status of a verb that prints raw bytes: `ue exec` promises all of them, and has failed
 * when it ended well, but not all were there (ue->lost). */
int raw_status(const struct ue *ue, int status);

/* raw.c */
/* Asks and prints until all that the wait yields is out: the first answer may hold only a part. The
 * output of a command whose end is waited for is printed as it comes. Returns ue's exit status. */
int raw_talk(struct ue *ue, const char *tool, struct json *params, talk_ask_fn *ask);
/* One read from *at on; advances *at. Waits at most yield_ms for the first byte (INT64_MAX: no
 * deadline; 0: does not wait). Without print it shows nothing and moves no reader. 0 or an
 * error. */
int raw_read(struct ue *ue, int64_t number, int64_t *at, int64_t yield_ms, bool print,
             struct msg_answer *answer, struct err *err);
/* The same with flags of call.h; CALL_FED leaves *at and *answer as they are. */
int raw_read_fed(struct ue *ue, int64_t number, int64_t *at, int64_t yield_ms, bool print,
                 unsigned flags, struct msg_answer *answer, struct err *err);
/* The deadline of the whole call (clock_mono_ms): -y from now, else exec's default; INT64_MAX:
 * none. */
int64_t raw_deadline(const struct ue *ue, const struct json *params);
/* 0, or ERR_ARGUMENTS when -y is longer than the daemon's [limits] max_wait. */
int raw_check_wait(struct ue *ue, struct err *err);
/* Prints the session's output from *at on (advanced) until it ends or until deadline_ms
 * (clock_mono_ms; INT64_MAX: none). *answer becomes the last answer. 0 or an error. */
int raw_follow(struct ue *ue, int64_t number, int64_t *at, int64_t deadline_ms,
               struct msg_answer *answer, struct err *err);
#endif
