/* listen: the socket that clients connect to: its directory, its lock, its path. One daemon a path:
 * the lock file beside the socket is held by flock(2) for as long as keeper or worker live (both
 * have the descriptor), so a stale socket is told from a living one without connecting to it. */
#ifndef MUXD_SERVER_LISTEN_H
#define MUXD_SERVER_LISTEN_H
#include "base/err.h"
#include "sys/loop.h"

#define LISTEN_BACKLOG 4096

/* Makes the directory (0700, ours), takes the lock (PATH.lock), removes a stale socket, binds with
 * mode 0600 and listens. Both descriptors are the caller's, non-blocking. While nobody serves at
 * path the lock is waited for, for up to 3 s: whoever has it is about to leave. Signals must not be
 * blocked. ERR_SYSTEM: path too long for sun_path, directory unfit, another daemon has the lock
 * (then *lock_fd is -2, so that the caller can tell). */
int listen_open(const char *path, int *listen_fd, int *lock_fd, struct err *err);
/* Only the lock, for a socket that somebody else has bound. *lock_fd as above. */
int listen_lock(const char *path, int *lock_fd, struct err *err);
/* Binds a fresh socket at path when what is there is not ours any more (removed, replaced). held:
 * the lock is ours. */
int listen_rebind(const char *path, int *listen_fd, struct err *err);
/* True when path still leads to this socket. */
bool listen_is_bound(const char *path, int listen_fd);

/* Tells when the path may have vanished (inotify(7) on its directory; no wake-ups otherwise). NULL
 * when it can't be watched; where a limit is why, the log and limit_each have it. */
struct listen_watch;
struct listen_watch *listen_watch_new(struct loop *loop, const char *path, int fd, loop_fn *fn,
                                      void *arg);
/* For listen_watch_new; -1. The last close of one blocks for milliseconds (inotify(7) waits for all
 * who look at its marks): whoever dies suddenly had better not hold the only one. */
int listen_watch_fd(void);
void listen_watch_free(struct listen_watch *watch);
#endif
