/* kept: the keeper's inner state, shared by its files. Private to the keeper's process. */
#ifndef MUXD_KEEP_KEPT_H
#define MUXD_KEEP_KEPT_H
#include "keep/keeper/keeper.h"
#include "keep/keeper/slots.h"
#include <signal.h>

#define KEEPER_ODD_MAX 256 /* messages about no slot that wait for a worker */

/* epoll tags, above a slot's place */
enum keeper_watch { WATCH_LINK = 1, WATCH_SIGNALS, WATCH_WORKER, WATCH_STATUS, WATCH_PIDFD };
/* how far the hand-over is */
enum talk { TALK_NONE, TALK_WAS, TALK_LISTEN, TALK_SLOTS, TALK_HANDED, TALK_DONE };

struct as_was { /* what muxd was started with, to be given back to the programs */
    int64_t nofile_soft, core_soft, oom_score_adj;
};

struct keeper {
    struct keeper_options options;
    int epoll, signals, link, listener;
    bool listener_given;            /* by a service manager, as the worker says */
    /* our own program, O_PATH; old: before an upgrade, until the new one has proved itself */
    int exe, old_exe;
    /* the worker's, likewise; -1: options.worker_path is executed */
    int worker_exe, old_worker_exe;
    struct as_was was;
    int64_t oom_score_adj; /* ours now; an ordinary user can't lower it */
    struct slots slots;

    pid_t worker;          /* 0: none now */
    int worker_pidfd;      /* of a worker that is not our child; -1 */
    bool served;           /* the worker has answered a request */
    bool up;               /* the worker listens */
    int failures;          /* workers in a row that could not be started or did not come up */
    bool listened;         /* some worker has said KEEP_LISTEN */
    int32_t worker_before; /* wait status of the worker before; -1: none */
    /* times: CLOCK_MONOTONIC, 0: not set */
    int64_t generation, backoff_ms, restart_at_ms, started_at_ms, leave_until_ms;

    enum talk talk;
    struct slot *hand;  /* the slot whose turn it is in the hand-over */
    int64_t blind_at_ms; /* something is not watched: look at everything then; 0: no need */
    int64_t all_at_ms;   /* look at all children then; 0: no need */
    bool hidden;         /* a zombie that waits for its acknowledgement may hide others */
    int64_t retry_at_ms; /* the link refused, and no event tells when to try again */
    bool want_write;
    uint64_t seq;
    struct keep_msg odd[KEEPER_ODD_MAX];
    int odd_first, odd_count;

    bool stopping;      /* a signal asked for a clean stop, or the worker has begun one */
    bool stop_overdue;  /* and the worker did not end in time */
    bool stopped;       /* the worker has said KEEP_STOP */
    int64_t stop_told;  /* generation of the worker that knows of the stop */
    int64_t end_at_ms;  /* when to go on with the end of the programs */
    int ending;         /* how far that is: 0 not begun, 1 hung up, 2 killed */
    int exit_status;    /* -1 while the keeper runs */

    pid_t trial;        /* process in which the new programs look at our state; 0: none */
    int64_t trial_until_ms; /* 0: its time is over */
    int new_exe, new_worker_exe; /* the programs that are tried, as exe and worker_exe; -1 */
    int answer, nonce;  /* where the answer comes, and the number that has to be in it */
    int mind;           /* to the minder; -1: there is none */
    bool upgrade_now;       /* the trial went well */
    int64_t prove_until_ms; /* after an upgrade: the new worker has to come up */
    int failed_error, failed_tried; /* of an upgrade, until a worker is told */

    pid_t sentinel;  /* 0: none, or not our child */
    int sentinel_fd; /* -1: none */
    int sentinel_tries;
    bool owes_was;   /* the worker has to hear of a new sentinel */
    /* It speaks as before the upgrade, and is replaced once the new keeper has proved itself: until
     * then the minder needs it, and another one would end all programs with the new keeper. */
    bool old_sentinel;

    bool lacks;       /* descriptors from the worker had no room here: it gives them again */
    bool owes_missed; /* and has not been told so yet */
};

/* keeper.c, begin.c */
/* the keeper of this process, set up; NULL with errno */
struct keeper *keeper_new(const struct keeper_options *options);
/* the same in a process that was forked from the keeper's and goes on with what that held; false
 * with errno */
