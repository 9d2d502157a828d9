/* registry: all sessions, live and ended: makes them, finds them by number or name, ends them,
 * forgets them. Talks to the keeper. */
#ifndef MUXD_SESSION_REGISTRY_H
#define MUXD_SESSION_REGISTRY_H
#include "session/session.h"
#include <sys/resource.h>

struct config;
struct json;
struct link;
struct loop;
struct registry;

struct part;
struct registry_above { /* what lies above the core */
    /* part.h: NULL at their end, they outlive the registry. NULL: none */
    const struct part *const *parts;
    /* after registry_stop_all, at the end of a turn; NULL: nobody wants to know */
    void (*all_ended)(void *arg);
    void *arg;
};

/* cfg is borrowed and replaced by registry_reload. state_dir: where the next number is kept (never
 * NULL). ERR_SYSTEM: the next number can't be read; *out is whole all the same, and takes numbers
 * from memory. */
int registry_new(struct registry **out, struct loop *loop, struct link *link,
                 const struct config *cfg, const char *state_dir, const char *socket_path,
                 const struct registry_above *above, struct err *err);
/* forgets everything; the programs live on in the keeper */
void registry_free(struct registry *registry);
/* Removed [session]s stay as they run; start = boot ones that are new begin. */
void registry_reload(struct registry *registry, const struct config *cfg);
/* after the hand-over: starts the sessions with start = boot that don't run */
void registry_boot(struct registry *registry);
/* Before that, in a successor: the config that was in force, whose sessions were booted. */
void registry_was_booted(struct registry *registry, const struct config *held);

/* From the link's handlers, as they come. */
/* enum keep_fd; number 0: the transfer's */
void registry_adopt(struct registry *registry, uint64_t number, pid_t pid, int fds[]);
void registry_handed_over(struct registry *registry);
void registry_spawned(struct registry *registry, uint64_t number, pid_t pid, int pidfd);
void registry_spawn_failed(struct registry *registry, uint64_t number, int step, int error);
void registry_exited(struct registry *registry, uint64_t number, pid_t pid, int code, int status);
/* fresh NULL: there is none yet, nothing can be started. Else registry_give is next. */
void registry_keeper_lost(struct registry *registry, struct link *fresh);
/* Begins to give the keeper everything that it must hold, even if it holds some of it already.
 * registry_give_more goes on whenever the link has room. */
void registry_give(struct registry *registry);
enum given {
    GIVEN_ALL,
    GIVEN_SOME,    /* the link is full; more with registry_give_more */
    GIVEN_NOT_NOW  /* no descriptors were left for some programs: begin again, later */
};
enum given registry_give_more(struct registry *registry);

struct session_spec {       /* all borrowed during the call */
    const char *name;       /* NULL: from the program's base name, with -2, -3… */
    /* with -2, -3… when taken; used when name is NULL. NULL: base name of argv[0] */
    const char *default_name;
    const char *cmd;        /* what people are shown */
    char *const *argv;
    char *const *env;       /* complete; MUXD_SESSION, _ID, MUXD_SOCKET are added */
    const char *cwd;        /* absolute */
    bool tty, stdin_open;
    size_t kept_bytes;      /* as in journal_make: both ends of both streams; 0: none */
    int rows, cols;
    mode_t umask;
    bool record;            /* from its beginning, see parts/record/recorder.h */
    enum session_slow on_slow;
    int64_t limits[SESSION_LIMIT_COUNT]; /* 0: none */
    const struct confine_wish *sandbox; /* NULL: not confined */
    const char *declared;   /* the [session NAME] it comes from, NULL none */
    /* kept with it: who asked for it and how; any may be NULL */
    const char *source, *call_id, *client;
    const char *policy; /* the [policy NAME] for what comes from inside of it; NULL: none */
    /* For the audit: who asked and what was decided; NULL: nobody told. judged: a policy, a rule or
     * a person has decided it. */
    const struct json *on_record;
    bool judged;
    uint64_t request_hash;  /* 0: none */
    uint64_t follower;      /* it waits for that one from the start; session_follow is next */
};
/* *out is starting: a wait on it ends when it has ended. spawned (may be NULL) is called once at
 * the end of a turn: err->code 0, or ERR_SPAWN / ERR_SYSTEM with a text like "'PROGRAM': No such
 * file or directory"; then the session is gone, as if it had never been. Errors at once:
 * ERR_NAME_TAKEN, ERR_BAD_NAME, ERR_LIMIT, ERR_TOO_LARGE, ERR_STOPPING, ERR_SYSTEM. */
typedef void spawned_fn(void *arg, uint64_t number, const struct err *err);
int registry_create(struct registry *registry, const struct session_spec *spec, spawned_fn *spawned,
                    void *arg, struct session **out, struct err *err);
/* Starts the session that the config describes (name: of a [session NAME]). env_context: the
 * caller's environment or NULL; on_start is typed once it is ready. */
int registry_start_declared(struct registry *registry, const char *name, char *const *env_context,
                            spawned_fn *spawned, void *arg, struct session **out, struct err *err);
bool registry_is_declared(const struct registry *registry, const char *name, bool *on_demand);

struct session *registry_by_number(struct registry *registry, uint64_t number); /* NULL: none */
/* word: a name or a number. A live session has precedence over a tombstone of the same name.
 * ERR_NO_SUCH_SESSION names it and the nearest name. */
struct session *registry_find(struct registry *registry, const char *word, struct err *err);
/* made by that exec already; NULL */
struct session *registry_by_request(struct registry *registry, uint64_t request_hash);
/* by number */
void registry_each(struct registry *registry, bool live_only,
                   bool (*fn)(void *arg, struct session *session), void *arg);
/* a tombstone; ERR_NOT_ENDED */
int registry_remove(struct registry *registry, struct session *session, struct err *err);

/* ends all sessions; registry_above.all_ended when done */
void registry_stop_all(struct registry *registry);
/* What is alive of sessions that the registry does not have: of an earlier life of the daemon, or
 * removed since. pids: lent. */
typedef void left_fn(void *arg, uint64_t number, const pid_t *pids, size_t count);
void registry_each_left(struct registry *registry, left_fn *fn, void *arg);
rlim_t registry_hook_mark(const struct registry *registry); /* that of all hooks (sys/mark.h) */
/* The session whose mark process pid bears; NULL: none. For refusing to hurt the caller. */
struct session *registry_of_process(struct registry *registry, pid_t pid);

struct registry_stats {
    unsigned live, ended;
    uint64_t next_number;
    unsigned passes; /* over all of /proc, since the worker started */
    uint64_t journal_bytes;
    unsigned waits;
};
unsigned registry_waits(const struct registry *registry); /* calls that are waiting */
/* looks at all sessions */
void registry_stats(const struct registry *registry, struct registry_stats *stats);
#endif
