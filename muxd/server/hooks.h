/* hooks: runs the commands of [hook NAME] on the events that they are for. Each gets its event on
 * standard input, has a time of its own, and holds nobody up: what can't be started now waits in
 * the ring of events (parts/events/events.h), which tells what it has lost. */
#ifndef MUXD_SERVER_HOOKS_H
#define MUXD_SERVER_HOOKS_H
#include <stdbool.h>
#include <sys/resource.h>
struct server;
struct hooks;
struct hooks *hooks_new(struct server *server); /* after the hand-over */
void hooks_free(struct hooks *hooks);           /* kills what runs; NULL is fine */
void hooks_reload(struct hooks *hooks);         /* the config is another one; NULL is fine */
/* The daemon ends: the last events are handed out and the hooks have a little time. True: none runs
 * any more, or NULL; else fn is called once that is so. To be asked again and again. */
bool hooks_are_done(struct hooks *hooks);

/* What is started from now on inherits the mark (sys/mark.h) as its soft limit on locks, until the
 * one that is returned is set again; the minder makes it last. */
struct rlimit hook_wear_mark(rlim_t mark);
/* hook_minder.c: `muxd --hook COMMAND --hook-timeout MS`: runs command with sh, and ends with its
 * status once it and all that it has started have ended; after that time, or on SIGTERM, they are
 * killed. */
int hook_minder_main(const char *command, const char *timeout);
#endif
