/* fdio.c: owns the traps around descriptors: EINTR, short transfers, and what travels beside a
 * message (unix(7)). */
#include "base/fdio.h"
#include "base/bug.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int set_flag(int fd, int get, int set, int flag, bool on)
{
    int flags = fcntl(fd, get);
    if (flags < 0)
        return -1;
    int wanted = on ? flags | flag : flags & ~flag;
    return wanted == flags ? 0 : fcntl(fd, set, wanted);
}

int fd_set_nonblock(int fd, bool on)
{
    return set_flag(fd, F_GETFL, F_SETFL, O_NONBLOCK, on);
}

int fd_set_cloexec(int fd, bool on)
{
    return set_flag(fd, F_GETFD, F_SETFD, FD_CLOEXEC, on);
}

void fd_close(int *fd)
{
    if (*fd < 0)
        return;
    int saved = errno;
    close(*fd); /* not repeated on EINTR: Linux has released the descriptor by then (close(2)) */
    *fd = -1;
    errno = saved;
}

/* Waits when the descriptor is non-blocking and not ready. */
static bool may_try_again(int fd, short events)
{
    if (errno == EINTR)
        return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return false;
    struct pollfd wait = {.fd = fd, .events = events};
    return poll(&wait, 1, -1) > 0 || errno == EINTR;
}

ssize_t fd_read_all(int fd, void *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, (char *)data + done, size - done);
        if (n == 0)
            break;
        if (n > 0)
            done += (size_t)n;
        else if (!may_try_again(fd, POLLIN))
            return -1;
    }
    return (ssize_t)done;
}

ssize_t fd_pread_all(int fd, void *data, size_t size, off_t at)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, (char *)data + done, size - done, at + (off_t)done);
        if (n == 0)
            break;
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)done;
}

ssize_t fd_write_all(int fd, const void *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(fd, (const char *)data + done, size - done);
        if (n >= 0)
            done += (size_t)n;
        else if (!may_try_again(fd, POLLOUT))
            return -1;
    }
    return (ssize_t)done;
}

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * FD_PASS_MAX)];
};

/* The descriptors went with the first byte; a stream socket may still owe the rest of the data. */
static ssize_t send_rest(int sock, const char *data, size_t size, size_t done, int flags)
{
    while (done < size) {
        ssize_t n = send(sock, data + done, size - done, flags);
        if (n >= 0)
            done += (size_t)n;
        else if (!may_try_again(sock, POLLOUT))
            return -1;
    }
    return (ssize_t)done;
}

ssize_t fd_send(int sock, const void *data, size_t size, const int *fds, size_t nfds, int flags)
{
    BUG_UNLESS(nfds <= FD_PASS_MAX && size > 0);
    struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
    union control control;
    if (nfds > 0) {
        memset(&control, 0, sizeof control);
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
        struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
        memcpy(CMSG_DATA(head), fds, sizeof(int) * nfds);
    }
    ssize_t n;
    do
        n = sendmsg(sock, &msg, flags | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -1 : send_rest(sock, data, size, (size_t)n, flags | MSG_NOSIGNAL);
}

/* Moves received descriptors to fds and closes those beyond room. Returns how many came. */
static size_t take_fds(struct msghdr *msg, int *fds, size_t room)
{
    size_t came = 0;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(msg); head; head = CMSG_NXTHDR(msg, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++, came++) {
            int fd;
            memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof fd);
            if (came < room)
                fds[came] = fd;
            else
                fd_close(&fd);
        }
    }
    return came;
}

ssize_t fd_recv_cut(int sock, void *data, size_t size, int *fds, size_t *nfds, bool *cut, int flags)
{
    struct iovec part = {.iov_base = data, .iov_len = size};
    union control control;
    struct msghdr msg = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof control.bytes};
    size_t room = nfds ? *nfds : 0;
    BUG_UNLESS(size > 0 && (room == 0 || fds));
    if (nfds)
        *nfds = 0;
    ssize_t n;
    do
        n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -1;
    size_t came = take_fds(&msg, fds, room);
    *cut = came > room || (msg.msg_flags & (MSG_CTRUNC | MSG_TRUNC));
    if (nfds)
        *nfds = came < room ? came : room;
    return n;
}

ssize_t fd_recv(int sock, void *data, size_t size, int *fds, size_t *nfds, int flags)
{
    bool cut = false;
    ssize_t n = fd_recv_cut(sock, data, size, fds, nfds, &cut, flags);
    if (n < 0 || !cut)
        return n;
    for (size_t i = 0; nfds && i < *nfds; i++)
        fd_close(&fds[i]);
    if (nfds)
        *nfds = 0;
    errno = EMSGSIZE;
    return -1;
}

int fd_raise_nofile(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return -1;
    int old = limit.rlim_cur > INT_MAX ? INT_MAX : (int)limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? old : -1;
}

bool fd_is_short(int error)
{
    return error == ENOMEM || error == ENOBUFS || error == ENOSPC;
}
