/* peercred: owns nothing. */
#include "sys/peercred.h"
#include "base/fdio.h"
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

int peercred_pidfd(int sock)
{
    int pidfd = -1;
    socklen_t size = sizeof pidfd;
    struct peercred cred;

    if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0) {
        fd_set_cloexec(pidfd, true);
        return pidfd;
    }
    if (errno != ENOPROTOOPT && errno != EINVAL)
        return -1;
    if (peercred_get(sock, &cred) < 0)
        return -1;
    if (cred.pid <= 0) {
        errno = ESRCH;
        return -1;
    }
    return proc_pidfd(cred.pid);
}
