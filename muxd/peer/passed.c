/* passed.c: owns the descriptor that a client passes with a line (unix(7), SCM_RIGHTS): its
 * terminal, which person.c looks at. It belongs to the line with which it came, and is closed
 * when that line was handled, whether the request asked for it or not. More than one at a time,
 * and those that come with frames, are closed by the kernel. */
#include "base/fdio.h"
#include "peer/internal.h"
#include <string.h>
#include <sys/socket.h>

static int descriptor_in(struct msghdr *message)
{
    int fd = -1;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at))
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_RIGHTS &&
            at->cmsg_len == CMSG_LEN(sizeof fd))
            memcpy(&fd, CMSG_DATA(at), sizeof fd);
    return fd;
}

/* The kernel ends a read behind the bytes with which a descriptor came. */
ssize_t passed_receive(struct peer *peer, char *to, size_t room)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = ""};
    struct iovec piece = {.iov_base = to, .iov_len = room};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = CMSG_LEN(sizeof(int))};
    if (peer->stream)
        return recv(peer->fd, to, room, 0);
    ssize_t got = recvmsg(peer->fd, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0)
        return got;
    peer->received += (uint64_t)got;
    int fd = descriptor_in(&message);
    if (fd >= 0) {
        fd_close(&peer->passed);
        peer->passed = fd;
        peer->passed_to = peer->received;
    }
    return got;
}

void passed_begin_line(struct peer *peer)
{
    uint64_t unread = peer->frame.len - peer->frame.start;
    peer->passes = peer->passed >= 0 && peer->received - unread >= peer->passed_to;
}

void passed_end_line(struct peer *peer)
{
    if (peer->passes)
        fd_close(&peer->passed);
    peer->passes = false;
}
