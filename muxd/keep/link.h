/* link: the worker's side of the talk with the keeper. Never blocks: what can't be sent now is
 * queued (bounded by the number of sessions) and sent by link_flush. */
#ifndef MUXD_KEEP_LINK_H
#define MUXD_KEEP_LINK_H
#include "base/err.h"
#include "keep/keep.h"
#include <stdbool.h>

struct link_handlers { /* arg comes first; descriptors passed in become the handler's */
    /* Hand-over of one session; -1 where there is no descriptor. pid > 0: a process that is not
     * reaped, so pidfd_open(pid) gets the right one. failed() follows at once for a program that
     * could not be started; pid 0 without it: never started, or ended and acknowledged. */
    void (*slot)(void *arg, uint64_t session, pid_t pid, int fds[KEEP_FD_COUNT]);
    /* Not all descriptors of a hand-over found room here. The keeper still holds them: this worker
     * has to end, and its successor tries again. */
    void (*cut)(void *arg);
    void (*listener)(void *arg, int fd);
    void (*handed)(void *arg, int generation);
    void (*spawned)(void *arg, uint64_t session, pid_t pid, int pidfd);
    void (*failed)(void *arg, uint64_t session, int step, int error);
    /* si_code 0: how it ended is not known (lost). May come again until link_ack */
    void (*exited)(void *arg, uint64_t session, pid_t pid, int code, int status);
    /* comes just before handed() if the upgrade had ended the worker before this one */
    void (*upgrade_failed)(void *arg, int error);
    /* The keeper did not get something that it was to hold: it had no room, or no descriptor was
     * left here to queue it. Give everything again, later. */
    void (*missed)(void *arg);
    /* from link_flush: nothing is queued, so link_give can go on */
    void (*room)(void *arg);
    /* the keeper died; what is sent from now on goes nowhere until keeper_respawn (adopt.h) */
    void (*lost)(void *arg);
};
struct link;
/* For so long the kernel may lack room for a message with descriptors; then the start of a program
 * has failed. */
#define LINK_SHORT_MS 3000
/* fd becomes the link's */
struct link *link_new(int fd, const struct link_handlers *handlers, void *arg);
void link_free(struct link *link);
int link_fd(const struct link *link);
/* Something waits: call link_flush when the socket can be written to. */
bool link_wants_write(const struct link *link);
/* It waits for the kernel, not for the socket, which poll would call ready again and again: call
 * link_flush after a while. */
bool link_is_short(const struct link *link);
void link_on_readable(struct link *link); /* takes all messages that are there, calls handlers */
void link_flush(struct link *link);

/* Each link_ function that sends may be called at any time, in any state; spawn only after
 * handed(). */
void link_hello(struct link *link);
/* -1 entries are left out, at most FD_PASS_MAX others; the caller keeps its own */
void link_hold(struct link *link, uint64_t session, const int fds[KEEP_FD_COUNT]);
/* given: systemd made the socket; link_listener_given tells a successor */
void link_listen(struct link *link, int fd, bool given);
/* link_hold, and link_adopt unless pidfd is -1, but nothing is queued, so it takes no descriptors.
 * False: the socket is full; call it again from room(). A worker that gives everything uses it: the
 * socket may not take all at once, and duplicates for the queue could be too many. */
bool link_give(struct link *link, uint64_t session, const int fds[KEEP_FD_COUNT], pid_t pid,
               int pidfd);
/* plan_fd and stdio become the link's, so that a start which can't be sent at once takes no more
 * than a duplicate of what is held. held: as for link_hold, at most four; NULL: held already. */
void link_spawn(struct link *link, uint64_t session, int plan_fd, const int stdio[3],
                const int held[KEEP_FD_COUNT]);
/* What link_ack, link_drop and link_release have said goes before the next message, whatever it is
 * about: the keeper has the room by then. */
void link_hurry(struct link *link);
/* link_ack, link_drop and link_release take effect with the next link_flush, or before the next
 * message about the same session. mask: as for link_release, released with it; 0: nothing. */
void link_ack(struct link *link, uint64_t session, pid_t pid, unsigned mask);
void link_drop(struct link *link, uint64_t session); /* all of it */
/* only the descriptors of the mask, bits 1 << enum keep_tag; 0: all, as link_drop */
void link_release(struct link *link, uint64_t session, unsigned mask);
void link_served(struct link *link);
void link_stopping(struct link *link); /* the worker has begun to stop */
void link_stop(struct link *link);
void link_upgrade(struct link *link);
/* For a new keeper (adopt.h): a program that runs already. pidfd stays the caller's. */
void link_adopt(struct link *link, uint64_t session, pid_t pid, int pidfd);
/* Turns to a new keeper and tells it what muxd was started with; fd becomes the link's. */
void link_replace(struct link *link, int fd);

/* after listener(): a service manager made the socket, so it is not ours to remove */
bool link_listener_given(const struct link *link);
/* the keeper's own program (O_PATH), borrowed; -1: unknown */
int link_keeper_exe(const struct link *link);
/* after handed(): wait status of the worker before this one (waitpid(2)); -1: none */
int link_predecessor(const struct link *link);
/* The keeper that we talk to, our parent unless we started it; 0: unknown yet. */
pid_t link_keeper_pid(const struct link *link);
/* after upgrade_failed(): what failed, "run the new program" … */
const char *link_upgrade_text(const struct link *link);
const char *link_upgrade_why(int error); /* its errno as text, with what to do */
#endif
