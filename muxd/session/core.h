/* core: what the files of this room do for each other and for the parts. Included by internal.h. */
#ifndef MUXD_SESSION_CORE_H
#define MUXD_SESSION_CORE_H
#include "base/defer.h"
#include "keep/keep.h"
#include "keep/plan.h"
#include "session/input.h"
#include "session/registry.h"
#include "session/session.h"

struct buf;

/* pending.c */
/* this turn, or a new one at once, ends with our work done */
void registry_kick(struct registry *registry);
/* called at the end of this turn */
void registry_defer(struct registry *registry, struct deferred *deferred);
enum note_kind { NOTE_SPAWNED, NOTE_ALL_ENDED };
struct note { /* something to be told at the end of the turn */
    struct deferred deferred;
    struct registry *registry;
    enum note_kind kind;
    uint64_t number;
    struct { spawned_fn *fn; void *arg; struct err err; } spawned;
};
struct note *registry_note(struct registry *registry, enum note_kind kind, uint64_t number);
void session_dirty(struct session *session); /* looked at, at the end of the turn */

/* registry.c */
/* freed at the end of the turn */
void registry_forget(struct registry *registry, struct session *session, bool tell);

/* session_life.c */
/* all become its own */
struct session *session_new(struct registry *registry, struct journal *journal,
                            const int fds[KEEP_FD_COUNT]);
void session_free(struct session *session);
/* it is nobody's any more: the keeper is told nothing of it */
void session_go(struct session *session);
void session_set_pid(struct session *session, pid_t pid, int pidfd);
/* of the keeper of now, or of one that is dead */
void session_set_own_child(struct session *session, bool own);
/* of its program, borrowed; made when there is none; -1 with errno */
int session_pidfd(struct session *session);
void session_close_pidfd(struct session *session);
int session_take_part_fd(struct session *session); /* the caller's; -1: there is none */

/* session.c */
bool session_is_open(const struct session *session); /* programs may still write to it */

/* session_io.c */
int session_io_start(struct session *session, struct err *err); /* watches its descriptors */
void session_io_more(struct session *session);                  /* the next budget's worth */
void session_io_want_more(struct session *session);              /* in this turn, or in the next */
/* Output lies in the kernel that was not read yet, as the turn had enough other work: then it is,
 * in the next one. Not while the program is paused. */
bool session_io_unread(struct session *session);
void session_io_close(struct session *session);
/* closes its terminal, here and at the keeper, while its program runs */
void session_hang_up(struct session *session);
/* whoever looks at its output keeps up with it from now on */
void session_io_watched(struct session *session);
void session_resume(struct session *session); /* a reader has moved on */
void session_io_read_rest(struct session *session); /* the program has ended */
/* what the keeper may close: 1 << enum keep_fd */
unsigned session_io_take_let_go(struct session *session);

/* session_exit.c */
void session_exited(struct session *session, int how, int status);
/* by the keeper, who waits for an answer */
void session_exit_told(struct session *session, int how, int status);
void session_exit_adopt(struct session *session);       /* its journal says whether it has ended */
void session_exit_keeper_lost(struct session *session); /* there is nobody to answer any more */
/* at the end of a turn: is its output read to the end? */
void session_drain(struct session *session);
/* the keeper may reap the leader, once the journal has it and no hunt needs it */
void session_acknowledge(struct session *session);

/* session_input.c */
void session_flush_input(struct session *session);
void session_trim_input(struct session *session); /* it is not typed into any more */
void session_release_hold(struct session *session);
/* somebody waits until it has read for the first time */
void session_want_hold_end(struct session *session);
/* it is marked when something has left its input queue */
void session_want_room(struct session *session);
/* an agent types while input is held: not for a secret prompt */
void session_hold_text(struct session *session);
/* session_type of text whose author is named; NULL: of nobody. */
int session_queue_input(struct session *session, const struct input *input, bool secret,
                        const struct author *author, struct err *err);
/* The terminal's own answer, past the refusals and the holds, behind what is queued;
 * session_flush_input is next. False: no room. */
bool session_queue_answer(struct session *session, const char *data, size_t size);
/* Straight into the terminal, past the queue, which must be empty: no copy of it is left anywhere.
 * 0 or an error. */
