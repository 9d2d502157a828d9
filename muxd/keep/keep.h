/* keep: what muxd-keeper and muxd's worker say to each other: fixed-size messages with sequence
 * numbers over one SOCK_SEQPACKET socketpair, descriptors beside them (SCM_RIGHTS). The keeper
 * reads numbers only: it parses nothing that a client or a program wrote. */
#ifndef MUXD_KEEP_KEEP_H
#define MUXD_KEEP_KEEP_H
#include <stdint.h>
#include <sys/types.h>

#define KEEP_PROTOCOL 1
#define KEEP_LINK_FD 3        /* the worker's end after exec; told by "--worker" */
#define KEEP_LISTEN_FD 4      /* the listening socket, if there is one: for as long as the kernel
                               * refuses the hand-over */
#define KEEP_SESSION_MIN 1000 /* slots with lower numbers belong to the daemon, not to a session */

/* "muxd-keep-1": the protocol as a word. muxd and muxd-keeper give it to each other, so that
 * programs of two versions refuse each other before either has begun. */
extern const char keep_protocol_word[];
/* Where muxd-keeper lies, seen from muxd: beside it (a build), else in ../libexec/muxd (installed);
 * for beside_find. */
extern const char *const keep_program_places[];

/* The tag under which the keeper holds a descriptor: it says what the descriptor is. Only the
 * worker acts on it. A slot holds at most FD_PASS_MAX descriptors: one message carries all. */
enum keep_tag {
    /* a session's */
    KEEP_FD_JOURNAL, /* memfd */
    KEEP_FD_MASTER,  /* PTY master; -1 for pipes */
    KEEP_FD_OUT,     /* pipe sessions: read end of stdout */
    KEEP_FD_ERR,     /* pipe sessions: read end of stderr */
    KEEP_FD_IN,      /* pipe sessions with stdin: write end */
    KEEP_FD_SECRET,  /* memfd: a staged secret */
    /* the daemon's */
    KEEP_FD_TRANSFER,   /* memfd: what is known of the bytes in the four pipes below */
    KEEP_FD_TRANSFER_R, /* bytes on their way from a program into its ring */
    KEEP_FD_TRANSFER_W,
    KEEP_FD_INPUT_R,    /* bytes on their way from a request to a program */
    KEEP_FD_INPUT_W,
    KEEP_FD_EVENTS,    /* memfd: the ring of events */
    KEEP_FD_LOCK,      /* the lock file beside the socket */
    KEEP_FD_CONFIG,    /* memfd: the text of the config in force */
    KEEP_FD_DIRECTORY, /* inotify watch of the socket's directory */
    KEEP_FD_COUNT
};
#define KEEP_NO_FDS {[0 ... KEEP_FD_COUNT - 1] = -1} /* initializer of an int[KEEP_FD_COUNT] */

enum keep_type {
    /* worker to keeper */
    /* arg[0]: protocol. First message of a worker: the keeper answers with the hand-over */
    KEEP_HELLO = 1,
    /* session, arg[0]: mask of enum keep_tag, descriptors in that order; replaces those that are
     * held already */
    KEEP_HOLD,
    /* the listening socket; arg[0]: 1 when systemd gave it to the daemon. The keeper tells the
     * daemon's starter that it listens, even without room for the socket. Last of all when a
     * worker gives everything to its keeper */
    KEEP_LISTEN,
    /* session; descriptors: plan memfd, child's 0, 1, 2, then those of the mask in arg[0], as in
     * KEEP_HOLD. All of them or none are held */
    KEEP_SPAWN,
    /* session, pid: the exit stands in the journal, reap it; arg[0]: mask of enum keep_tag to close
     * first */
    KEEP_ACK,
    /* session; arg[0]: mask of enum keep_tag to close, 0: close everything held for it and forget
     * it */
    KEEP_DROP,
    KEEP_SERVED,  /* this worker has answered a request: no back-off after its death */
    KEEP_STOP,    /* the worker stops on purpose; the keeper ends when it does */
    KEEP_UPGRADE, /* re-execute keeper and worker from the programs on disk */
    /* session, pid; descriptor: pidfd. To a keeper that the worker started: a program that runs
     * already and is not the keeper's child. Ignored when the session has a program already */
    KEEP_ADOPT,
    KEEP_STOPPING, /* a stop has begun: no upgrade any more, and the next worker goes on with it */
    /* keeper to worker */
    /* hand-over: session, pid (0: not running), arg[0]: mask of enum keep_tag; descriptors */
    KEEP_SLOT = 64,
    KEEP_SLOT_LISTEN, /* arg[0]: as in KEEP_LISTEN */
    /* end of the hand-over; arg[0]: count of slots, arg[1]: generation of the worker (1: first),
     * arg[2]: wait status of the worker before, -1: none, arg[3]: 0, or why an upgrade failed after
     * it had ended the worker before: errno | enum keep_upgrade << 16 */
    KEEP_HANDED,
    KEEP_SPAWNED, /* session, pid; descriptor: pidfd where the kernel has them */
    /* session; arg[0]: enum plan_step, arg[1]: errno. Repeated in a hand-over, right after its
     * slot, until KEEP_ACK or KEEP_SPAWN */
    KEEP_FAILED,
    /* session, pid; arg[0]: si_code (CLD_EXITED, CLD_KILLED, CLD_DUMPED; 0: lost), arg[1]:
     * si_status. Repeated after a hand-over until KEEP_ACK */
    KEEP_EXITED,
    KEEP_UPGRADE_FAILED, /* arg[0]: errno, arg[1]: enum keep_upgrade, what was tried */
    /* The keeper had no room for the descriptors of a KEEP_HOLD, KEEP_LISTEN or KEEP_ADOPT. The
     * worker waits a moment and gives everything again, KEEP_LISTEN last */
    KEEP_MISSED,
    /* Both ways, part of a hand-over. arg[0], arg[1]: soft RLIMIT_NOFILE and RLIMIT_CORE (-1:
     * infinite), arg[2]: oom_score_adj, all as they were when muxd was started; arg[3]: generation.
     * From a keeper: pid: its own; descriptors: its own program (O_PATH), and the sentinel's socket
     * if there is one. From a worker to a keeper that it starts: the sentinel's socket. */
    KEEP_WAS = 128
};

/* What an upgrade tried when it failed; told as text by link_upgrade_text(). */
enum keep_upgrade {
    KEEP_UPGRADE_TRIAL = 1,
    KEEP_UPGRADE_EXEC,
    KEEP_UPGRADE_STATE,
    KEEP_UPGRADE_WORKER,
    KEEP_UPGRADE_KEEPER, /* muxd-keeper's answer in the trial (trial.h) */
    KEEP_UPGRADE_MUXD    /* muxd's */
};

struct keep_msg {
    uint32_t size_and_protocol; /* sizeof(struct keep_msg) << 16 | KEEP_PROTOCOL */
    uint32_t type;
    uint64_t seq;
    uint64_t session;
    int64_t pid;
    int64_t arg[4];
};
#endif
