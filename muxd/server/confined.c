/* confined.c: owns the refusal of clients that run in a sandbox: whoever may use muxd can start
 * programs outside of every sandbox. It holds whether the socket's path is hidden or not. */
#include "base/fdio.h"
#include "server/hooks.h"
#include "server/server.h"
#include "session/sandbox.h"
#include "sys/mark.h"
#include "sys/peercred.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many filters of system calls lie on a process; 0: none, or it can't be seen. */
static long filters_of(pid_t pid)
{
    static const char key[] = "\nSeccomp_filters:";
    char path[40], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : fd_read_all(fd, text, sizeof text - 1);
    fd_close(&fd);
    text[size > 0 ? size : 0] = '\0';
    const char *found = strstr(text, key);
    return found ? strtol(found + sizeof key - 1, NULL, 10) : 0;
}

/* It bears a mark, of a session that is forgotten or of another daemon. */
static bool is_marked_stray(pid_t pid)
{
    struct rlimit limit;
    return mark_limits(pid, &limit) && limit.rlim_max != RLIM_INFINITY &&
           filters_of(pid) > filters_of(getpid());
}

/* Another process may have got the number of one that has ended, and a child of it the
 * connection. */
static bool is_gone(int fd, pid_t pid)
{
    bool sure;
    int pidfd = peercred_pidfd(fd, pid, &sure);
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    bool gone = pidfd < 0 || poll(&end, 1, 0) != 0;
    fd_close(&pidfd);
    return gone;
}

int confined_check(struct server *server, int fd, pid_t pid, struct err *err)
{
    struct session *session = pid > 0 ? registry_of_process(server->registry, pid) : NULL;
    if (session && session_sandbox(session))
        return err_set(err, ERR_DENIED,
                       "process %d runs in the sandbox of session '%s' (%s), and what is in a "
                       "sandbox may not use muxd; ask from outside",
                       (int)pid, session_name(session), session_sandbox(session));
    if (!session && pid > 0 && is_marked_stray(pid))
        return err_set(err, ERR_DENIED,
                       "process %d runs in a sandbox, and what is in a sandbox may not use muxd; "
                       "ask from outside",
                       (int)pid);
    if ((registry_confines(server->registry) || hooks_confine(server->hooks)) && is_gone(fd, pid))
        return err_set(err, ERR_DENIED,
                       "process %d has connected and ended, and while something is in a sandbox "
                       "muxd has to know who asks; try again",
                       (int)pid);
    return 0;
}
