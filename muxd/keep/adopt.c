/* adopt.c: owns the birth of a keeper from a worker. */
#include "keep/adopt.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "keep/own_args.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a child between fork and exec. Its own child becomes the keeper and nobody's zombie. */
static void __attribute__((__noreturn__)) become_keeper(int link, char *const args[])
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;
    pid_t pid = fork();
    if (pid != 0)
        _exit(pid < 0 ? errno : 0);
    setsid();
    for (int signo = 1; signo < NSIG; signo++)
        sigaction(signo, &standard, NULL); /* a handler of the worker must not run here: it writes into the worker's pipes */
    sigemptyset(&none);
    if (link == KEEP_LINK_FD)
        fd_set_cloexec(link, false);
    else if (dup2(link, KEEP_LINK_FD) < 0)
        _exit(127);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv("/proc/self/exe", args);
    _exit(127);
}

static int fork_keeper(int link, char *const args[])
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        become_keeper(link, args);
    int error = errno, status = 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0)
        return error;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) /* as long as one fork takes */
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

int keeper_respawn(struct link *link, char *const argv[], struct err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return limit_err(err, ERR_SYSTEM, LIMIT_KEEPER, errno, "no socket for a new keeper");
    char option[] = "--keeper-for-worker", number[16], *args[OWN_ARGS_MAX];
    snprintf(number, sizeof number, "%d", KEEP_LINK_FD);
    own_args(args, argv, option, number);
    int error = fork_keeper(pair[1], args);
    close(pair[1]);
    if (error != 0) {
        close(pair[0]);
        return limit_err(err, ERR_SYSTEM, LIMIT_KEEPER, error, "no process for a new keeper");
    }
    limit_passed(LIMIT_KEEPER);
    link_replace(link, pair[0]);
    return 0;
}
