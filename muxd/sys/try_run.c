/* try_run.c: owns the trial's process: its start, what it says, and its end. */
#include "sys/try_run.h"
#include "base/clock.h"
#include "base/fdio.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int try_start(char *const argv[], int errors, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETPGROUP);
    int error = posix_spawn(pid, argv[0], &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Until the program has closed its standard error, or the time is over: false. */
static bool try_listen(int from, int64_t until_ms, char *text, size_t size)
{
    size_t len = 0;
    char part[256];
    for (;;) {
        int64_t left_ms = until_ms - clock_mono_ms();
        struct pollfd said = {.fd = from, .events = POLLIN};
        int ready = left_ms > 0 ? poll(&said, 1, (int)left_ms) : 0;
        if (ready == 0)
            return false;
        if (ready < 0)
            continue; /* EINTR */
        ssize_t n = read(from, part, sizeof part);
        if (n <= 0)
            return true;
        size_t room = size - 1 - len, taken = (size_t)n < room ? (size_t)n : room;
        memcpy(text + len, part, taken);
        len += taken;
        text[len] = '\0';
    }
}

int try_run(char *const argv[], int limit_ms, char *text, size_t size)
{
    int ends[2], status = 0;
    pid_t pid;
    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(text, size, "no pipe: %s", strerror(errno));
        return -1;
    }
    int error = try_start(argv, ends[1], &pid);
    fd_close(&ends[1]);
    if (error != 0)
        snprintf(text, size, "'%s': %s", argv[0], strerror(error));
    else if (!try_listen(ends[0], clock_mono_ms() + limit_ms, text, size))
        kill(-pid, SIGKILL);
    fd_close(&ends[0]);
    if (error != 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    text[strcspn(text, "\r\n")] = '\0';
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
