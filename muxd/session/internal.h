/* internal: the insides of a session and of the registry, shared by the files of this room and nobody else. Who may write
 * which part stands beside it. */
#ifndef MUXD_SESSION_INTERNAL_H
#define MUXD_SESSION_INTERNAL_H
#include "config/config.h"
#include "journal/transfer.h"
#include "keep/keep.h"
#include "keep/link.h"
#include "keep/plan.h"
#include "session/list.h"
#include "session/news_internal.h"
#include "session/number.h"
#include "session/registry.h"
#include "session/session.h"
#include "session/times.h"
#include "sys/loop.h"
#include "sys/pattern.h"

#define NS_PER_MS 1000000LL
#define NEWS_SLOT 2 /* the keeper's slot for the events; numbers below 1000 are no sessions */

/* index.c: hash tables whose chains run through the sessions. */
enum table_id { TABLE_NUMBER, TABLE_NAME, TABLE_REQUEST, TABLE_COUNT };
struct chain {
    struct session *next;
    uint64_t hash;
    bool in;
};
struct table {
    struct session **buckets;
    size_t size, count;
    enum table_id id;
};

/* The ended ones, in the order in which they go: those that were read, by the time of that; those that were not; those whose
 * descriptors are still held open by programs left behind. */
enum aged { AGED_READ, AGED_UNREAD, AGED_OPEN, AGED_COUNT };

struct stream { /* session_io.c: one end that the program's output comes from */
    struct session *session;
    int fd; /* owned; -1: none or at its end */
    struct loop_io *io;
    bool is_stderr;
    bool readable; /* may have bytes: edge-triggered, so it stays set until a read finds nothing */
    bool wide;     /* its pipe was enlarged */
};

struct kill; /* reap_kill.c */

struct archived { /* archive.c: what of an ended session is on disk */
    char *dir;    /* owned: NUMBER-NAME; NULL: it is not there */
    bool queued, status_queued;
    bool from_disk; /* of an earlier life: the disk keeps it, not the keeper */
    unsigned tries;
    int64_t output_from, output_to, saved_from, saved_size; /* what the file "output" holds */
    struct journal_source source;
};

struct session {
    struct registry *registry;
    struct journal *journal;
    struct chain chains[TABLE_COUNT];
    struct list order; /* all sessions, by number */
    struct list dirty; /* to be looked at, at the end of this turn */
    struct list more;  /* has output left over by the budget of this turn */
    struct list aged;
    struct list typed; /* its input queue may keep a page */
    enum aged aged_kind;
    struct list waits;
    bool gone; /* removed; freed at the end of the turn */
    bool unheld; /* parked.c: the keeper had no room for its descriptors, and would not have it after a crash */
    bool unadopted; /* nor for its program's */

    /* session_io.c */
    struct stream out, errors;
    uint64_t seen_head;     /* journal_head when it was last looked at */
    int64_t last_output_ns; /* CLOCK_MONOTONIC; of its start while there was none */
    uint64_t read_turn;     /* the last turn in which its budget was used */
    bool paused;            /* on_slow = pause, or followed: nobody reads fast enough */
    bool followed;          /* somebody takes all output: the program waits for the default reader */
    bool exited, finished;  /* the leader has ended; and everything about it stands in the journal */
    bool left_nobody;       /* reap_left.c: ended, and no process that stems from it is alive */
    bool searched;          /* waiter.c: somebody waits for a pattern */
    bool caught_up;         /* since the exit a read has found nothing */
    bool keeper_knows;      /* of its program, and will tell of the exit */
    bool unacknowledged;    /* the keeper still holds the exit */
    bool own_child;         /* started by the keeper of now: what its program leaves behind falls to that */
    unsigned let_go;        /* what the keeper may close when it hears that the exit is known: 1 << enum keep_fd */
    int how, status; /* si_code and si_status of waitid(2), whose names are macros */
    int64_t exited_ns;
    uint64_t exit_head;
    struct loop_timer drain;

    /* session_input.c */
    int in_fd; /* pipe sessions with stdin: owned; PTYs: -1, out.fd is used */
    struct loop_io *in_io;
    bool in_blocked;    /* waits for room in the kernel */
    bool close_stdin;   /* once the queue is empty */
    bool held;          /* the program has not read for the first time */
    int64_t hold_ms;    /* since its start, at most */
    bool hold_wanted;   /* and input waits for that */
    uint64_t wipe_to;   /* input up to here is secret */
    uint64_t line_from; /* input offset of the first byte after the last line end */
    int64_t last_input_ns, created_ns;
    struct loop_timer hold;

    int64_t hold_ended_ns; /* 0: it was never held back */
    bool held_text;        /* an agent has typed meanwhile, who must not answer for a person */

    struct keyboard *keyboard; /* owner.c; owned; NULL while nobody asks */
    struct staged *staged;     /* secret.c; owned; NULL: none */
    int staged_fd;             /* owned: of one that a predecessor has left; -1: none */
    bool staged_lost;          /* there was one before the restart */

