/* adopt.c: owns the birth of a keeper from a worker. */
#include "keep/adopt.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "keep/own_args.h"
#include "keep/start.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* all that the new keeper needs; the child clears close-on-exec of the descriptors */
struct birth {
    int link, own_exe; /* its end of the socket; the program from which it starts workers */
    int exe;           /* its own program; -1: args[0] */
    char **args;
    const char *muxd; /* where it lies */
};

/* In a child between fork and exec. Its own child becomes the keeper, so init reaps that one. */
static void __attribute__((__noreturn__)) become_keeper(const struct birth *birth)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;
    pid_t pid = fork();
    if (pid != 0)
        _exit(pid < 0 ? errno : 0);
    setsid();
    for (int signo = 1; signo < NSIG; signo++)
        sigaction(signo, &standard, NULL); /* the worker ignores some signals */
    sigemptyset(&none);
    fd_set_cloexec(birth->link, false);
    fd_set_cloexec(birth->own_exe, false);
    start_tell(birth->muxd);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (birth->exe >= 0)
        execveat(birth->exe, "", birth->args, environ, AT_EMPTY_PATH);
    execv(birth->args[0], birth->args);
    _exit(127);
}

static int fork_keeper(const struct birth *birth)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        become_keeper(birth);
    int error = errno, status = 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0)
        return error;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) /* it takes as long as one fork */
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static int adopt_give_birth(int link, int own_exe, int exe, char *const argv[], struct err *err)
{
    char option[] = "--adopt", value[32], *args[OWN_ARGS_MAX];
    const struct birth birth = {
        .link = link, .own_exe = own_exe, .exe = exe, .args = args, .muxd = argv[1]};
    snprintf(value, sizeof value, "%d:%d", link, own_exe);
    own_args(args, argv, option, value);
    int error = fork_keeper(&birth);
    return error == 0
               ? 0
               : limit_err(err, ERR_SYSTEM, LIMIT_KEEPER, error, "no process for a new keeper");
}

int keeper_respawn(struct link *link, char *const argv[], struct err *err)
{
    BUG_UNLESS(argv[0] && argv[1]);
    int pair[2], own_exe = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    if (own_exe < 0)
        return limit_err(err, ERR_SYSTEM, LIMIT_KEEPER, errno, "no descriptor for a new keeper");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
        int error = errno;
        close(own_exe);
        return limit_err(err, ERR_SYSTEM, LIMIT_KEEPER, error, "no socket for a new keeper");
    }
    int code = adopt_give_birth(pair[1], own_exe, link_keeper_exe(link), argv, err);
    close(own_exe);
    close(pair[1]);
    if (code != 0) {
        close(pair[0]);
        return code;
    }
    limit_passed(LIMIT_KEEPER);
    link_replace(link, pair[0]);
    return 0;
}
