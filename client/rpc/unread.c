/* unread: owns the look at a request that nobody reads, as after a SIGKILL to all processes of a
 * daemon whose socket a service manager holds: a connection is made then, and nobody takes it. */
#include "client/rpc/unread.h"
#include "client/print/say.h"
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static bool is_systemd(pid_t pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && !fgets(name, sizeof name, file))
        *name = '\0';
    if (file)
        fclose(file);
    return strcmp(name, "systemd\n") == 0;
}

void unread_look(struct connection *conn)
{
    int bytes = 0;
    struct ucred listener;
    socklen_t size = sizeof listener;
    conn->unread_looked = true;
    if (ioctl(conn->fd, SIOCOUTQ, &bytes) < 0 || bytes == 0)
        return;
    bool service = getsockopt(conn->fd, SOL_SOCKET, SO_PEERCRED, &listener, &size) == 0 &&
                   is_systemd(listener.pid);
    say_note("'%s': no daemon has read this request for %d seconds; waits on%s", conn->path,
             UNREAD_MS / 1000,
             service ? " (when all its processes were killed, `systemctl --user restart "
                       "muxd.service` starts it again)"
                     : "");
}
