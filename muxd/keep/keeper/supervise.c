/* supervise.c: owns the worker's life as the keeper sees it: start, death, back-off, the signals
 * passed on. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "keep/keeper/kept.h"
#include "keep/sentinel.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BACKOFF_FIRST_MS 10
#define BACKOFF_MAX_MS 1000
/* workers in a row that don't come up, until the keeper gives up a daemon without sessions: before
 * it has listened for the first time, and later, when clients may be waiting at the socket */
#define FIRST_TRIES 5
#define LATER_TRIES 10

/* so that dup2(2) below hits none that is still needed, nor itself */
static int out_of_the_way(int fd)
{
    bool in_the_way = fd >= KEEP_LINK_FD && fd <= KEEP_LISTEN_FD;
    return in_the_way ? fcntl(fd, F_DUPFD_CLOEXEC, KEEP_LISTEN_FD + 1) : fd;
}

static void __attribute__((__noreturn__)) become_worker(const struct keeper *keeper, int link)
{
    minder_worker(keeper);
    setpgid(0, 0); /* ^C at the keeper's terminal comes through the keeper, once */
    int exe = out_of_the_way(keeper->worker_exe), listener = out_of_the_way(keeper->listener);
    link = out_of_the_way(link);
    if (listener >= 0)
        dup2(listener, KEEP_LISTEN_FD);
    if (dup2(link, KEEP_LINK_FD) < 0) {
        keeper_say("the worker can't be given its link: %s", strerror(errno));
        _exit(127);
    }
    keeper_unblock_signals();
    if (exe >= 0)
        keeper_execute(exe, keeper->options.worker_argv);
    else
        execv(keeper->options.worker_path, keeper->options.worker_argv);
    keeper_say("the worker can't be executed: %s", strerror(errno));
    _exit(127);
}

static void wait_longer(struct keeper *keeper)
{
    /* it lived for a while, so it does not crash in a loop */
    if (clock_mono_ms() - keeper->started_at_ms > 2 * BACKOFF_MAX_MS)
        keeper->backoff_ms = 0;
    keeper->backoff_ms = keeper->backoff_ms == 0 ? BACKOFF_FIRST_MS : keeper->backoff_ms * 2;
    if (keeper->backoff_ms > BACKOFF_MAX_MS)
        keeper->backoff_ms = BACKOFF_MAX_MS;
    keeper->restart_at_ms = clock_mono_ms() + keeper->backoff_ms;
}

static bool has_sessions(struct keeper *keeper)
{
    SLOTS_EACH(&keeper->slots, slot)
        if (slot->session >= KEEP_SESSION_MIN)
            return true;
    return false;
}

/* Sessions are never given up. Without any, nothing is lost, and a client learns more from a daemon
 * that it starts itself than from one that can't come up. */
static bool is_hopeless(struct keeper *keeper)
{
    return keeper->failures >= (keeper->listened ? LATER_TRIES : FIRST_TRIES) &&
           !has_sessions(keeper);
}

static void not_started(struct keeper *keeper, const char *what, int error)
{
    wait_longer(keeper);
    keeper->failures++;
    if (!is_hopeless(keeper))
        return;
    sentinel_dismiss(keeper->sentinel_fd);
    minder_dismiss(keeper);
    keeper_give_up(&keeper->options, what, error);
    keeper_end(keeper, 1);
}

void supervise_start(struct keeper *keeper)
{
    int pair[2];
    BUG_UNLESS(keeper->worker == 0 && keeper->link < 0);
    keeper->restart_at_ms = 0;
    keeper->started_at_ms = clock_mono_ms();
    fd_raise_nofile(); /* lowered since, it would be too low for the worker, which inherits it */
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
        not_started(keeper, "no socket for the worker", errno);
        return;
    }
    pid_t pid = fork();
    if (pid == 0)
        become_worker(keeper, pair[1]);
    close(pair[1]);
    if (pid < 0) {
        int error = errno;
        close(pair[0]);
        not_started(keeper, "no process for the worker", error);
        return;
    }
    keeper->worker = pid;
    keeper->worker_pidfd = -1;
    keeper->link = pair[0];
    keeper->served = keeper->up = false;
    keeper->generation++;
    keeper_watch(keeper, keeper->link, WATCH_LINK, 0, false);
}

/* A first worker that exits before it listens (wrong option, broken config, another daemon has the
 * socket) has told why, and its successors would do the same. */
static bool is_failed_start(struct keeper *keeper, int status)
{
    bool refused = keeper->generation == 1 && WIFEXITED(status) && !keeper->listened;
    return refused ? !has_sessions(keeper) : is_hopeless(keeper);
}

