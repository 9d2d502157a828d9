/* stop: `ue stop`: ends the daemon and returns when both of its processes have gone, so that what follows finds a free place. */
#include "base/clock.h"
#include "base/fdio.h"
#include "client/call.h"
#include "client/params.h"
#include "client/say.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAVING_MS 10000 /* for two processes that have nothing left to do */

struct leaving {
    int worker, keeper; /* pidfd_open(2); -1: unknown */
};

static bool same_program(int64_t a, int64_t b)
{
    char path[64], first[PATH_MAX], second[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%lld/exe", (long long)a);
    ssize_t first_len = readlink(path, first, sizeof first);
    snprintf(path, sizeof path, "/proc/%lld/exe", (long long)b);
    ssize_t second_len = readlink(path, second, sizeof second);
    return first_len > 0 && first_len == second_len && memcmp(first, second, (size_t)first_len) == 0;
}

static int open_process(int64_t pid)
{
    return pid > 1 && pid <= INT_MAX ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1; /* close-on-exec by itself */
}

/* Asked before the stop, while the numbers are sure to mean these processes. */
static struct leaving watch(struct ue *ue)
{
    struct leaving leaving = {-1, -1};
    struct msg_answer answer;
    struct err err = {0};
    int64_t worker = 0, keeper = 0;
    if (call_run(&ue->conn, "status", NULL, CALL_ONCE, &answer, &err) == 0 && json_get_int(answer.result, "pid", &worker)) {
        leaving.worker = open_process(worker);
        /* A worker that has lost its keeper has another parent, which goes on. */
        if (json_get_int(answer.result, "keeper_pid", &keeper) && same_program(worker, keeper))
            leaving.keeper = open_process(keeper);
    }
    msg_answer_fini(&answer);
    return leaving;
}

static bool wait_end(int *pidfd, int64_t until_ms)
{
    struct pollfd fd = {.fd = *pidfd, .events = POLLIN};
    int ready = 1;
    while (*pidfd >= 0) {
        int64_t left_ms = until_ms - clock_mono_ms();
        ready = poll(&fd, 1, left_ms > 0 ? (int)left_ms : 0);
        if (ready >= 0 || errno != EINTR)
            break;
    }
    fd_close(pidfd);
    return ready > 0;
}

/* The end of the stream says that the worker has closed its side; the processes follow. */
static bool wait_gone(struct ue *ue, struct leaving *leaving)
{
    int64_t until_ms = clock_mono_ms() + LEAVING_MS;
    char rest[512];
    ssize_t n = 1;
    while (ue->conn.fd >= 0 && n > 0) {
        struct pollfd fd = {.fd = ue->conn.fd, .events = POLLIN};
        int64_t left_ms = until_ms - clock_mono_ms();
        if (poll(&fd, 1, left_ms > 0 ? (int)left_ms : 0) == 0)
            break;
        n = recv(ue->conn.fd, rest, sizeof rest, 0);
    }
    bool worker_gone = wait_end(&leaving->worker, until_ms), keeper_gone = wait_end(&leaving->keeper, until_ms);
    return worker_gone && keeper_gone;
}

static int show(struct ue *ue, const struct json *result)
{
    struct json *stopped = json_object_new();
    json_add_bool(stopped, "stopped", true);
    if (args_has(&ue->args, "json"))
        say_json(result ? result : stopped);
    else
        say_out("muxd has stopped\n", 17);
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
    leaving = watch(ue);
    struct json *params = json_object_new();
    if (args_has(&ue->args, "self"))
        json_add_bool(params, "self", true);
    params_meta(ue, params, META_VERB);
    result = call_run(&ue->conn, "stop", params, CALL_WAITS | CALL_ONCE, &answer, &err);
    json_free(params);
    int status;
    if (result == ERR_CANCELLED) {
        say_note("interrupted; the daemon stops all the same once its sessions have ended");
        status = UE_INTERRUPTED;
    } else if (result < 0 && !(result == ERR_NO_DAEMON && ue->conn.fd < 0)) { /* a lost connection is what was asked for */
        status = ue_fail(ue, &err);
    } else if (!wait_gone(ue, &leaving)) {
        err_set(&err, ERR_SYSTEM, "'%s': the daemon has ended its sessions but its processes are still there; look into its log",
                ue->conn.path);
        status = ue_fail(ue, &err);
    } else {
        status = show(ue, answer.result);
    }
    fd_close(&leaving.worker);
    fd_close(&leaving.keeper);
    msg_answer_fini(&answer);
    return status;
}
