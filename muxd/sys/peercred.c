/* peercred: owns nothing. */
#include "sys/peercred.h"
#include <sys/socket.h>

int peercred_get(int sock, struct peercred *cred)
{
    struct ucred told;
    socklen_t size = sizeof told;
    if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &told, &size) < 0)
        return -1;
    *cred = (struct peercred){.uid = told.uid, .gid = told.gid, .pid = told.pid};
    return 0;
}
