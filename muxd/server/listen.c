/* listen: owns the making of the socket: its directory, its lock, its path. */
#include "server/listen.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define LOCK_WAIT_MS 3000
#define LOCK_LOOK_US 5000

static int address_of(const char *path, struct sockaddr_un *address, struct err *err)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path)
        return err_set(err, ERR_SYSTEM,
                       "'%s': the socket path has %zu bytes, the kernel allows %zu; choose a "
                       "shorter one with -S or $MUXD_SOCKET",
                       path, strlen(path), sizeof address->sun_path - 1);
    memcpy(address->sun_path, path, strlen(path) + 1);
    return 0;
}

/* Connects and sends a request. -1: it can't. */
static int ask(const char *path)
{
    static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}\n";
    struct sockaddr_un address;
    struct err unused;
    int fd = address_of(path, &address, &unused) == 0
                 ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
                 : -1;
    if (fd >= 0 && (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
                    send(fd, hello, sizeof hello - 1, MSG_NOSIGNAL) < 0))
        fd_close(&fd);
    return fd;
}

/* True: a daemon answers. An accepted connection alone proves nothing: a dying process keeps its
 * sockets for a while. */
static bool is_served(const char *path, int *fd)
{
    char byte;
    if (*fd < 0)
        *fd = ask(path);
    ssize_t n = *fd >= 0 ? recv(*fd, &byte, 1, MSG_DONTWAIT) : -1;
    if (n == 0 || (n < 0 && errno != EAGAIN))
        fd_close(fd);
    return n > 0;
}

static void on_alarm(int signo)
{
    (void)signo; /* it interrupts flock(2), so that the caller looks again */
}

/* A daemon that leaves or was killed has the lock until the kernel has released all that it had;
 * one that starts will serve soon. False: a daemon serves, or neither has happened in time. */
static bool wait_for_lock(int fd, const char *path, bool is_bound)
{
    struct sigaction look = {.sa_handler = on_alarm}, before;
    struct itimerval often = {{0, LOCK_LOOK_US}, {0, LOCK_LOOK_US}}, never = {{0, 0}, {0, 0}};
    int64_t until_ms = clock_mono_ms() + LOCK_WAIT_MS;
    bool locked = false;
    int asked = -1;
    sigaction(SIGALRM, &look, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    while (!locked && (is_bound || !is_served(path, &asked)) && clock_mono_ms() < until_ms)
        locked = flock(fd, LOCK_EX) == 0;
    setitimer(ITIMER_REAL, &never, NULL);
    fd_close(&asked);
    sigaction(SIGALRM, &before, NULL);
    return locked;
}

/* is_bound: the socket at path was given to us, so that a connection to it proves nothing. */
static int take_lock(const char *path, bool is_bound, int *lock_fd, struct err *err)
{
    char *lock_path = xasprintf("%s.lock", path);
    int fd = open(lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int result = 0;
    if (fd < 0) {
        int error = errno;
        result = error == EACCES ? path_foreign(lock_path, PATH_CHOOSE_SOCKET, err) : 0;
        struct limit_text text;
        if (result == 0 && limit_explain(LIMIT_CONNECTION, error, &text))
            result = limit_err(err, ERR_SYSTEM, LIMIT_CONNECTION, error,
                               "'%s': can't open the lock file", lock_path);
        else if (result == 0)
            result = err_set(err, ERR_SYSTEM,
                             "'%s': can't open the lock file: %s; " PATH_CHOOSE_SOCKET, lock_path,
                             strerror(error));
    } else if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        bool busy = errno == EWOULDBLOCK;
        if (!busy || !wait_for_lock(fd, path, is_bound)) {
            result = err_set(err, ERR_SYSTEM,
                             busy ? "'%s': another muxd serves this socket; `ue stop` ends it"
                                  : "'%s': can't lock: %s",
                             path, strerror(errno));
            close(fd);
            fd = busy ? -2 : -1;
        }
    }
    *lock_fd = fd;
    free(lock_path);
    return result;
}

static int bind_path(const char *path, int *listen_fd, struct err *err)
{
    struct sockaddr_un address;
    int result = address_of(path, &address, err);
    if (result < 0)
        return result;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return limit_err(err, ERR_SYSTEM, LIMIT_CONNECTION, errno, "'%s': can't make a socket",
                         path);
    struct stat st;
    if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
        result = err_set(err, ERR_SYSTEM,
                         "'%s': exists and is no socket; remove it or choose another path",
                         path);
        goto out;
    }
    unlink(path); /* it is stale: we hold the lock */
    mode_t old = umask(0177);
    int bound = bind(fd, (struct sockaddr *)&address, sizeof address);
    int bind_errno = errno;
    umask(old);
    if (bound < 0)
        result = err_set(err, ERR_SYSTEM, "'%s': can't bind: %s", path, strerror(bind_errno));
    else if (listen(fd, LISTEN_BACKLOG) < 0)
        result = err_set(err, ERR_SYSTEM, "'%s': can't listen: %s", path, strerror(errno));
out:
    if (result < 0)
        close(fd);
    else
        *listen_fd = fd;
    return result;
}

