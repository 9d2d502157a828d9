/* hooks: runs the commands of [hook NAME] on the events that they are for. Each gets its event
 * on standard input, has a timeout of its own, and delays nothing: what can't be started now
 * waits in the ring of events (parts/events/events.h), which tells what it has lost. */
#ifndef MUXD_SERVER_HOOKS_H
#define MUXD_SERVER_HOOKS_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>
struct server;
struct hooks;
struct hooks *hooks_new(struct server *server); /* after the hand-over */
void hooks_free(struct hooks *hooks);           /* kills the hooks that run; NULL is fine */
void hooks_reload(struct hooks *hooks);         /* the config was replaced; NULL is fine */
/* The daemon stops: the last events are handed out and the hooks have a little time for them.
 * True: no hook runs any more, or hooks is NULL. To be asked again at the end of each turn. */
bool hooks_are_done(struct hooks *hooks);

/* hook_start.c: starts the hook's command under a minder of its own, which bears the mark
 * (sys/mark.h) and has the event on standard input. 0, *pid of the minder and *out_fd, the
 * non-blocking end of its output (both become the caller's); or an errno. */
struct config_hook;
struct hook_event {
    const char *type, *text; /* its word; the whole event, as one line */
    size_t size;             /* of text */
};
int hook_start(const struct config_hook *hook, const struct hook_event *event,
               const char *socket_path, rlim_t mark, pid_t *pid, int *out_fd);
/* hook_minder.c: `muxd --hook COMMAND --hook-timeout MS`: runs the command with sh, waits until
 * it and all that it has started have ended, and returns its status; after the timeout, or on
 * SIGTERM, it kills them. */
int hook_minder_main(const char *command, const char *timeout);
#endif
