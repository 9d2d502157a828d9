/* launch.c: owns the way into the background: the process that started muxd -d learns that it
 * serves, or why not. */
#include "keep/launch.h"
#include "base/fdio.h"
#include "base/limit.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void pass_on(int from)
{
    char text[1024];
    ssize_t n;
    while ((n = read(from, text, sizeof text)) > 0)
        if (fd_write_all(STDERR_FILENO, text, (size_t)n) < 0)
            break;
}

/* The kernel has no other word for a program that has no room. */
static const char *launch_memory_text(char *text, size_t size)
{
    struct limit_text limit;
    *text = '\0';
    if (limit_explain(LIMIT_MEMORY, ENOMEM, &limit))
        snprintf(text, size, "; the limit of %s is too low: %s", limit.limit, limit.raise);
    return text;
}

static int status_of(pid_t keeper)
{
    int status = 0;
    char text[512];
    while (waitpid(keeper, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    if (WIFSIGNALED(status))
        dprintf(STDERR_FILENO, "muxd: the keeper was ended by signal %d before it listened%s\n",
                WTERMSIG(status), launch_memory_text(text, sizeof text));
    /* 0 is no success either: there is no daemon that listens */
    return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1;
}

static pid_t started;

/* Our starter no longer waits, so the keeper has to end, too. We end with its status. */
static void on_term(int signo)
{
    kill(started, signo);
}

/* In the process that was started. */
static void __attribute__((__noreturn__)) stay_behind(pid_t keeper, int ready, int words)
{
    struct pollfd ends[2] = {{.fd = ready, .events = POLLIN}, {.fd = words, .events = POLLIN}};
    struct sigaction pass_term = {.sa_handler = on_term};
    started = keeper;
    sigaction(SIGTERM, &pass_term, NULL);
    fd_set_nonblock(words, true);
    for (;;) {
        if (poll(ends, 2, -1) < 0 && errno != EINTR)
            _exit(1);
        if (ends[1].revents)
            pass_on(words);
        if (ends[1].revents & POLLHUP)
            ends[1].fd = -1;
        if (!ends[0].revents)
            continue;
        char byte;
        ssize_t n = read(ready, &byte, 1);
        int status = n == 1 ? 0 : status_of(keeper);
        pass_on(words); /* what came since */
        _exit(status);
    }
}

static int go_on(int words, int null)
{
    setsid();
    return dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
                   dup2(words, STDERR_FILENO) < 0
               ? -1
               : 0;
}

int launch_detached(int *ready_fd, struct err *err)
{
    int ready[2] = {-1, -1}, words[2] = {-1, -1}, code = 0;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t pid = -1;
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, the keeper's status is lost */
    if (null >= 0 && pipe2(ready, O_CLOEXEC) == 0 && pipe2(words, O_CLOEXEC) == 0)
        pid = fork();
    if (pid > 0) {
        close(ready[1]);
        close(words[1]);
        stay_behind(pid, ready[0], words[0]);
    }
    if (pid < 0 || go_on(words[1], null) != 0) {
        code = limit_err(err, ERR_SYSTEM, LIMIT_PROGRAM, errno, "can't go to the background");
        fd_close(&ready[1]);
    }
    fd_close(&null);
    fd_close(&ready[0]);
    fd_close(&words[0]);
    fd_close(&words[1]);
    *ready_fd = ready[1];
    return code;
}
