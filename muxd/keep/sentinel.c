/* sentinel.c: owns the messages that tell the sentinel of programs, and the bell that wakes it. */
#include "keep/sentinel.h"
#include "base/bug.h"
#include "base/fdio.h"
#include <sys/resource.h>
#include <sys/socket.h>

#define UNHEARD_MAX 32 /* a socket of the usual size takes some 250 messages */

static int unheard; /* messages since the bell was rung */

static void ring(int fd)
{
    char byte;
    while (recv(fd, &byte, 1, MSG_DONTWAIT) == 1)
        ;
    unheard = 0;
}

static void sentinel_tell(int fd, enum sentinel_type type, pid_t pid, int pidfd, uint64_t mark)
{
    struct sentinel_msg msg = {(int32_t)type, pid, mark};
    BUG_UNLESS(pid > 0 || type == SENTINEL_DISMISS);
    if (fd < 0)
        return;
    fd_send(fd, &msg, sizeof msg, &pidfd, pidfd >= 0, MSG_DONTWAIT);
    if (++unheard >= UNHEARD_MAX || type == SENTINEL_DISMISS)
        ring(fd);
}

void sentinel_add(int fd, pid_t pid, int pidfd)
{
    struct rlimit limit, own = {0, 0}; /* a mark has bit 61, and no higher one (sys/mark.c) */
    getrlimit(RLIMIT_LOCKS, &own);
    bool marked = prlimit(pid, RLIMIT_LOCKS, NULL, &limit) == 0 && limit.rlim_cur >> 61 == 1 &&
                  limit.rlim_cur != own.rlim_cur;
    if (pidfd >= 0)
        sentinel_tell(fd, SENTINEL_ADD, pid, pidfd, marked ? limit.rlim_cur : SENTINEL_NO_MARK);
}

void sentinel_remove(int fd, pid_t pid)
{
    sentinel_tell(fd, SENTINEL_REMOVE, pid, -1, 0);
}

void sentinel_listen(int fd)
{
    if (fd >= 0)
        ring(fd);
}

void sentinel_dismiss(int fd)
{
    sentinel_tell(fd, SENTINEL_DISMISS, 0, -1, 0);
}
