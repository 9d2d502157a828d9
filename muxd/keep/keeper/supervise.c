/* supervise.c: owns the worker's life as the keeper sees it: start, death, back-off, the signals
 * passed on. */
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
#define FIRST_TRIES 5

static void __attribute__((__noreturn__)) become_worker(const struct keeper *keeper, int link)
{
    setpgid(0, 0); /* ^C at the keeper's terminal comes through the keeper, once */
    int exe = keeper->worker_exe;
    if (exe == KEEP_LINK_FD)
        exe = fcntl(exe, F_DUPFD_CLOEXEC, KEEP_LINK_FD + 1);
    if (link == KEEP_LINK_FD)
        fd_set_cloexec(link, false);
    else if (dup2(link, KEEP_LINK_FD) < 0) {
        keeper_say("the worker can't be given its link: %s", strerror(errno));
        _exit(127);
    }
    keeper_unblock_signals();
    if (exe >= 0)
        execveat(exe, "", keeper->options.worker_argv, environ, AT_EMPTY_PATH);
    if (exe < 0 || errno == ENOENT) /* a script can't be read from a descriptor that exec closes */
        execv(keeper->options.worker_path, keeper->options.worker_argv);
    keeper_say("the worker can't be executed: %s", strerror(errno));
    _exit(127);
}

static void wait_longer(struct keeper *keeper)
{
    /* it lived: this is no loop */
    if (clock_mono_ms() - keeper->started_at_ms > 2 * BACKOFF_MAX_MS)
        keeper->backoff_ms = 0;
    keeper->backoff_ms = keeper->backoff_ms == 0 ? BACKOFF_FIRST_MS : keeper->backoff_ms * 2;
    if (keeper->backoff_ms > BACKOFF_MAX_MS)
        keeper->backoff_ms = BACKOFF_MAX_MS;
    keeper->restart_at_ms = clock_mono_ms() + keeper->backoff_ms;
}

static bool has_sessions(struct keeper *keeper)
{
    for (struct slot *slot = slots_next(&keeper->slots, NULL); slot;
         slot = slots_next(&keeper->slots, slot))
        if (slot->session >= KEEP_SESSION_MIN)
            return true;
    return false;
}

/* Tried again for as long as there is something to lose. Who waits for the first worker is told why
 * there is none. */
static void not_started(struct keeper *keeper, const char *what, int error)
{
    wait_longer(keeper);
    if (keeper->served || keeper->listened || has_sessions(keeper) ||
        ++keeper->start_tries < FIRST_TRIES)
        return;
    sentinel_dismiss(keeper->sentinel_fd);
    keeper_give_up(&keeper->options, what, error);
    keeper_end(keeper, 1);
}

void supervise_start(struct keeper *keeper)
{
    int pair[2];
    keeper->restart_at_ms = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
        not_started(keeper, "no socket for the worker", errno);
        return;
    }
    pid_t pid = keeper_fork();
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
    keeper->served = false;
    keeper->started_at_ms = clock_mono_ms();
    keeper->generation++;
    keeper_watch(keeper, keeper->link, WATCH_LINK, 0, false);
}

/* A worker that can't even begin (wrong option, broken config, another daemon has the socket) has
 * told why: repeating it helps nobody. Nor does it when one after the other crashes before there
 * was a socket. Sessions are never given up: those that begin by themselves may be there before the
 * socket is. */
static bool is_failed_start(struct keeper *keeper, int status)
{
    if (keeper->served || keeper->listened || has_sessions(keeper))
        return false;
    return (keeper->generation == 1 && WIFEXITED(status)) ||
           (keeper->generation >= FIRST_TRIES && keeper->listener < 0);
}

static void died(struct keeper *keeper, int status)
{
    talk_take(keeper); /* its last words: all of them are in the socket by now */
    if (keeper->worker_pidfd >= 0 && keeper->listener < 0) {
        keeper_say("the worker died before it had given everything to its new keeper; all programs "
                   "are ended");
        _exit(1); /* terminals hang up, and the sentinel sees to the rest */
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
    if (WIFSIGNALED(status) && is_failed_start(keeper, status))
        keeper_say(
            "each worker died before it listened, the last one by signal %d; nothing was started",
            WTERMSIG(status));
    if (keeper->stopped || is_failed_start(keeper, status)) {
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
        supervise_signal(keeper, SIGKILL); /* alive without a link, or deaf: of no use to anybody */
    }
    if (keeper->restart_at_ms != 0 && now_ms >= keeper->restart_at_ms)
        supervise_start(keeper);
    if (keeper->stopping && keeper->talk == TALK_DONE && keeper->generation > keeper->stop_told) {
        /* this one has not heard it: its predecessor died while it stopped */
        keeper->stop_told = keeper->generation;
        supervise_signal(keeper, SIGTERM);
    }
}
