/* trial: the question that a keeper asks of two new programs before it becomes them: can you take
 * over what I hold? Any program may end with status 0, so the answer comes as a record by a
 * descriptor. The keeper's program is asked with "--trial STATE:WORKER:ANSWER:NONCE" (descriptors,
 * and a number that the answer repeats), looks at the state, answers, and executes the worker's
 * program, which is asked with "--answer ANSWER:NONCE:JOURNALS:WORD" and answers in turn. This
 * outlives releases: a change needs another TRIAL_VERSION. */
#ifndef MUXD_KEEP_TRIAL_H
#define MUXD_KEEP_TRIAL_H
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define TRIAL_MAGIC "muxd-try"
#define TRIAL_VERSION 1
#define TRIAL_NO_CONFIG ENOKEY /* an answer's error: the config can't be read */

enum trial_who { TRIAL_KEEPER = 1, TRIAL_WORKER };

struct trial_answer {
    char magic[8];
    uint32_t version, who;
    int64_t nonce, pid; /* of the process that answers: it must be the one that was forked */
    int64_t error;      /* 0: can take over; else an errno, why not */
};

/* Writes the answer to fd. Async-signal-safe. */
void trial_answer(int fd, enum trial_who who, int nonce, int error);
/* 0, or ENOEXEC: the file of this program is a part only, or its end was never written. It may run
 * well until what it lacks is needed. The table of its sections tells, which stands at the end. */
int trial_why_cut(void);
/* In muxd. value: of "--answer"; check: 0 when the journal can be taken over, else an errno, why
 * not; reads_config: a release that can't read the config would start nothing. Answers; returns the
 * exit status. */
int trial_answer_as_worker(const char *value, int (*check)(int journal), bool reads_config);
#endif
