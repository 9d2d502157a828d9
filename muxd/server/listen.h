/* listen: the socket that clients connect to: its directory, its lock, its path. One daemon
 * serves a path: keeper and worker both hold the lock file beside the socket by flock(2), for as
 * long as either lives, so that a stale socket is told from a living one without a connection to
 * it. */
#ifndef MUXD_SERVER_LISTEN_H
#define MUXD_SERVER_LISTEN_H
#include "base/err.h"
#include "sys/loop.h"

#define LISTEN_BACKLOG 4096

/* Makes the directory (0700, ours), takes the lock (PATH.lock), removes a stale socket, binds
 * with mode 0600 and listens. Both descriptors become the caller's and are non-blocking. While
 * the path is not served, a held lock is waited for up to 3 s: its holder is about to leave.
 * Signals must not be blocked. ERR_SYSTEM: the path is too long for sun_path, the directory is
 * unfit, or another daemon has the lock (then *lock_fd is -2). */
int listen_open(const char *path, int *listen_fd, int *lock_fd, struct err *err);
/* Only the lock, for a socket that was bound before we were started. *lock_fd as above. */
int listen_lock(const char *path, int *lock_fd, struct err *err);
/* Binds a new socket at path after ours there was removed or replaced. The caller holds the
 * lock. */
int listen_rebind(const char *path, int *listen_fd, struct err *err);
/* True when path still leads to this socket. */
bool listen_is_bound(const char *path, int listen_fd);

/* Calls fn when the path may have vanished (inotify(7) on its directory; no wake-ups otherwise).
 * NULL when it can't be watched; a limit that is the reason is in the log and in limit_each. */
struct listen_watch;
struct listen_watch *listen_watch_new(struct loop *loop, const char *path, int fd, loop_fn *fn,
                                      void *arg);
/* A descriptor for listen_watch_new; -1 on failure. The last close of one blocks for
 * milliseconds (inotify(7) waits for all users of its marks), so a process that may die suddenly
 * should not hold the only one. */
int listen_watch_fd(void);
void listen_watch_free(struct listen_watch *watch);
#endif