bool keeper_again(struct keeper *keeper);
int keeper_loop(struct keeper *keeper);
void keeper_watch(struct keeper *keeper, int fd, enum keeper_watch what, int place, bool write_too);
void keeper_unwatch(struct keeper *keeper, int fd);
void keeper_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void keeper_unblock_signals(void); /* in a child: empty mask */
/* Executes the program of a descriptor, which stays open in it only if it is a script: that can't
 * be read otherwise. Returns with errno. */
void keeper_execute(int exe, char *const args[]);
/* ends the programs that are left, then the keeper */
void keeper_end(struct keeper *keeper, int status);
/* For when there is nothing to lose. A limit of the kernel may be the reason: the worker's program
 * can tell which, so we become that program, which tells it and ends. Returns only when it can't be
 * executed; the plain reason was told then. */
void keeper_give_up(const struct keeper_options *options, const char *what, int error);

/* talk.c: messages */
void talk_take(struct keeper *keeper); /* takes all messages that are there */
void talk_pump(struct keeper *keeper); /* sends what the worker has to hear, as far as it can */
void talk_odd(struct keeper *keeper, struct keep_msg msg); /* a message about no slot */
void talk_upgrade_failed(struct keeper *keeper, int error, int tried);
void talk_over(struct keeper *keeper); /* the worker is gone */

/* programs.c: session programs from fork to reaping */
/* takes the descriptors */
void programs_spawn(struct keeper *keeper, uint64_t session, int fds[], size_t nfds);
void programs_adopt(struct keeper *keeper, uint64_t session, pid_t pid, int pidfd);
void programs_status(struct keeper *keeper, struct slot *slot); /* its status pipe can be read */
void programs_look(struct keeper *keeper, struct slot *slot);   /* has it ended? */
void programs_look_at_all(struct keeper *keeper);               /* also at orphans */
void programs_look_later(struct keeper *keeper);                /* the same, in a moment */
void programs_look_at(struct keeper *keeper, pid_t pid);
void programs_ack(struct keeper *keeper, uint64_t session, pid_t pid);
void programs_drop(struct keeper *keeper, uint64_t session, int64_t mask);
void programs_watch(struct keeper *keeper, struct slot *slot);
int programs_signal(struct keeper *keeper, int signo); /* to all groups; how many programs live */

/* supervise.c: the worker's life */
void supervise_start(struct keeper *keeper);
void supervise_look(struct keeper *keeper);  /* has it died? */
void supervise_kill(struct keeper *keeper);  /* SIGKILL, waited for, its last messages taken */
void supervise_signal(struct keeper *keeper, int signo);
void supervise_served(struct keeper *keeper);
void supervise_timers(struct keeper *keeper, int64_t now_ms);

/* sentinel_process.c: the sentinel's life */
/* the keeper goes on without one if the fork fails */
void sentinel_start(struct keeper *keeper);
void sentinel_restart(struct keeper *keeper); /* after its death; tells it of all programs */

/* state.c: the state across exec */
/* a sealed memfd; worker_exe: what a keeper that goes back executes. -1 with errno */
int state_save(struct keeper *keeper, int worker_exe);
/* keeper NULL: only checks whether it could take over. False with errno. */
bool state_load(int fd, struct keeper *keeper);
void state_set_cloexec(struct keeper *keeper, bool on); /* of all that stands in the state */
/* a memfd with the numbers of the journals in a state that was loaded; -1 with errno */
int state_journals(int state);

/* trials.c: the question before an upgrade */
void trials_begin(struct keeper *keeper);
/* its process has ended, with status 0 if good; upgrade_timers goes on if the answer is, too */
void trials_over(struct keeper *keeper, bool good);
void trials_timers(struct keeper *keeper, int64_t now_ms);
void trials_forget(struct keeper *keeper); /* the programs that were tried */

/* minder.c: minds the keeper after an upgrade. All but minder_start do nothing without a minder. */
bool minder_start(struct keeper *keeper);         /* false with errno */
void minder_begun(const struct keeper *keeper);   /* the new keeper has the state */
void minder_worker(const struct keeper *keeper);  /* in the process that becomes a worker */
void minder_dismiss(struct keeper *keeper);       /* all is well */
void minder_well(int mind);                       /* the same */

/* upgrade.c: the change to other programs */
void upgrade_timers(struct keeper *keeper, int64_t now_ms);
/* returns only when that failed too */
void upgrade_fall_back(struct keeper *keeper, int error, int tried);
void upgrade_proven(struct keeper *keeper);
#endif
