/* reap_groups.c: owns the signals to a session's groups: the leader's, and the one in the
 * foreground of its terminal. */
#include "base/fdio.h"
#include "parts/reap/reap_kill.h"
#include "session/internal.h"
#include "sys/proc.h"
#include "sys/pty.h"
#include <errno.h>

/* The kernel's session is the leader's as long as that is not reaped. */
static bool kill_is_member(const struct session *session, pid_t pid, pid_t pgrp)
{
    struct proc_stat stat;
    return proc_stat(pid, &stat) && stat.pgrp == pgrp && stat.session == session_pid(session) &&
           !proc_is_dead(&stat);
}

static void signal_foreground(struct session *session, pid_t pgrp, int signo)
{
    pid_t member = kill_is_member(session, pgrp, pgrp) ? pgrp : 0;
    if (!member) { /* its leader has ended before the others */
        size_t count;
        const struct bearer *all = bearers_of(descendants_now(session->registry),
                                              session_number(session), &count);
        for (size_t i = 0; i < count && !member; i++)
            member = kill_is_member(session, all[i].pid, pgrp) ? all[i].pid : 0;
    }
    int pidfd = member ? proc_pidfd(member) : -1;
    /* While that member lives the group's number is taken; the look comes after its descriptor. */
    if (pidfd >= 0 && kill_is_member(session, member, pgrp))
        proc_signal_group(pidfd, pgrp, signo);
    fd_close(&pidfd);
}

int groups_signal(struct session *session, int signo)
{
    pid_t leader = session_pid(session);
    if (leader <= 1 || session->exited)
        return 0;
    if (session_pidfd(session) < 0)
        return -errno;
    if (session_is_tty(session) && session->out.fd >= 0) {
        pid_t foreground = pty_foreground(session->out.fd);
        if (foreground > 1 && foreground != leader)
            signal_foreground(session, foreground, signo);
    }
    if (proc_signal_group(session->pidfd, leader, signo) != 0)
        proc_signal(session->pidfd, signo); /* not yet past setsid */
    return proc_signal(session->pidfd, 0);
}
