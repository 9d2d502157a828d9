/* hooks: runs the commands of [hook NAME] on the events that they are for. Each gets its event on
 * standard input, has a time of its own, and holds nobody up: what can't be started now waits in
 * the ring of events (parts/events/events.h), which tells what it has lost. */
#ifndef MUXD_SERVER_HOOKS_H
#define MUXD_SERVER_HOOKS_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>
struct server;
struct hooks;
struct hooks *hooks_new(struct server *server); /* after the hand-over */
void hooks_free(struct hooks *hooks);           /* kills what runs; NULL is fine */
void hooks_reload(struct hooks *hooks);         /* the config is another one; NULL is fine */
/* The daemon ends: the last events are handed out and the hooks have a little time. True: none runs
 * any more, or NULL; else fn is called once that is so. To be asked again and again. */
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
/* hook_minder.c: `muxd --hook COMMAND --hook-timeout MS`: runs command with sh, and ends with its
 * status once it and all that it has started have ended; after that time, or on SIGTERM, they are
 * killed. */
int hook_minder_main(const char *command, const char *timeout);
#endif