int session_type_direct(struct session *session, const char *data, size_t size, struct err *err);
/* input waits until the program reads, at most so long */
void session_hold(struct session *session, int64_t ms);
void session_input_adopt(struct session *session); /* a predecessor's */
void session_input_close(struct session *session); /* now, whatever is queued */
void session_input_fini(struct session *session);

/* session_input_check.c */
int session_input_fd(const struct session *session); /* borrowed; -1: it takes no input */
/* ERR_ENDED, ERR_STDIN_CLOSED */
int session_check_open(const struct session *session, struct err *err);
/* What session_type would refuse. line_from (may be NULL): where the unfinished line would
 * begin. */
int session_check_input(const struct session *session, const char *data, size_t size,
                        uint64_t *line_from, struct err *err);
/* what session_type_direct would refuse */
int session_check_direct(const struct session *session, struct err *err);

/* waiter.c */
void waiter_look(struct session *session);
void waiter_end_all(struct session *session); /* the session goes: what still waits is told so */
/* one more of [limits] waits; ERR_LIMIT */
int waiter_take_place(struct registry *registry, struct err *err);
void waiter_give_place(struct registry *registry);

/* prompt.c */
void prompt_start(struct session *session);                  /* it has a process */
void prompt_fini(struct session *session);
void prompt_mark(struct session *session);                   /* just before a write */
/* is it ready? Sets session->prompt.evidence */
void prompt_look(struct session *session, bool output);
void prompt_want(struct session *session, bool wanted);      /* somebody waits for it */
/* a part wants to know; says so in each of its looks */
void prompt_ask(struct session *session);
/* it waits for us, not for input: not ready after all */
void prompt_forget(struct session *session);
struct prompt_mark {
    uint64_t head;
    bool editor;
};
/* Around what is typed that is no input: the program waits for the same as before. */
struct prompt_mark prompt_save(const struct session *session);
void prompt_restore(struct session *session, const struct prompt_mark *mark);

/* followed.c */
void followed_init(struct registry *registry);
void followed_fini(struct registry *registry);
void followed_adopt(struct session *session); /* of a predecessor's session */
bool followed_waits(const struct session *session); /* its program, for its follower */

/* ended.c: ended sessions and the caps */
void ended_init(struct registry *registry);
void ended_reload(struct registry *registry);
/* where it belongs now; used: it goes later than the others of its kind */
void ended_place(struct session *session, bool used);
void ended_note_read(struct session *session); /* its end was read now */
/* Makes room for one more session with that much of journal, and for its descriptors: the oldest
 * ended ones go. ERR_LIMIT, ERR_SYSTEM. */
int ended_make_room(struct registry *registry, uint64_t bytes, struct err *err);

/* spawn.c */
void spawn_failed(struct session *session, const struct err *err);
/* spawn_facts.c: what the journal keeps of the call that begins a session: an object in one
 * line. */
void spawn_facts(const struct session_spec *spec, struct buf *facts);

/* recover.c */
/* there is one, and the keeper holds it */
int recover_transfer(struct registry *registry, struct err *err);
/* An ended session that neither a predecessor nor the keeper knows: it becomes the registry's. */
struct session *recover_from_disk(struct registry *registry, struct journal *journal);

/* declared.c */
void declared_load(struct registry *registry);
void declared_free(struct registry *registry);
void declared_ended(struct session *session);
void declared_started(struct session *session);
/* on request: one that is about to come back does not */
void declared_killed(struct session *session);
void declared_failed(struct session *session, const struct err *err);

/* session_acts.c */
int session_take_pending_signal(struct session *session); /* 0: none was asked for */
/* It has no process yet: the signal is for the process that it will have. */
void session_set_pending_signal(struct session *session, int signo);

/* limits.c */
size_t limits_plan(const int64_t limits[SESSION_LIMIT_COUNT],
                   struct plan_limit out[SESSION_LIMIT_COUNT]);
void limits_start(struct session *session);
void limits_stop(struct session *session);
/* The limit that this death means; KILLER_NONE. */
enum session_killer limits_blame(const struct session *session, int exit_code, int signo);
#endif
