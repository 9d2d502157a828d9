/* connect: owns the connection to the daemon, and the lock beside the socket that a ue holds while
 * it starts one. */
#include "client/rpc/connect.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/mem.h"
#include "base/path.h"
#include "client/rpc/own_terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX (64u << 20) /* three times 16 MiB of output in base64 */
#define START_MS 10000               /* for another daemon that leaves, or is about to listen */
#define RETRY_MS 20
#define LOSSES_MAX 40   /* the keeper makes them some 40 s at the most */
#define STEADY_MS 60000 /* a daemon that lived so long did not end over what it was asked first */

void connection_init(struct connection *conn, const char *given, const char *config, bool may_start)
{
    char *path = path_socket(given);
    *conn = (struct connection){.fd = -1,
                                .path = launch_absolute(path),
                                .named = path_socket_is_named(given),
                                .config = config,
                                .may_start = may_start,
                                .next_id = 1};
    free(path);
    frame_init(&conn->in, ANSWER_BYTES_MAX);
}

void connection_close(struct connection *conn)
{
    fd_close(&conn->fd);
    frame_fini(&conn->in);
}

void connection_fini(struct connection *conn)
{
    if (!conn->path)
        return;
    connection_close(conn);
    free(conn->path);
    conn->path = NULL;
}

/* When ue was started with a standard descriptor closed, the socket must not take its number, or
 * output would go to the daemon. */
static int above_standard(int fd, bool guest)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    if (guest)
        return moved;
    int filler;
    do
        filler = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (filler >= 0 && filler < STDERR_FILENO);
    if (filler > STDERR_FILENO)
        close(filler);
    return moved;
}

/* In a directory that all users may write to, another user could listen under our name. Root may
 * name another user's socket, but must not meet one by default. */
static int check_listener(int fd, const char *path, bool named, struct err *err)
{
    struct ucred cred;
    socklen_t size = sizeof cred;
    uid_t own = geteuid();
    if ((own == 0 && named) ||
        (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 && cred.uid == own))
        return 0;
    return err_set(err, ERR_SYSTEM, "'%s': another user listens there; " PATH_CHOOSE_SOCKET, path);
}

static int try_at(struct connection *conn, const char *path, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return err_set(err, ERR_SYSTEM,
                       "'%s': the socket path has %zu bytes, the kernel allows %zu; choose a "
                       "shorter one with -S or $MUXD_SOCKET",
                       path, strlen(path), sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path));
    int fd = above_standard(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), conn->guest);
    if (fd < 0 && errno == EPERM) /* seccomp; the kernel itself has no such error (socket(2)) */
        return err_set(err, ERR_SYSTEM,
                       "'%s': no socket can be made in this sandbox, in which muxd serves nobody; "
                       "run ue outside of it",
                       path);
    if (fd < 0)
        return limit_err(err, ERR_SYSTEM, LIMIT_CONNECTION, errno, "'%s': can't make a socket",
                         path);
    int result;
    do
        result = connect(fd, (struct sockaddr *)&address, sizeof address);
    while (result < 0 && errno == EINTR);
    if (result < 0) {
        conn->why = errno;
        bool absent = errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR ||
                      errno == ECONNRESET;
        result = conn->why == EACCES ? path_foreign(path, PATH_CHOOSE_SOCKET, err) : 0;
        if (result == 0)
            result = err_set(err, absent ? ERR_NO_DAEMON : ERR_SYSTEM, "'%s': %s (%s)", path,
                             absent ? "nobody listens there" : "can't connect",
                             strerror(conn->why));
    } else {
        result = check_listener(fd, path, conn->named, err);
    }
    if (result < 0)
        close(fd);
    else
        conn->fd = fd;
    return result;
}

/* Another login of this user may have started the daemon elsewhere. The error is that of the place
 * where ue would start one. */
static int try_everywhere(struct connection *conn, struct err *err)
{
    int result = ERR_NO_DAEMON;
    char *place;
    for (int i = 0; (place = path_socket_look(conn->path, i)); i++) {
        struct err unused;
        bool home = strcmp(place, conn->path) == 0;
        int tried = try_at(conn, place, home ? err : &unused);
        if (home)
            result = tried;
        if (tried == 0) {
            free(conn->path);
            conn->path = place;
            return 0;
        }
        free(place);
    }
    return result;
}

int connection_try(struct connection *conn, struct err *err)
{
    BUG_UNLESS(conn->path);
    if (conn->fd >= 0)
        return 0;
    int result = conn->named || conn->joined ? try_at(conn, conn->path, err)
                                             : try_everywhere(conn, err);
    conn->joined |= result == 0;
    return result;
}

