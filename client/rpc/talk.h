/* talk: what exec, write, poll and call have in common: the answer about one session, printed in
 * one of three ways, and the exit status that follows from it. */
#ifndef MUXD_CLIENT_TALK_H
#define MUXD_CLIENT_TALK_H
#include "client/rpc/call.h"
#include "client/rpc/ue.h"

/* How a call is made: talk_ask, or typing_ask for what types. 0 or an error;
 * msg_answer_fini(answer) is due in any case. */
typedef int talk_ask_fn(struct ue *ue, const char *tool, struct json *params,
                        struct msg_answer *answer, struct err *err);
talk_ask_fn talk_ask;
/* Asks and prints the answer as --json, --raw or the model's text. Returns ue's exit status. */
int talk(struct ue *ue, const char *tool, struct json *params, talk_ask_fn *ask);
/* The same for an answer that is there. wanted: the arguments that say what was waited for. */
int talk_show(struct ue *ue, const struct json *wanted, const struct json *result);
/* Only the status; also written to --status-fd. */
int talk_status(struct ue *ue, const struct json *wanted, const struct json *result);
/* ue_fail; after ^C: says that the session goes on, and returns 130. params: of the call. */
int talk_fail(struct ue *ue, const struct json *params, const struct err *err);

/* raw_answer.c: the session's bytes and nothing else. raw_ask adds to params what is needed for
 * it. */
void raw_ask(struct json *params);
void raw_print(const struct json *result);
bool raw_is_full(const struct json *result); /* as much as fits an answer: there may be more */

/* raw.c */
/* Asks and prints until all is out that the wait gives: a first answer may hold less than there is,
 * and a command that is waited for to its end is printed as it goes. Returns ue's exit status. */
int raw_talk(struct ue *ue, const char *tool, struct json *params, talk_ask_fn *ask);
/* One read from *at on, which is moved: waits at most yield_ms (INT64_MAX: as long as it takes) for
 * the first byte; 0 waits for nothing. Without print nothing is shown and no reader moves. 0 or an
 * error. */
int raw_read(struct ue *ue, int64_t number, int64_t *at, int64_t yield_ms, bool print,
             struct msg_answer *answer, struct err *err);
/* The same with flags of call.h; CALL_FED leaves everything as it is. */
int raw_read_fed(struct ue *ue, int64_t number, int64_t *at, int64_t yield_ms, bool print,
                 unsigned flags, struct msg_answer *answer, struct err *err);
/* When the whole call is over: -y from now on, exec's default without it, INT64_MAX for none. */
int64_t raw_deadline(const struct ue *ue, const struct json *params);
/* ERR_ARGUMENTS when -y is over the daemon's [limits] max_wait */
int raw_check_wait(struct ue *ue, struct err *err);
/* Prints what came since `at` (moved on), in answers of the session numbered so, until deadline_ms
 * (clock_mono_ms; INT64_MAX: none) or its end. *answer is the last one. 0 or an error. */
int raw_follow(struct ue *ue, int64_t number, int64_t *at, int64_t deadline_ms,
               struct msg_answer *answer, struct err *err);
#endif
