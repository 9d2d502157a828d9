/* session: one program with a name and a number: its PTY or pipes, its journal, the waits for it,
 * its end. Owned by the registry; all others hold numbers across turns, never pointers. */
#ifndef MUXD_SESSION_SESSION_H
#define MUXD_SESSION_SESSION_H
#include "base/err.h"
#include "journal/journal.h"
#include "session/readiness.h"
#include "session/race.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct registry;
struct session;
struct config_session;

enum session_slow { SLOW_DROP, SLOW_PAUSE };

/* Facts; the pointers are borrowed until the end of the turn. */
uint64_t session_number(const struct session *session);
const char *session_name(const struct session *session);
struct journal *session_journal(struct session *session);
enum session_state session_state(const struct session *session);
/* starting or running, or its output not drained yet */
bool session_is_live(const struct session *session);
bool session_is_tty(const struct session *session);
/* False while it runs; exit_code 128+N for a signal, -1 unknown; *signo 0 none. */
bool session_has_exit(const struct session *session, int *exit_code, int *signo);
pid_t session_pid(const struct session *session);
const char *session_state_word(enum session_state state); /* "running" … */
/* "request", "stop", "memory" … for the journal's killed_by; NULL: it was not killed */
const char *session_killer_word(unsigned killed_by);
/* "line", "key", "secret" or NULL while it computes; looks on demand */
const char *session_waiting_for(struct session *session);
/* living descendants after the leader's end; -1 unknown */
int session_children_left(struct session *session);
/* The same for people: without bubblewrap's own process, which ends a little later. */
int session_children_told(struct session *session);
int session_get_size(const struct session *session, int *rows, int *cols); /* -1 on pipes */
/* The same, but as many columns as those who look at it have, also while its program has set 132 of
 * them (DECCOLM). */
int session_get_own_size(const struct session *session, int *rows, int *cols);
/* The process session (setsid(2)) whose controlling terminal is this session's; 0: none. */
pid_t session_terminal_sid(const struct session *session);

/* The offset where the output of that time (milliseconds since 1970) and later begins, or a little
 * before it. What was printed before this worker began counts as printed at the very beginning. */
uint64_t session_offset_at(struct session *session, int64_t real_ms);

/* The [policy NAME] that holds for what comes from inside; NULL: none. The caller's. */
char *session_policy(const struct session *session);

/* Input, queued whole or refused whole: ERR_ENDED, ERR_STDIN_CLOSED, ERR_INPUT_FULL (free space and
 * cap in the text), ERR_LINE_TOO_LONG (canonical mode: a line over 4,095 bytes). request_hash (0:
 * none) notes the request as done. The queue is typed as fast as the program reads. */
int session_type(struct session *session, const char *data, size_t size, uint64_t request_hash,
                 bool secret, struct err *err);
/* input waits in the queue until the program reads for the first time */
bool session_is_held(const struct session *session);
/* CLOCK_MONOTONIC; of its start while there was none */
int64_t session_last_input_ns(const struct session *session);
/* CLOCK_MONOTONIC; 0: it is still held, or never was */
int64_t session_hold_ended_ns(const struct session *session);
/* SIGINT to the group: U+0003 of a pipe session */
int session_interrupt(struct session *session, struct err *err);
int session_resize(struct session *session, int rows, int cols, struct err *err);
/* The program has set 132 columns, or no longer has: the size of its terminal follows, and it gets
 * SIGWINCH, as in xterm. */
void session_set_columns(struct session *session, bool many);
int session_rename(struct session *session, const char *name, struct err *err);
/* Pipe sessions: end of file once everything queued is typed. ERR_ENDED, ERR_STDIN_CLOSED;
 * ERR_NOT_AVAILABLE with a terminal. */
int session_close_stdin(struct session *session, struct err *err);

/* What serves readers tells it: */
/* its end was told: [limits] keep_ended counts from now */
void session_end_read(struct session *session);
/* A process as a follower; never 0. waits: a program waits for it always, not only after a
 * restart. */
uint64_t session_follower(pid_t pid, bool waits);
/* While it is followed it stays, also once it has ended. follower (0: of no process): and nothing
 * is dropped that this one has not read while its program waits for it: always, or after a restart
 * of the worker until that process has come back (or a few seconds have passed) or has ended. */
void session_follow(struct session *session, bool followed, uint64_t follower);
/* since a restart its program waits for a follower, who has not read yet */
bool session_is_awaiting(const struct session *session);
bool session_awaits(const struct session *session, uint64_t follower);
/* the follower has all output before `at`: it says so, or that was delivered */
void session_follower_at(struct session *session, uint64_t follower, uint64_t at, bool delivered);
/* it was used now, or a reader's cursor has moved: a paused program may go on */
void session_touch(struct session *session);
/* `by` people more (or less) are attached to it */
void session_attach(struct session *session, int by);
unsigned session_attached(const struct session *session);

/* Waiting: a set of conditions raced against each other. */
enum wait_reason {
    WAIT_EXIT,
    WAIT_UNTIL,
    WAIT_READY,
    WAIT_QUIET,
    WAIT_DEADLINE,
    /* the session is gone (its program could not be started, or it was removed): don't touch it any
     * more */
    WAIT_STOPPING,
    WAIT_COSTLY, /* a pattern takes too much time on this output: ERR_PATTERN */
    WAIT_FAIL_ON /* a pattern of what must not come */
};
struct wait_spec {
    struct sought sought; /* the patterns; none: not waited for */
    bool ready;
    /* an empty poll: new output that has settled (nothing for 30 ms, or 1 MiB), see contract 4
     * (f) */
    bool settle;
    /* -1: none; silence of that length, counted from the later of the wait's begin and the last
     * byte */
    int64_t quiet_ms;
    /* after the exit: how long the end of the output is waited for when programs left behind hold
     * it open */
    int64_t linger_ms;
    int64_t deadline_ns;         /* CLOCK_MONOTONIC; INT64_MAX: none. Nothing cancels it */
    uint64_t from;               /* until, settle: only bytes from this offset on */
};
struct wait_result {
    enum wait_reason reason;
    enum evidence evidence; /* of WAIT_READY */
    /* Of WAIT_UNTIL, of WAIT_FAIL_ON, and of WAIT_READY after a match: the receiver's, for
     * race_match_free; NULL: none. */
    struct race_match *match;
    unsigned costly;        /* of WAIT_COSTLY: which pattern, as in `sought` */
};
struct wait;
typedef void wait_fn(void *arg, const struct wait_result *result);
/* Register BEFORE the write that it waits for. fn is called once, at the end of a turn, never from
 * inside this call; then the wait is gone. Exit (with its output drained) always races. NULL and
 * err: ERR_LIMIT (too many waits). */
struct wait *session_wait(struct session *session, const struct wait_spec *spec, wait_fn *fn,
                          void *arg, struct err *err);
void wait_cancel(struct wait *wait); /* no callback any more */
const char *wait_reason_word(enum wait_reason reason);
/* "line_editor", "line_read", "secret", "quiet", "prompt", "pattern", "marks" */
const char *evidence_word(enum evidence evidence);
#endif
