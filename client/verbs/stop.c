/* stop: `ue stop`: ends the daemon and returns when both of its processes have exited, so that the
 * socket is free for the next one. */
#include "base/bug.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "client/rpc/call.h"
#include "client/verbs/run.h"
#include "client/print/say.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAVING_MS 10000 /* longest time that the processes may make no progress */
#define LOOK_MS 1000     /* between two looks at their progress */
#define SLOW_MS 2000     /* until a note says that we wait for the sessions */

struct leaving {
    int worker, keeper; /* pidfd_open(2); -1: unknown */
    int64_t worker_pid, keeper_pid;
    int64_t live; /* sessions before the stop */
    bool told;    /* the note was printed */
};

/* The name from /proc. The path of the executable is hidden even from the worker's own user
 * (PR_SET_DUMPABLE). */
static bool stop_name_of(int64_t pid, char name[32])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/comm", (long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, name, 31) : -1;
    fd_close(&fd);
    name[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Where /proc hides both processes (hidepid), the worker's answer is believed. */
static bool is_keeper(int64_t pid, int64_t worker)
{
    char name[32], workers_name[32];
    bool known = stop_name_of(pid, name), worker_known = stop_name_of(worker, workers_name);
    return known == worker_known && (!known || strcmp(name, "muxd-keeper\n") == 0);
}

static int open_process(int64_t pid)
{
    /* pidfd_open sets close-on-exec itself */
    return pid > 1 && pid <= INT_MAX ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
}

/* Before the stop, while the pids surely mean these processes. */
static struct leaving stop_watch(struct ue *ue)
{
    struct leaving leaving = {.worker = -1, .keeper = -1};
    struct msg_answer answer;
    struct err err = {0};
    int64_t worker = 0, keeper = 0;
    if (call_run(&ue->conn, "status", NULL, CALL_ONCE, &answer, &err) == 0 &&
        json_get_int(answer.result, "pid", &worker)) {
        leaving.worker = open_process(worker);
        /* the parent of a worker that has lost its keeper is another process, which stays */
        if (json_get_int(answer.result, "keeper_pid", &keeper) && is_keeper(keeper, worker))
            leaving.keeper = open_process(keeper);
        leaving.worker_pid = worker;
        leaving.keeper_pid = keeper;
        json_get_int(answer.result, "live", &leaving.live);
    }
    msg_answer_fini(&answer);
    return leaving;
}

/* A number that changes while a process makes progress: from its processor time and its number of
 * descriptors. */
static uint64_t progress_of(int64_t pid)
{
    char path[64], text[1024];
    unsigned long long user = 0, system = 0;
    struct stat fds;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    fd_close(&fd);
    text[n > 0 ? n : 0] = '\0';
    const char *rest = strrchr(text, ')');
    if (rest)
        sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system);
    snprintf(path, sizeof path, "/proc/%lld/fd", (long long)pid);
    return (uint64_t)(user + system) * 65536 + (stat(path, &fds) == 0 ? (uint64_t)fds.st_size : 0);
}

/* True once fd is readable; false after LEAVING_MS without progress. */
static bool wait_moving(struct leaving *leaving, int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    int64_t moved_ms = clock_mono_ms();
    BUG_UNLESS(fd >= 0); /* poll ignores other ones */
    uint64_t before = 0;
    for (;;) {
        int ready = poll(&poll_fd, 1, LOOK_MS);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
        uint64_t now = progress_of(leaving->worker_pid) * 31 + progress_of(leaving->keeper_pid);
        if (now != before)
            moved_ms = clock_mono_ms();
        before = now;
        if (clock_mono_ms() - moved_ms > LEAVING_MS)
            return false;
        if (!leaving->told)
            say_note("all sessions have ended; waiting for the daemon's processes (%" PRId64
                     ", %" PRId64 ") to exit",
                     leaving->worker_pid, leaving->keeper_pid);
        leaving->told = true;
    }
}

static bool wait_end(struct leaving *leaving, int *pidfd)
{
    /* without a pidfd there is nothing to wait for */
    bool gone = *pidfd < 0 || wait_moving(leaving, *pidfd);
    fd_close(pidfd);
    return gone;
}

/* The worker closes its end of the connection first; then the processes exit. */
static bool wait_gone(struct ue *ue, struct leaving *leaving)
{
    char rest[512];
    ssize_t n = 1;
    while (ue->conn.fd >= 0 && n > 0 && wait_moving(leaving, ue->conn.fd))
        n = recv(ue->conn.fd, rest, sizeof rest, MSG_DONTWAIT);
    bool worker_gone = wait_end(leaving, &leaving->worker),
         keeper_gone = wait_end(leaving, &leaving->keeper);
    return worker_gone && keeper_gone;
}

static int stop_show(struct ue *ue, const struct json *result)
{
    struct json *stopped = json_object_new();
    json_add_bool(stopped, "stopped", true);
    struct buf text = BUF_INIT;
    buf_append_text(&text, "muxd has stopped");
    run_append_survivors(&text, result);
    buf_append_byte(&text, '\n');
    if (args_has(&ue->args, "json"))
        say_json(result ? result : stopped);
    else
        say_text(text.data, text.len);
    buf_fini(&text);
    json_free(stopped);
    return 0;
}

static int no_daemon(struct ue *ue)
{
    if (args_has(&ue->args, "json"))
        say_out("{\"stopped\":false}\n", 18);
    else
        say_out("no daemon runs\n", 15);
    return 0;
}

int verb_STOP(struct ue *ue)
{
    struct msg_answer answer;
    struct err err = {0};
    struct leaving leaving;
    int result = connection_try(&ue->conn, &err);
    if (result == ERR_NO_DAEMON)
        return no_daemon(ue);
    if (result < 0)
        return ue_fail(ue, &err);
    ue->conn.may_start = false;
    leaving = stop_watch(ue);
    struct json *params = run_params(ue, &(struct run){0}, &err);
    char slow[120];
    snprintf(slow, sizeof slow,
             "the daemon ends its sessions (%" PRId64 "); waiting for the last of them",
             leaving.live);
    ue->conn.slow_note = slow;
    ue->conn.slow_ms = SLOW_MS;
    result = call_run(&ue->conn, "stop", params, CALL_WAITS | CALL_ONCE, &answer, &err);
    json_free(params);
    ue->conn.slow_note = NULL;
    int status;
    if (result == ERR_CANCELLED) {
        say_note("interrupted; the daemon stops all the same once its sessions have ended");
        status = UE_INTERRUPTED;
    } else if (result < 0 && !(result == ERR_NO_DAEMON && ue->conn.fd < 0)) {
        /* a lost connection is no failure here: the daemon stops */
        status = ue_fail(ue, &err);
    } else if (!wait_gone(ue, &leaving)) {
        err_set(&err, ERR_SYSTEM,
                "'%s': the daemon has ended its sessions but its processes are still there; look "
                "into its log",
                ue->conn.path);
        status = ue_fail(ue, &err);
    } else {
        status = stop_show(ue, answer.result);
    }
    fd_close(&leaving.worker);
    fd_close(&leaving.keeper);
    msg_answer_fini(&answer);
    return status;
}