int listen_open(const char *path, int *listen_fd, int *lock_fd, struct err *err)
{
    struct sockaddr_un address;
    *listen_fd = *lock_fd = -1;
    int result = address_of(path, &address, err);
    if (result < 0)
        return result;
    char *dir = path_dirname(path);
    result = path_private_dir(dir, PATH_CHOOSE_SOCKET, err);
    free(dir);
    if (result == 0)
        result = take_lock(path, false, lock_fd, err);
    if (result == 0 && (result = bind_path(path, listen_fd, err)) < 0)
        fd_close(lock_fd);
    BUG_UNLESS(result < 0 || (*listen_fd >= 0 && *lock_fd >= 0));
    return result;
}

int listen_lock(const char *path, int *lock_fd, struct err *err)
{
    return take_lock(path, true, lock_fd, err);
}

bool listen_is_bound(const char *path, int listen_fd)
{
    /* A socket's inode number differs from its path's: the kernel tells the two apart only by the
     * bound address and the file itself. */
    struct sockaddr_un address;
    socklen_t size = sizeof address;
    struct stat st;
    return getsockname(listen_fd, (struct sockaddr *)&address, &size) == 0 &&
           strcmp(address.sun_path, path) == 0 && lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) &&
           st.st_uid == geteuid();
}

int listen_rebind(const char *path, int *listen_fd, struct err *err)
{
    char *dir = path_dirname(path);
    int fresh = -1;
    int result = path_private_dir(dir, PATH_CHOOSE_SOCKET, err);
    free(dir);
    if (result == 0 && (result = bind_path(path, &fresh, err)) == 0) {
        fd_close(listen_fd);
        *listen_fd = fresh;
    }
    return result;
}

struct listen_watch {
    int fd; /* borrowed */
    struct loop_io *io;
    loop_fn *fn;
    void *arg;
    char *name; /* of the socket in its directory */
};

static void on_change(void *arg, unsigned events)
{
    struct listen_watch *watch = arg;
    char data[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    bool ours = false;
    ssize_t size;
    (void)events;
    while ((size = read(watch->fd, data, sizeof data)) > 0) {
        for (ssize_t at = 0; at < size;) {
            const struct inotify_event *event = (const struct inotify_event *)(data + at);
            ours |= event->len == 0 || strcmp(event->name, watch->name) == 0;
            at += (ssize_t)(sizeof *event + event->len);
        }
    }
    if (ours)
        watch->fn(watch->arg);
}

/* This is tried again and again; the log has it once. */
static void tell_unwatched(const char *dir, int error)
{
    struct limit_text text;
    if (!limit_explain(LIMIT_SOCKET_WATCH, error, &text))
        log_debug("%s can't be watched: %s", dir, strerror(error));
    else if (limit_met(LIMIT_SOCKET_WATCH, error))
        log_warn("%s can't be watched: %s: the limit of %s is reached: %s; %s", dir,
                 strerror(error), text.limit, text.what, text.raise);
}

int listen_watch_fd(void)
{
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0)
        tell_unwatched("the socket's directory", errno);
    return fd;
}

struct listen_watch *listen_watch_new(struct loop *loop, const char *path, int fd, loop_fn *fn,
                                      void *arg)
{
    struct listen_watch *watch = xcalloc(1, sizeof *watch);
    char *dir = path_dirname(path);
    *watch = (struct listen_watch){
        .fd = fd, .fn = fn, .arg = arg, .name = xstrdup(path_basename(path))};
    if (watch->fd < 0 ||
        inotify_add_watch(watch->fd, dir,
                          IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF) < 0 ||
        !(watch->io = loop_io_new(loop, watch->fd, LOOP_READ, on_change, watch))) {
        tell_unwatched(dir, errno);
        listen_watch_free(watch);
        watch = NULL;
    } else {
        limit_passed(LIMIT_SOCKET_WATCH);
    }
    free(dir);
    return watch;
}

void listen_watch_free(struct listen_watch *watch)
{
    if (!watch)
        return;
    loop_io_free(watch->io);
    free(watch->name);
    free(watch);
}
