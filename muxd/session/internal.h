/* internal: the insides of a session and of the registry. The files of this room and the parts read
 * them; each field is written by the file that stands beside it, or above its group, through whose
 * functions (core.h) others change it. */
#ifndef MUXD_SESSION_INTERNAL_H
#define MUXD_SESSION_INTERNAL_H
#include "config/config.h"
#include "journal/transfer.h"
#include "keep/link.h"
#include "session/core.h"
#include "session/echoes.h"
#include "session/index.h"
#include "session/learned.h"
#include "session/number.h"
#include "session/part.h"
#include "session/times.h"
#include "sys/loop.h"
#include "sys/pattern.h"

#define NS_PER_MS 1000000LL

/* The ended ones, in the order in which they go: those that were read, by the time of that; those
 * that were not; those whose descriptors are still held open by programs left behind. */
enum aged { AGED_READ, AGED_UNREAD, AGED_OPEN, AGED_COUNT };

struct stream { /* session_io.c: one end that the program's output comes from */
    struct session *session;
    int fd; /* owned; -1: none or at its end */
    struct loop_io *io;
    bool is_stderr;
    bool readable; /* may have bytes: edge-triggered, so it stays set until a read finds nothing */
    bool wide;     /* its pipe was enlarged */
};

struct input_queue { /* session_input.c */
    int fd;             /* pipe sessions with stdin: owned; PTYs: -1, out.fd is used */
    struct loop_io *io; /* of fd */
    struct list typed;  /* of the registry: it may keep a page */
    bool blocked;       /* waits for room in the kernel */
    bool to_close;      /* once the queue is empty */
    bool held;          /* the program has not read for the first time */
    bool hold_wanted;   /* and input waits for that */
    bool held_text;     /* text of an agent, who must not answer for a person, is in the queue */
    bool room_wanted;   /* it is looked at when something has left the queue */
    int64_t hold_ms;    /* since its start, at most */
    int64_t hold_ended_ns; /* 0: it was never held back */
    int64_t last_ns;    /* CLOCK_MONOTONIC; of its start while nobody has typed */
    uint64_t wipe_to;   /* input up to here is secret */
    uint64_t line_from; /* input offset of the first byte after the last line end */
    struct loop_timer hold;
};

struct prompt { /* prompt.c */
    struct readiness *policy;     /* PTYs with a process only */
    struct pattern *pattern;      /* of the config: is asked instead of the kernel */
    bool armed;                   /* it will tell */
    bool asked;                   /* a part wants to know; until the end of its look */
    /* what it told in this turn; EVIDENCE_NONE: the program is not ready */
    enum evidence evidence;
    enum waiting_for waiting_for; /* and what for */
    int64_t at_ns;                /* when */
    /* output offset of the last write: what came before doesn't count */
    uint64_t marked_head;
    unsigned marks;               /* counts the writes */
    struct learned learned;       /* learned.c */
};

struct session {
    struct registry *registry;
    struct journal *journal;
    struct chain chains[TABLE_COUNT];
    struct list order;      /* all sessions, by number */
    uint64_t reserved_bytes; /* index.c: what it was counted with */
    struct list dirty;      /* to be looked at, at the end of this turn */
    struct list more;       /* has output left over by the budget of this turn */
    struct list aged;       /* ended.c */
    enum aged aged_kind;
    int64_t owed_since_ms;  /* ended.c: CLOCK_BOOTTIME; a new worker counts anew */
    struct list waits;      /* waiter.c */
    bool searched;          /* waiter.c: somebody waits for a pattern */
    bool gone;              /* registry.c: removed; freed at the end of the turn */
    bool from_disk;         /* recover.c: of an earlier life, that the keeper doesn't hold */
    bool to_give;           /* recover.c: it has still to be given to the keeper */
    unsigned attached;      /* people who look at it; session_attach */
    int64_t created_ns;

    /* part.h: each owned by its part; NULL while that knows nothing of it */
    void *part[PART_COUNT];
    /* owned until its part has taken it over: KEEP_FD_SECRET of a predecessor's session; -1:
     * none */
    int part_fd;

