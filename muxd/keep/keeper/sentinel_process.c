/* sentinel_process.c: owns the sentinel's process. It holds pidfds of the programs, so that however
 * late it signals, it can't hit another process. */
#include "keep/sentinel.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "keep/keeper/kept.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRIES 5       /* if it keeps dying, another one would die, too */
#define GRACE_MS 2000 /* between SIGHUP and SIGKILL */
#define PASSES 50     /* that kill those who bear a mark */
#define PASS_MS 10

struct known {
    int32_t pid, pidfd;
    uint64_t mark;
};
static struct known known[SLOTS_MAX]; /* used in the sentinel's process only */
static int count;

static bool is_alive(const struct known *program)
{
    struct pollfd ended = {.fd = program->pidfd, .events = POLLIN};
    return poll(&ended, 1, 0) == 0;
}

static bool is_marked(int32_t pid)
{
    struct rlimit limit;
    int i = 0;
    if (prlimit(pid, RLIMIT_LOCKS, NULL, &limit) != 0)
        return false;
    while (i < count && known[i].mark != limit.rlim_cur && known[i].mark != limit.rlim_max)
        i++;
    return i < count;
}

/* The groups, and whoever bears a mark wherever it has gone. False: there was none of those. */
static bool signal_all(int signo)
{
    _Alignas(struct dirent64) char text[4096];
    bool any = false;
    int dir = open("/proc", O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < count; i++)
        if (is_alive(&known[i])) /* so its pid is still its own */
            kill(-known[i].pid, signo);
    for (ssize_t n; (n = getdents64(dir, text, sizeof text)) > 0;)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(text + at);
            int32_t pid = (int32_t)strtol(entry->d_name, NULL, 10);
            at += entry->d_reclen;
            int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
            any |= pidfd >= 0 && is_marked(pid) && pidfd_send_signal(pidfd, signo, NULL, 0) == 0;
            fd_close(&pidfd);
        }
    fd_close(&dir);
    return any;
}

/* Ends early when all leaders are gone. */
static void wait_for_all(int ms)
{
    int64_t until_ms = clock_mono_ms() + ms, left_ms = ms;
    for (int i = 0; i < count && left_ms > 0; i++) {
        struct pollfd ended = {.fd = known[i].pidfd, .events = POLLIN};
        poll(&ended, 1, (int)left_ms);
        left_ms = until_ms - clock_mono_ms();
    }
}

static void remove_pid(int32_t pid)
{
    for (int i = 0; i < count; i++)
        if (known[i].pid == pid) {
            fd_close(&known[i].pidfd);
            known[i] = known[--count];
            return;
        }
}

/* Messages may wait in the socket: if each program woke this process, it would slow down that
 * program's start. So it fills the little room that there is for writing and waits for more, not
 * for something to read. The keeper makes room before too much waits (sentinel.c), and the death of
 * the others wakes it in any case. */
static void sleep_until_rung(int fd)
{
    struct pollfd bell = {.fd = fd, .events = POLLOUT};
    while (send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
        ;
    poll(&bell, 1, -1);
}

/* False: it was dismissed. */
static bool listen_until_alone(int fd)
{
    for (;;) {
        struct sentinel_msg msg = {0};
        int pidfd = -1;
        size_t nfds = 1;
        ssize_t n = fd_recv(fd, &msg, sizeof msg, &pidfd, &nfds, MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN) {
            sleep_until_rung(fd);
            continue;
        }
        /* ECONNRESET: they died with the bell unread; their messages are still here */
        if (n < 0 && (errno == EMSGSIZE || errno == ECONNRESET || fd_is_short(errno)))
            continue;
        if (n <= 0)
            return true;
        if (msg.type == SENTINEL_DISMISS)
            return false;
        remove_pid(msg.pid); /* that of SENTINEL_ADD may have been told before its mark was set */
        if (msg.type == SENTINEL_ADD && pidfd >= 0 && count < SLOTS_MAX)
            known[count++] = (struct known){msg.pid, pidfd, msg.mark};
        else if (pidfd >= 0)
            fd_close(&pidfd);
    }
}

static void __attribute__((__noreturn__)) be_sentinel(int fd)
{
    prctl(PR_SET_NAME, "muxd-sentinel");
    if (dup2(fd, STDERR_FILENO + 1) < 0)
        _exit(1);
    fd = STDERR_FILENO + 1;
    if (close_range((unsigned)fd + 1, UINT_MAX, 0) != 0)
        _exit(1); /* it would hold terminals open */
    for (int i = 0; i < fd; i++)
        close(i);
    int least = 0; /* the kernel raises it to its minimum, socket(7) */
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least);
    if (listen_until_alone(fd)) {
        signal_all(SIGHUP);
        signal_all(SIGCONT);
        wait_for_all(GRACE_MS);
        for (int i = 0; i < PASSES && signal_all(SIGKILL); i++)
            poll(NULL, 0, PASS_MS);
    }
    _exit(0);
}

void sentinel_start(struct keeper *keeper)
{
    int pair[2];
    BUG_UNLESS(keeper->sentinel_fd < 0);
    if (!keeper->options.sentinel || keeper->sentinel_tries >= TRIES ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0)
        be_sentinel(pair[1]);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return;
    }
    keeper->sentinel_tries++;
    keeper->sentinel = pid;
    keeper->sentinel_fd = pair[0];
}

void sentinel_restart(struct keeper *keeper)
{
    keeper->sentinel = 0;
    fd_close(&keeper->sentinel_fd);
    sentinel_start(keeper);
    keeper->owes_was |= keeper->sentinel_fd >= 0;
    SLOTS_EACH(&keeper->slots, slot)
        if (slot->pid != 0)
            sentinel_add(keeper->sentinel_fd, slot->pid, slot->pidfd);
}
