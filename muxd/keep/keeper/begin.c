/* begin.c: owns the beginning of a keeper: at the daemon's start, and in place of one that died.
 * (After an upgrade: upgrade.c.) */
#include "base/clock.h"
#include "base/fdio.h"
#include "keep/keeper/kept.h"
#include "keep/own_args.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define FIRST_PASSED_FD 3 /* SD_LISTEN_FDS_START of sd_listen_fds(3) */

static int compare_numbers(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The listening socket of a service manager (sd_listen_fds(3)), or -1. */
static int take_passed(void)
{
    int passed = -1;
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    if (pid && count && strtol(pid, NULL, 10) == getpid() && strtol(count, NULL, 10) >= 1)
        passed = fcntl(FIRST_PASSED_FD, F_DUPFD_CLOEXEC, FIRST_PASSED_FD + 1);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return passed;
}

/* Closes what a careless parent left open: it would stay open as long as we live, and the parent
 * might wait for its end of file. */
static void close_all_but(int kept[], size_t count)
{
    unsigned from = FIRST_PASSED_FD;
    qsort(kept, count, sizeof *kept, compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (kept[i] >= (int)from) {
            if (kept[i] > (int)from)
                close_range(from, (unsigned)kept[i] - 1, 0);
            from = (unsigned)kept[i] + 1;
        }
    close_range(from, UINT_MAX, 0);
}

void keeper_give_up(const struct keeper_options *options, const char *what, int error)
{
    char option[] = "--explain", value[128], *args[OWN_ARGS_MAX];
    snprintf(value, sizeof value, "%d:%s", error, what);
    own_args(args, options->worker_argv, option, value);
    keeper_unblock_signals();
    execv(options->worker_path, args);
    keeper_say("%s: %s", what, strerror(error));
}

void keeper_execute(int exe, char *const args[])
{
    execveat(exe, "", args, environ, AT_EMPTY_PATH);
    if (errno != ENOENT)
        return;
    fd_set_cloexec(exe, false);
    execveat(exe, "", args, environ, AT_EMPTY_PATH);
    int error = errno;
    fd_set_cloexec(exe, true);
    errno = error;
}

int keeper_run(const struct keeper_options *options)
{
    int passed = take_passed();
    close_all_but((int[]){passed, options->ready_fd, options->worker_exe}, 3);
    struct keeper *keeper = keeper_new(options);
    if (!keeper) {
        keeper_give_up(options, "can't start", errno);
        return 1;
    }
    keeper->listener = passed;
    keeper->listener_given = passed >= 0;
    if (options->ready_fd >= 0)
        fd_set_cloexec(options->ready_fd, true);
    sentinel_start(keeper);
    supervise_start(keeper);
    return keeper_loop(keeper);
}

/* Of the process that made the socket, even if its pid belongs to another process by now; before
 * Linux 6.5 by that pid. */
static int pidfd_of_peer(int sock, pid_t pid)
{
    int pidfd = -1;
    socklen_t size = sizeof pidfd;
    if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0)
        return pidfd;
    return errno == ENOPROTOOPT ? pidfd_open(pid, 0) : -1;
}

/* The other end belongs to a living worker, which will give us its sessions. */
int keeper_adopt(const struct keeper_options *options, int link_fd)
{
    struct keeper *keeper = keeper_new(options);
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (!keeper || getsockopt(link_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        fd_set_cloexec(link_fd, true) != 0)
        return 1;
    keeper->link = link_fd;
    keeper->worker = peer.pid;
    keeper->worker_pidfd = pidfd_of_peer(link_fd, peer.pid);
    if (keeper->worker_pidfd < 0)
        return 1;
    keeper->served = keeper->up = true;
    keeper->generation = 1;
    keeper->talk = TALK_DONE;
    keeper->started_at_ms = clock_mono_ms();
    keeper_watch(keeper, keeper->link, WATCH_LINK, 0, false);
    keeper_watch(keeper, keeper->worker_pidfd, WATCH_WORKER, 0, false);
    return keeper_loop(keeper);
}