    /* session_io.c */
    struct stream out, errors;
    uint64_t seen_head;     /* journal_head when it was last looked at */
    int64_t last_output_ns; /* CLOCK_MONOTONIC; of its start while there was none */
    uint64_t read_turn;     /* the last turn in which its budget was used */
    bool paused;            /* it waits for who reads it: on_slow = pause, or a follower */
    /* connections that read it to its end, so it stays until then */
    unsigned followers;
    bool awaiting;          /* followed.c: who followed it before a restart has not read since */
    uint64_t follower_at;   /* next byte that its follower may not have */
    bool watched;           /* somebody has looked at its screen, and must keep up with it */
    bool caught_up;         /* since the exit a read has found nothing */
    struct times *times;    /* owned; NULL: it has printed nothing */

    struct echoes *echoes; /* echoes.c; owned; NULL: nothing was typed */
    struct input_queue input;
    struct prompt prompt;

    /* Its program: spawn.c, session_life.c, recover.c. */
    struct {
        spawned_fn *fn;
        void *arg;
        char *program; /* argv[0], for the text of a failure; NULL once it runs */
    } birth;
    int pidfd;         /* owned; -1: not running or no such thing */
    bool keeper_knows; /* of its program, and will tell of the exit */
    /* started by the keeper of now: what its program leaves behind falls to that */
    bool own_child;
    struct {
        struct loop_timer lifetime, idle, usage;
    } limits; /* limits.c */

    /* Its end. */
    /* session_exit.c: the leader has ended; and everything about it stands in the journal */
    bool exited, finished;
    bool unacknowledged;   /* the keeper still holds the exit */
    /* what the keeper may close when it hears that the exit is known: 1 << enum keep_fd */
    unsigned let_go;
    struct {
        int how, status; /* si_code and si_status of waitid(2), whose names are macros */
        int64_t ns;
        uint64_t head; /* of the output, then */
        struct loop_timer drain;
        bool deserted; /* then already; what is read from then on is all there is */
    } exit;
    /* descendants_left.c: ended, and no descendant of it is alive; none but its sandbox's own */
    bool childless, deserted;
    char *nonce;         /* nonce.c; owned; NULL: it was not asked for */
    const char *sandbox; /* sandbox.c: its mode, static; NULL: it is not confined */
    int pending_signal; /* session_acts.c: asked for before there was a process */
};

struct registry {
    struct loop *loop;
    struct link *link; /* borrowed; NULL between two keepers */
    const struct config *cfg;
    struct registry_above above;
    void *part[PART_COUNT];
    char *socket_path;
    char word[17]; /* tells this daemon from others of the user */
    struct number numbers;
    struct transfer *transfer;
    struct table tables[TABLE_COUNT];
    struct list order, dirty, more, graveyard;
    struct defer_queue deferred; /* what is told at the end of the turn */
    struct list aged[AGED_COUNT];
    unsigned count, live, waits;
    unsigned wide_pipes; /* session_io.c: streams whose pipe was enlarged */
    struct list typed;   /* session_input.c: the most recently typed into last */
    unsigned ntyped;
    uint64_t reserved_bytes; /* journals of all sessions at their full size */
    uint64_t turn;
    struct loop_timer kick;  /* there is work that this turn's end has not seen */
    struct loop_timer expiry;
    struct loop_timer come_back; /* followed.c */
    int64_t come_back_ns;        /* when it first looked */
    struct list declared; /* declared.c: what is known of the [session NAME]s */
    enum { STOP_NOT, STOP_WANTED, STOP_DONE } stopping;
    bool handed_over;
    unsigned attached; /* people who look at any of the sessions */
    char *state_dir;
    struct descendants *descendants; /* descendants.c; owned */
    struct sandboxes *sandboxes;     /* sandbox.c; owned */
    unsigned char *nonce_key;        /* nonce.c; owned; NULL: it was not needed */
};
#endif
