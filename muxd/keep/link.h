/* link: the worker's side of the talk with the keeper. Never blocks: what can't be sent now is
 * queued (bounded by the number of sessions) and goes out from link_flush. */
#ifndef MUXD_KEEP_LINK_H
#define MUXD_KEEP_LINK_H
#include "base/err.h"
#include "keep/keep.h"
#include <stdbool.h>

struct link_handlers { /* all with arg first; descriptors passed in become the handler's */
    /* Hand-over of one session; -1 for what there is not. pid > 0: a process that is not reaped, so
     * pidfd_open(pid) gets the right one. A program that could not be started is told by failed()
     * right after; pid 0 without it: never started, or ended and acknowledged. */
    void (*slot)(void *arg, uint64_t session, pid_t pid, int fds[KEEP_FD_COUNT]);
    /* Of a hand-over (type KEEP_SLOT or KEEP_SLOT_LISTEN) not all descriptors found room here. The
     * keeper has them: link_again. journal: the session's, borrowed, or -1. */
    void (*cut)(void *arg, unsigned type, uint64_t session, pid_t pid, int journal);
    void (*listener)(void *arg, int fd);
    void (*handed)(void *arg, int generation);
    void (*spawned)(void *arg, uint64_t session, pid_t pid, int pidfd);
    void (*failed)(void *arg, uint64_t session, int step, int error);
    /* si_code 0: nobody knows how (lost). May come again until link_ack */
    void (*exited)(void *arg, uint64_t session, pid_t pid, int code, int status);
    /* one that ended the worker before this one is told just before handed() */
    void (*upgrade_failed)(void *arg, int error);
    /* What link_hold, link_listen or link_adopt (type KEEP_HOLD…) was to give is not with the
     * keeper: no descriptor was left for it there or here. To be given once more, later. */
    void (*missed)(void *arg, unsigned type, uint64_t session);
    /* the keeper died; what is sent from now on goes nowhere until keeper_respawn (adopt.h) */
    void (*lost)(void *arg);
};
struct link;
/* fd becomes the link's */
struct link *link_new(int fd, const struct link_handlers *handlers, void *arg);
void link_free(struct link *link);
int link_fd(const struct link *link);
bool link_wants_write(const struct link *link);
void link_on_readable(struct link *link); /* takes all messages that are there, calls handlers */
void link_flush(struct link *link);

/* Each link_ function that sends may be called at any time, in any state; spawn only after
 * handed(). */
void link_hello(struct link *link);
/* Asks for a session that was cut: slot() or cut() comes again. False: few descriptors are left, so
 * it was not asked for. Those that clients need stay free, unless it is urgent. One at a time. */
bool link_again(struct link *link, uint64_t session, bool urgent);
/* -1 entries are left out; the caller keeps its own */
void link_hold(struct link *link, uint64_t session, const int fds[KEEP_FD_COUNT]);
/* given: the daemon did not make it; a successor is told by link_listener_given */
void link_listen(struct link *link, int fd, bool given);
/* All are dup'ed or sent before return; the caller closes its own. held: as for link_hold, at most
 * four; NULL: held already. */
void link_spawn(struct link *link, uint64_t session, int plan_fd, const int stdio[3],
                const int held[KEEP_FD_COUNT]);
/* Acknowledged, dropped and released is with the next link_flush, or when something else is said of
 * the session. mask: as of link_release, released with it; 0: nothing. */
void link_ack(struct link *link, uint64_t session, pid_t pid, unsigned mask);
void link_drop(struct link *link, uint64_t session); /* all of it */
/* only these descriptors: bits 1 << enum keep_tag; 0: all, as link_drop */
void link_release(struct link *link, uint64_t session, unsigned mask);
void link_served(struct link *link);
void link_stop(struct link *link);
void link_upgrade(struct link *link);
/* For a new keeper (adopt.h): a program that runs already. pidfd stays the caller's. */
void link_adopt(struct link *link, uint64_t session, pid_t pid, int pidfd);
/* to a new keeper, which is told what muxd was started with; fd becomes the link's */
void link_replace(struct link *link, int fd);

/* after listener(): by a service manager, so it is not ours to remove */
bool link_listener_given(const struct link *link);
/* the keeper's own program (O_PATH), borrowed; -1: not known */
int link_keeper_exe(const struct link *link);
/* after handed(): wait status of the worker before this one (waitpid(2)); -1: none */
int link_predecessor(const struct link *link);
/* The keeper of now, which is not our parent when we started it; 0: not known yet. */
pid_t link_keeper_pid(const struct link *link);
/* after upgrade_failed(): what failed, "run the new program" … */
const char *link_upgrade_text(const struct link *link);
#endif