    /* answering.c */
    struct answering *answering; /* owned; NULL while it has not answered anything */
    uint64_t scanned_head;       /* journal_head when its output was last searched for queries */

    /* spawn.c, reap_kill.c, limits.c, recover.c */
    spawned_fn *spawned;
    void *spawned_arg;
    int pidfd;                /* owned; -1: not running or no such thing */
    struct kill *kill;
    int pending_signal; /* asked for before there was a process */
    struct loop_timer lifetime, idle, usage;
    struct archived archived;

    char *program;            /* argv[0], for the text of a failure; NULL once it runs */

    unsigned attached; /* people who look at it; session_attach */
    struct times *times;       /* times.c; owned; NULL: it has printed nothing */
    struct recorder *recorder; /* recorder.c; owned by itself; NULL: it is not recorded */
    char *record_failure;      /* owned; why its recording ended; NULL */
    struct view *view; /* view.c; owned; NULL while nobody has looked at the screen */

    struct news_of_session news; /* news_tell.c */

    /* ready.c */
    struct readiness *readiness;    /* PTYs with a process only */
    bool armed;                     /* it will tell */
    enum evidence ready;            /* what it told in this turn */
    enum waiting_for ready_for;     /* and what for */
    int64_t ready_ns;               /* when */
    uint64_t marked_head;           /* output offset of the last write: what came before doesn't count */
    struct pattern *ready_pattern;  /* of the config: is asked instead of the kernel */
};

enum note_kind { NOTE_CREATED, NOTE_ENDED, NOTE_REMOVED, NOTE_SPAWNED, NOTE_KILLED, NOTE_ALL_ENDED };
struct note { /* registry.c: something to be told at the end of the turn */
    struct list link;
    enum note_kind kind;
    uint64_t number;
    union {
        struct { spawned_fn *fn; void *arg; struct err err; } spawned;
        struct { kill_fn *fn; void *arg; struct kill_result result; } killed;
        char name[JOURNAL_NAME_MAX + 1];
    };
};

struct registry {
    struct loop *loop;
    struct link *link; /* borrowed; NULL between two keepers */
    const struct config *cfg;
    struct registry_events events;
    char *socket_path;
    char word[17]; /* tells this daemon from others of the user */
    struct number numbers;
    struct transfer *transfer;
    struct table tables[TABLE_COUNT];
    struct list order, dirty, more, graveyard, fired, notes;
    struct list aged[AGED_COUNT];
    struct list kills;
    struct list views;   /* view.c: those with a screen, the most recently used last */
    struct list owner_told, owner_turns; /* owner_turn.c: keyboards with something to tell; turns that have come */
    struct list watched; /* watches that will be told of something */
    uint64_t feed_turn;  /* view_feed.c: the last turn in which models were fed, */
    int64_t fed_ns;      /* and what that has taken */
    unsigned count, live, waits;
    unsigned wide_pipes; /* session_io.c: streams whose pipe was enlarged */
    struct list typed;   /* session_input.c: the most recently typed into last */
    unsigned ntyped;
    uint64_t reserved_bytes; /* journals of all sessions at their full size */
    uint64_t turn;
    struct loop_timer kick;  /* there is work that this turn's end has not seen */
    struct loop_timer expiry;
    struct list described;
    enum { STOP_NOT, STOP_WANTED, STOP_DONE } stopping;
    bool handed_over;
    unsigned attached; /* people who look at any of the sessions */
    struct archive *archive;
    char *state_dir;
    struct list recorders, recorders_told; /* recorder.c */
    bool recorders_closing;
    struct news *news;   /* news.c; owned */
    struct reap *reap;   /* reap.c; owned */

    /* parked.c */
    struct list parked; /* sessions that only the keeper has: no descriptors were left for them here */
    struct parked *asked; /* the one that is on its way */
    unsigned nparked, nunheld;
    struct loop_timer parked_again;
    int64_t parked_pause_ms; /* doubles from try to try */
    bool transfer_unheld;
};

/* index.c */
uint64_t table_hash_text(const char *text);
uint64_t table_hash_number(uint64_t number);
void table_remove(struct table *table, struct session *session);
struct session *table_first(const struct table *table, uint64_t hash);
struct session *table_next(const struct table *table, const struct session *session);
void index_init(struct registry *registry);
void index_fini(struct registry *registry);
void index_add(struct registry *registry, struct session *session); /* by all its keys; an ended holder of the name gives it up */
void index_remove(struct registry *registry, struct session *session);
struct session *index_by_name(struct registry *registry, const char *name); /* the one who holds it, live or ended */
void index_take_name(struct registry *registry, struct session *session);
void index_pick_name(struct registry *registry, const char *base, char out[JOURNAL_NAME_MAX + 1]); /* base, base-2… */

/* registry.c */
void registry_kick(struct registry *registry); /* this turn, or a new one at once, ends with our work done */
struct note *registry_note(struct registry *registry, enum note_kind kind, uint64_t number);
void registry_forget(struct registry *registry, struct session *session, bool tell); /* freed at the end of the turn */

