/* hooks: runs the commands of [hook NAME] on the events that they are for. Each gets its event
 * on standard input, has a timeout of its own, and delays nothing: what can't be started now
 * waits in the ring of events (parts/events/events.h), which tells what it has lost. */
#ifndef MUXD_SERVER_HOOKS_H
#define MUXD_SERVER_HOOKS_H
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
struct server;
struct hooks;
struct hooks *hooks_new(struct server *server); /* after the hand-over */
void hooks_free(struct hooks *hooks);           /* kills the hooks that run; NULL is fine */
void hooks_reload(struct hooks *hooks);         /* the config was replaced; NULL is fine */
/* One of them runs in a sandbox, or would; hooks may be NULL. */
bool hooks_confine(const struct hooks *hooks);
/* The daemon stops: the last events are handed out and the hooks have a little time for them.
 * True: no hook runs any more, or hooks is NULL. To be asked again at the end of each turn. */
bool hooks_are_done(struct hooks *hooks);

/* hook_start.c: starts the hook's command under a minder of its own, which bears the mark
 * (sys/mark.h) and has the event on standard input. 0, *pid of the minder and *out_fd, the
 * non-blocking end of its output (both become the caller's); or err. */
struct config_hook;
struct err;
struct registry;
struct hook_event {
    const char *type, *text; /* its word; the whole event, as one line */
    size_t size;             /* of text */
};
int hook_start(struct server *server, const struct config_hook *hook,
               const struct hook_event *event, pid_t *pid, int *out_fd, struct err *err);

/* hook_confine.c: what a hook executes, in its directory and, where it has one, in its sandbox. */
bool hook_is_confined(const struct config_hook *hook);
/* Calls fn once when its sandbox can be chosen, unless it is forgotten before. NULL: that is now,
 * and fn is not called. */
struct hook_trial;
struct hook_trial *hook_await_trial(struct registry *registry, const struct config_hook *hook,
                                    void (*fn)(void *arg), void *arg);
void hook_trial_forget(struct hook_trial *trial); /* NULL is fine */
struct hook_command {
    char **argv, **env, *cwd;
};
/* env is empty afterwards. The caller owes hook_command_fini in any case. As confine_choose and
 * confine_argv. */
struct strv;
int hook_command_make(struct registry *registry, const struct config_hook *hook, struct strv *env,
                      struct hook_command *command, struct err *err);
void hook_command_fini(struct hook_command *command);

/* hook_report.c: tells the log how one ended. */
struct hook_end {
    const char *name; /* of the hook */
    uint64_t seq;     /* of the event */
    /* late: past its timeout; cut: it printed more than it may */
    bool late, cut;
    size_t printed;
    const char *text; /* the beginning of that */
    size_t size;
};
void hook_report(const struct hook_end *end, const siginfo_t *info);

/* hook_minder.c: `muxd --hook-timeout MS --hook COMMAND...`: executes the command, waits until
 * it and all that it has started have ended, and returns its status; after the timeout, or on
 * SIGTERM, it kills them. */
int hook_minder_main(char **command, const char *timeout);
#endif
