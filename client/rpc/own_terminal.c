/* own_terminal: owns how the controlling terminal is found and passed. */
#include "client/rpc/own_terminal.h"
#include "base/fdio.h"
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES 3 /* in a process group without a shell the signal does nothing */

static int own_terminal_open(void)
{
    return open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

void own_terminal_wait_foreground(void)
{
    int fd = own_terminal_open();
    for (int i = 0; fd >= 0 && i < TRIES && tcgetpgrp(fd) != getpgrp(); i++)
        kill(0, SIGTTIN);
    fd_close(&fd);
}

const char *own_terminal_why_not(void)
{
    struct rlimit locks;
    int fd = own_terminal_open();
    bool there = fd >= 0, front = there && tcgetpgrp(fd) == getpgrp();
    fd_close(&fd);
    if (!there)
        return "ue has no terminal";
    if (getrlimit(RLIMIT_LOCKS, &locks) == 0 && locks.rlim_max != RLIM_INFINITY)
        return "ue runs below a session (its RLIMIT_LOCKS is finite)";
    return front ? NULL : "ue runs in the background of its terminal; bring it to the front";
}

ssize_t own_terminal_send(int sock, const void *data, size_t size)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = ""};
    struct iovec piece = {.iov_base = (void *)data, .iov_len = size};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    int fd = own_terminal_open();
    if (fd >= 0) {
        control.align = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
                                         .cmsg_type = SCM_RIGHTS,
                                         .cmsg_len = CMSG_LEN(sizeof fd)};
        memcpy(CMSG_DATA(&control.align), &fd, sizeof fd);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
    }
    ssize_t sent = sendmsg(sock, &message, MSG_NOSIGNAL);
    fd_close(&fd);
    return sent;
}