/* session.c */
struct session *session_new(struct registry *registry, struct journal *journal, const int fds[KEEP_FD_COUNT]); /* all become its own */
void session_free(struct session *session);
void session_dirty(struct session *session); /* looked at, at the end of the turn */
void session_look(struct session *session); /* the end of the turn is there */
void session_set_pid(struct session *session, pid_t pid, int pidfd);
int session_pidfd(struct session *session); /* of its program, borrowed; made when there is none; -1 with errno */

/* session_io.c */
int session_io_start(struct session *session, struct err *err); /* watches its descriptors */
void session_io_more(struct session *session);                  /* the next budget's worth */
void session_io_close(struct session *session);
void session_hang_up(struct session *session); /* closes its terminal, here and at the keeper, while its program runs */
void session_exited(struct session *session, int how, int status);
void session_drain(struct session *session);  /* at the end of a turn: is its output read to the end? */
void session_resume(struct session *session); /* a reader has moved on */
void session_acknowledge(struct session *session); /* the keeper may reap the leader, once the journal has it and no hunt needs it */
bool session_is_open(const struct session *session);

/* session_input.c */
void session_flush_input(struct session *session);
void session_trim_input(struct session *session); /* it is not typed into any more */
void session_release_hold(struct session *session);
void session_want_hold_end(struct session *session); /* somebody waits until it has read for the first time */
int session_check_input(const struct session *session, const char *data, size_t size, struct err *err); /* as session_type refuses */
/* Straight into the terminal, past the queue, which must be empty: no copy of it is left anywhere. 0 or an error. */
int session_type_direct(struct session *session, const char *data, size_t size, struct err *err);
int session_check_direct(const struct session *session, struct err *err); /* whether that would be refused now */
void session_input_close(struct session *session); /* now, whatever is queued */

/* secret.c */
void secret_take_over(struct session *session); /* a predecessor's session */
int secret_kept_fd(const struct session *session); /* for the keeper; -1: none */
void secret_look(struct session *session); /* the end of the turn is there: a staged one may be due */
void secret_free(struct session *session);

/* waiter.c */
void waiter_look(struct session *session);
void waiter_end_all(struct session *session); /* the session goes: what still waits is told so */
void waiter_run_fired(struct registry *registry);

/* ready.c */
void ready_start(struct session *session);                  /* it has a process */
void ready_fini(struct session *session);
void ready_mark(struct session *session);                   /* just before a write */
void ready_look(struct session *session, bool output);      /* is it ready? Sets session->ready */
void ready_want(struct session *session, bool wanted);      /* somebody waits for it */

/* tombs.c: ended sessions and the caps */
void tombs_init(struct registry *registry);
void tombs_reload(struct registry *registry);
void tombs_place(struct session *session, bool used); /* where it belongs now; used: it goes later than the others of its kind */
/* Makes room for one more session with that much of journal; ERR_LIMIT. */
int tombs_make_room(struct registry *registry, uint64_t bytes, struct err *err);
uint64_t tombs_journal_bytes(const struct journal *journal);

/* spawn.c */
void spawn_failed(struct session *session, const struct err *err);

/* reap_kill.c */
void kill_started(struct session *session); /* there is a process now: what was asked for before is done */
void kill_leader_ended(struct session *session); /* drained: the hunt for what it left begins */
void kill_forget(struct session *session);       /* the session goes or was never there: who waits for its death is told */
bool kill_wants_leader(const struct session *session); /* its exit must not be acknowledged yet: the number guards the hunt */
void kill_fini(struct registry *registry); /* all that are under way: who waits for them is told */

/* recover.c */
int recover_transfer(struct registry *registry, struct err *err); /* there is one, and the keeper holds it */

void recover_hold(struct registry *registry, struct session *session); /* gives it to the keeper; NULL: what is of all */

/* parked.c */
void parked_init(struct registry *registry);
void parked_fini(struct registry *registry);
struct parked *parked_find(struct registry *registry, uint64_t number); /* NULL: it is not one of them */
bool parked_is_meant(struct registry *registry, const char *word, struct err *err); /* true with ERR_LIMIT: it, or perhaps it */
void parked_arrived(struct registry *registry, uint64_t number); /* it has been taken over */
void parked_given_up(struct registry *registry);                 /* the keeper has died, and they with it */
void parked_hurry(struct registry *registry);   /* descriptors may be free now */
void parked_forget(struct session *session);    /* it goes */

/* recorder.c */
void recorder_tell(struct registry *registry); /* who asked for a recording that was there already */

/* described.c */
void described_load(struct registry *registry);
void described_free(struct registry *registry);
void described_ended(struct session *session);
void described_started(struct session *session);
void described_killed(struct session *session); /* on request: one that is about to come back does not */
void described_failed(struct session *session, const struct err *err);

/* limits.c */
size_t limits_plan(const int64_t limits[SESSION_LIMIT_COUNT], struct plan_limit out[SESSION_LIMIT_COUNT]);
void limits_start(struct session *session);
void limits_stop(struct session *session);
/* The limit that this death means; KILLER_NONE. */
enum session_killer limits_blame(const struct session *session, int exit_code, int signo);
#endif
