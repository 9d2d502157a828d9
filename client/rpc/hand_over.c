/* hand_over: owns the child that has the terminal meanwhile. */
#include "client/rpc/hand_over.h"
#include "base/bug.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

int hand_over_terminal(const struct connection *conn, int64_t number)
{
    extern char **environ;
    char name[] = "ue", socket[] = "-S", stay[] = "--no-start", verb[] = "attach", session[24];
    char *argv[] = {name, socket, conn->path, stay, verb, session, NULL};
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    int status = 0;
    BUG_UNLESS(number > 0 && conn->path);
    snprintf(session, sizeof session, "%" PRId64, number);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(&pid, "/proc/self/exe", NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    if (error) {
        errno = error;
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
