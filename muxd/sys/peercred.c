/* peercred: owns nothing. */
#include "sys/peercred.h"
#include "sys/proc.h"
#include <errno.h>
#include <sys/socket.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int peercred_get(int sock, struct peercred *cred)
{
    struct ucred told;
    socklen_t size = sizeof told;
    if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &told, &size) < 0)
        return -1;
    *cred = (struct peercred){.uid = told.uid, .gid = told.gid, .pid = told.pid};
    return 0;
}

int peercred_pidfd(int sock, pid_t pid, bool *sure)
{
    int fd = -1;
    socklen_t size = sizeof fd;
    /* it is close-on-exec, as every pidfd */
    if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) == 0 && fd >= 0) {
        *sure = true;
        return fd;
    }
    *sure = errno != ENOPROTOOPT; /* else it has ended */
    return *sure ? -1 : proc_pidfd(pid);
}
