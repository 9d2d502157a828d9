/* hook_minder: owns the processes that one hook starts. This is a process of its own, `muxd
 * --hook COMMAND...`, between the worker and the command. A process that leaves the command's
 * session or loses its parent becomes this process's child (PR_SET_CHILD_SUBREAPER, prctl(2)),
 * so that nothing outlives the hook's timeout, even if the worker has died meanwhile. */
#include "base/clock.h"
#include "base/fdio.h"
#include "base/value.h"
#include "confine/confine_words.h"
#include "server/hooks.h"
#include "sys/proc.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* for killed processes to end; the kernel may hold one for longer, which is then left to it */
#define ENDING_MS 3000
#define TIDYING_MS 2000 /* for a sandbox whose inside is dead to take away what it has made */
#define EXIT_NOT_STARTED 126

struct minder {
    pid_t command;
    int status; /* of the command, as waitpid(2) gives it */
    bool ended; /* the command has ended; what it left behind may still run */
    int64_t deadline_ms;
    bool tidies; /* the command takes away what it has made, once what it runs has ended */
};

/* True when no child is left. */
static bool hook_minder_reap(struct minder *minder)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid <= 0)
            return pid < 0;
        if (pid == minder->command) {
            minder->ended = true;
            minder->status = status;
        }
    }
}

static bool kill_one(void *arg, pid_t pid)
{
    (void)arg;
    kill(pid, SIGKILL); /* our child, not reaped: the pid is its own */
    return true;
}

static bool kill_if_child(void *arg, const struct proc_stat *stat)
{
    if (stat->ppid == getpid())
        kill_one(arg, stat->pid);
    return true;
}

/* Waits for a signal of the set and returns it, or 0 at until_ms. */
static int next_signal(const sigset_t *set, int64_t until_ms)
{
    for (;;) {
        int64_t left_ms = until_ms - clock_mono_ms();
        if (left_ms <= 0)
            return 0;
        struct timespec left = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000};
        int signo = sigtimedwait(set, NULL, &left);
        if (signo > 0 || errno != EINTR)
            return signo > 0 ? signo : 0;
    }
}

static bool kill_if_inside(void *arg, const struct proc_stat *stat)
{
    const struct minder *minder = arg;
    struct proc_stat again;
    if (stat->ppid != minder->command)
        return true;
    int pidfd = proc_pidfd(stat->pid);
    if (pidfd >= 0 && proc_stat(stat->pid, &again) && again.ppid == minder->command)
        proc_signal(pidfd, SIGKILL);
    fd_close(&pidfd);
    return true;
}

/* Of a sandbox the inside goes first, so that the outside can tidy up. */
static void end_inside(struct minder *minder, const sigset_t *child)
{
    int64_t until_ms = clock_mono_ms() + TIDYING_MS;
    proc_each(kill_if_inside, minder);
    while (!hook_minder_reap(minder) && !minder->ended && next_signal(child, until_ms))
        ;
}

/* Kills all children; the children of those become ours, and are next. */
static void end_all(struct minder *minder, const sigset_t *child)
{
    if (minder->tidies && !minder->ended)
        end_inside(minder, child);
    int64_t until_ms = clock_mono_ms() + ENDING_MS;
    while (!hook_minder_reap(minder)) {
        if (!proc_children(getpid(), kill_one, NULL))
            proc_each(kill_if_child, NULL);
        if (!next_signal(child, until_ms))
            return;
    }
}

/* Ends as the command did: with the same status, or by the same signal. */
static int end_like(const struct minder *minder)
{
    struct rlimit none = {0, 0};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    if (!minder->ended || WIFEXITED(minder->status))
        return minder->ended ? WEXITSTATUS(minder->status) : EXIT_NOT_STARTED;
    int signo = WTERMSIG(minder->status);
    sigset_t set;
    setrlimit(RLIMIT_CORE, &none);
    sigaction(signo, &standard, NULL);
    sigemptyset(&set);
    sigaddset(&set, signo);
    raise(signo);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return 128 + signo;
}

/* The soft limit is the mark. As the hard limit, too, it can't be raised without privilege.
 * Where the hard limit is an outer daemon's mark, it stays. */
static void fix_mark(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_LOCKS, &limit) == 0 && limit.rlim_max == RLIM_INFINITY) {
        limit.rlim_max = limit.rlim_cur;
        setrlimit(RLIMIT_LOCKS, &limit);
    }
}

static void __attribute__((__noreturn__)) become_command(char **command)
{
    sigset_t none;
    fix_mark();
    sigemptyset(&none);
    setsid();
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(command[0], command);
    _exit(EXIT_NOT_STARTED);
}

static bool is_outside_of_sandbox(char *const *command)
{
    return command[1] && command[2] && strcmp(command[1], CONFINE_VERSION) == 0 &&
           strcmp(command[2], CONFINE_OUTSIDE) == 0;
}

/* Closes our copies of the command's event and output, which would keep both open. */
static void let_go(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
}

int hook_minder_main(char **command, const char *timeout)
{
    int64_t timeout_ms;
    sigset_t set, child;
    if (!timeout || !value_int(timeout, 1, INT64_MAX / 2, &timeout_ms))
        return EXIT_NOT_STARTED;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    set = child;
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_SETMASK, &set, NULL);
    struct minder minder = {.deadline_ms = clock_mono_ms() + timeout_ms,
                            .tidies = is_outside_of_sandbox(command)};
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || (minder.command = fork()) < 0)
        return EXIT_NOT_STARTED;
    if (minder.command == 0)
        become_command(command);
    let_go();
    while (!hook_minder_reap(&minder)) {
        int signo = next_signal(&set, minder.deadline_ms);
        if (signo == 0 || signo == SIGTERM) {
            end_all(&minder, &child);
            break;
        }
    }
    return end_like(&minder);
}