int connection_send(struct connection *conn, const void *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = send(conn->fd, (const char *)data + at, size - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int connection_send_line(struct connection *conn, const void *data, size_t size)
{
    ssize_t n = 0;
    while (conn->shows_person && size > 0 && (n = own_terminal_send(conn->fd, data, size)) < 0)
        if (errno != EINTR)
            return -1;
    return connection_send(conn, (const char *)data + n, size - (size_t)n);
}

void connection_pause(int ms)
{
    BUG_UNLESS(ms >= 0); /* poll would wait for ever */
    poll(NULL, 0, ms);
}

void connection_heard(struct connection *conn)
{
    conn->losses = 0;
}

int connection_reopen(struct connection *conn, int64_t deadline_ms, struct err *err)
{
    BUG_UNLESS(conn->fd < 0);
    if (clock_mono_ms() - conn->reopened_ms > STEADY_MS)
        conn->losses = 0;
    if (++conn->losses > LOSSES_MAX)
        return err_set(err, ERR_INTERNAL,
                       "'%s': the daemon has ended %d times over this request, so it is not asked "
                       "again; `ue status` tells where its log is, which says why",
                       conn->path, LOSSES_MAX);
    for (;;) {
        int result = connection_try(conn, err);
        conn->reopened_ms = clock_mono_ms();
        if (result != ERR_NO_DAEMON || conn->reopened_ms >= deadline_ms)
            return result;
        connection_pause(RETRY_MS);
    }
}

/* A path with a typo must not make directories, and a daemon in them. The directories of the
 * default places are ours to make. */
static int connect_check_dir(const struct connection *conn, const char *dir, struct err *err)
{
    struct stat info;
    if (!conn->named || lstat(dir, &info) == 0 || errno != ENOENT ||
        path_socket_is_default(conn->path))
        return 0;
    return err_set(err, ERR_NO_DAEMON,
                   "'%s': nobody listens there, and no daemon is started, as '%s' does not exist; "
                   "correct -S or $MUXD_SOCKET, or make the directory with 'mkdir -m 700'",
                   conn->path, dir);
}

/* The directory of the socket, and in it the file of the lock: ours to enter whatever the umask is,
 * unless that is another program's. lock_fd: -1 with errno, or as the result says. */
static int make_start_lock(const struct connection *conn, const char *dir, const char *path,
                           int *lock_fd, struct err *err)
{
    mode_t own = conn->guest ? 0 : umask(077);
    int result = path_private_dir(dir, PATH_CHOOSE_SOCKET, err);
    if (result == 0)
        *lock_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int error = errno;
    if (!conn->guest)
        umask(own);
    errno = error;
    return result;
}

static int take_start_lock(const struct connection *conn, int *lock_fd, struct err *err)
{
    char *dir = path_dirname(conn->path);
    char *path = path_join(dir, "start.lock");
    int result = connect_check_dir(conn, dir, err);
    *lock_fd = -1;
    if (result == 0)
        result = make_start_lock(conn, dir, path, lock_fd, err);
    if (result == 0) {
        int locked = *lock_fd;
        while (locked >= 0 && (locked = flock(*lock_fd, LOCK_EX)) < 0 && errno == EINTR)
            locked = 0;
        if (locked < 0) {
            int error = errno;
            result = error == EACCES ? path_foreign(path, PATH_CHOOSE_SOCKET, err) : 0;
            if (result == 0)
                result = err_set(
                    err, ERR_SYSTEM,
                    "'%s': can't take the lock for starting muxd: %s; " PATH_CHOOSE_SOCKET, path,
                    strerror(error));
            fd_close(lock_fd);
        }
    }
    free(path);
    free(dir);
    return result;
}

/* A daemon that is about to exit still owns the socket (75, which launch_daemon takes as success),
 * so this retries until it has gone. */
static int start_and_connect(struct connection *conn, struct err *err)
{
    int64_t deadline_ms = clock_mono_ms() + START_MS;
    for (;;) {
        int result = launch_daemon(conn, err);
        if (result < 0)
            return result;
        conn->started = true;
        result = connection_try(conn, err);
        if (result != ERR_NO_DAEMON || clock_mono_ms() >= deadline_ms)
            return result;
        connection_pause(RETRY_MS);
    }
}

int connection_open(struct connection *conn, struct err *err)
{
    conn->joined = false;
    int lock_fd, result = connection_try(conn, err);
    if (result != ERR_NO_DAEMON)
        return result;
    if (!conn->may_start)
        return err_set(
            err, ERR_NO_DAEMON,
            "'%s': nobody listens there; `ue start` starts the daemon, or leave out --no-start",
            conn->path);
    result = take_start_lock(conn, &lock_fd, err);
    if (result == 0) {
        /* another ue may have started it while we waited for the lock */
        result = connection_try(conn, err);
        if (result == ERR_NO_DAEMON)
            result = start_and_connect(conn, err);
        close(lock_fd);
    }
    if (result < 0)
        err->code = ERR_NO_DAEMON; /* the text has the cause */
    return result < 0 ? ERR_NO_DAEMON : 0;
}