static void died(struct keeper *keeper, int status)
{
    BUG_UNLESS(keeper->worker != 0);
    talk_take(keeper); /* its last words: all of them are in the socket by now */
    if (keeper->worker_pidfd >= 0 && keeper->listener < 0) {
        keeper_say("the worker died before it had given everything to its new keeper; all programs "
                   "are ended");
        _exit(1); /* terminals hang up, and the sentinel ends the rest */
    }
    talk_over(keeper);
    if (keeper->worker_pidfd >= 0)
        keeper_unwatch(keeper, keeper->worker_pidfd);
    fd_close(&keeper->worker_pidfd);
    keeper->worker = 0;
    keeper->leave_until_ms = 0;
    keeper->worker_before = status;
    if (keeper->ending)
        return;
    keeper->failures = keeper->up ? 0 : keeper->failures + 1;
    bool failed = !keeper->stopped && is_failed_start(keeper, status);
    if (failed && keeper->failures > 1)
        keeper_say("%d workers in a row ended before they listened, the last one by %s %d; there "
                   "are no sessions, so muxd ends; the log says more", keeper->failures,
                   WIFSIGNALED(status) ? "signal" : "status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (keeper->stopped || failed) {
        keeper_end(keeper, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        return;
    }
    if (WIFSIGNALED(status))
        keeper_say("the worker died by signal %d; starting another", WTERMSIG(status));
    if (keeper->prove_until_ms != 0 && !keeper->served)
        upgrade_fall_back(keeper, ECHILD, KEEP_UPGRADE_WORKER);
    if (keeper->stopping && (!keeper->served || keeper->stop_overdue)) {
        keeper_end(keeper, 1);
        return;
    }
    if (keeper->served) {
        keeper->backoff_ms = 0;
        supervise_start(keeper);
    } else
        wait_longer(keeper);
}

void supervise_look(struct keeper *keeper)
{
    if (keeper->worker == 0)
        return;
    if (keeper->worker_pidfd >= 0) { /* not our child */
        struct pollfd ended = {.fd = keeper->worker_pidfd, .events = POLLIN};
        if (poll(&ended, 1, 0) > 0)
            died(keeper, keeper->stopped ? 0 : SIGKILL);
        return;
    }
    int status;
    if (waitpid(keeper->worker, &status, WNOHANG) == keeper->worker)
        died(keeper, status);
}

void supervise_kill(struct keeper *keeper)
{
    if (keeper->worker == 0)
        return;
    int status = SIGKILL;
    if (keeper->worker_pidfd >= 0) {
        struct pollfd ended = {.fd = keeper->worker_pidfd, .events = POLLIN};
        pidfd_send_signal(keeper->worker_pidfd, SIGKILL, NULL, 0);
        while (poll(&ended, 1, -1) < 0 && errno == EINTR)
            ;
        keeper_unwatch(keeper, keeper->worker_pidfd);
        fd_close(&keeper->worker_pidfd);
    } else {
        kill(keeper->worker, SIGKILL);
        while (waitpid(keeper->worker, &status, 0) < 0 && errno == EINTR)
            ;
    }
    keeper->worker = 0;
    keeper->worker_before = status;
    talk_take(keeper);
    talk_over(keeper);
    keeper->leave_until_ms = 0;
}

void supervise_signal(struct keeper *keeper, int signo)
{
    if (keeper->worker == 0)
        return;
    if (keeper->worker_pidfd >= 0)
        pidfd_send_signal(keeper->worker_pidfd, signo, NULL, 0);
    else
        kill(keeper->worker, signo);
}

void supervise_served(struct keeper *keeper)
{
    keeper->served = true;
    keeper->backoff_ms = 0;
    upgrade_proven(keeper);
}

void supervise_timers(struct keeper *keeper, int64_t now_ms)
{
    if (keeper->leave_until_ms != 0 && now_ms >= keeper->leave_until_ms) {
        keeper->leave_until_ms = 0;
        keeper->stop_overdue = keeper->stopping;
        supervise_signal(keeper, SIGKILL); /* it has lost its link, or does not obey */
    }
    if (keeper->restart_at_ms != 0 && now_ms >= keeper->restart_at_ms)
        supervise_start(keeper);
    if (keeper->stopping && keeper->up && keeper->generation > keeper->stop_told) {
        /* the worker that had the signal has died; its successor needs it, too */
        keeper->stop_told = keeper->generation;
        supervise_signal(keeper, SIGTERM);
    }
}
