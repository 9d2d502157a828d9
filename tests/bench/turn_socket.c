/* turn_socket: contestants that ask muxd over its socket: requests on a warm connection, and recovery from a killed worker. */
#include "turns.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_MAX (8u << 20)
#define ATTEMPTS_MAX 100 /* a connection that the dying worker had accepted is reset */

static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"hello\",\"params\":{}}\n";

struct asker {
    int fd;
    const char *path, *expected;
    char *request; /* with its newline */
    size_t request_len;
    char *answer;
};

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        die("'%s': too long for a socket's path", path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        die("'%s': can't connect", path);
    return fd;
}

/* One request, one line of answer, left NUL-terminated in asker->answer; false: the other side has gone. */
static bool ask(struct asker *asker, const char *request, size_t len)
{
    size_t got = 0;
    if (send(asker->fd, request, len, MSG_NOSIGNAL) != (ssize_t)len)
        return false;
    do {
        ssize_t n = recv(asker->fd, asker->answer + got, ANSWER_MAX - 1 - got, 0);
        if (n <= 0)
            return false;
        got += (size_t)n;
    } while (asker->answer[got - 1] != '\n' && got < ANSWER_MAX - 1);
    asker->answer[got] = '\0';
    return true;
}

static void check(const struct turn *turn, const struct asker *asker)
{
    errno = 0;
    if (!strstr(asker->answer, "\"result\":") || !has_all(asker->answer, asker->expected))
        die("'%s': not the answer that was expected: %.2000s", turn->label, asker->answer);
}

static void begin_call(struct turn *turn)
{
    struct asker *asker = turn->state = must(calloc(1, sizeof *asker));
    asker->path = turn->argv[0];
    asker->expected = turn->argv[2];
    asker->request_len = strlen(turn->argv[1]) + 1;
    asker->request = must(malloc(asker->request_len + 1));
    memcpy(asker->request, turn->argv[1], asker->request_len);
    memcpy(asker->request + asker->request_len - 1, "\n", 2);
    asker->answer = must(malloc(ANSWER_MAX));
    asker->fd = connect_to(asker->path);
}

static int64_t take_call(struct turn *turn)
{
    struct asker *asker = turn->state;
    int64_t start_ns = now_ns();
    bool answered = ask(asker, asker->request, asker->request_len);
    int64_t wall_ns = now_ns() - start_ns;
    if (!answered)
        die("'%s': no answer", turn->label);
    check(turn, asker);
    return wall_ns;
}

static pid_t worker_pid(struct turn *turn, struct asker *asker)
{
    asker->fd = connect_to(asker->path);
    const char *at = ask(asker, hello, sizeof hello - 1) ? strstr(asker->answer, "\"pid\":") : NULL;
    long pid = at ? strtol(at + 6, NULL, 10) : 0;
    errno = 0;
    if (pid <= 1)
        die("'%s': the daemon does not tell its pid", turn->label);
    close(asker->fd);
    return (pid_t)pid;
}

/* From the kill to the answer of the next worker. The old one is seen dead first, so that it can't be the one that answers. */
static int64_t take_crash(struct turn *turn)
{
    struct asker *asker = turn->state;
    pid_t pid = worker_pid(turn, asker);
    struct pollfd dead = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (dead.fd < 0)
        die("'%s': can't watch the worker", turn->label);
    int64_t start_ns = now_ns();
    if (syscall(SYS_pidfd_send_signal, dead.fd, SIGKILL, NULL, 0) < 0 || poll(&dead, 1, -1) != 1)
        die("'%s': can't kill the worker", turn->label);
    for (int attempt = 1;; attempt++) {
        asker->fd = connect_to(asker->path);
        bool answered = ask(asker, asker->request, asker->request_len);
        close(asker->fd);
        if (answered)
            break;
        if (attempt == ATTEMPTS_MAX)
            die("'%s': no answer after %d connections", turn->label, attempt);
    }
    int64_t wall_ns = now_ns() - start_ns;
    close(dead.fd);
    check(turn, asker);
    return wall_ns;
}

static void begin_crash(struct turn *turn)
{
    begin_call(turn);
    close(((struct asker *)turn->state)->fd);
}

static void end_crash(struct turn *turn)
{
    struct asker *asker = turn->state;
    free(asker->request);
    free(asker->answer);
    free(asker);
}

static void end_call(struct turn *turn)
{
    close(((struct asker *)turn->state)->fd);
    end_crash(turn);
}

const struct turn_kind turn_call = {.name = "call", .usage = "SOCKET REQUEST EXPECTED", .argc_min = 3, .cpu = CPU_DAEMON,
                                    .begin = begin_call, .take = take_call, .end = end_call};
const struct turn_kind turn_crash = {.name = "crash", .usage = "SOCKET REQUEST EXPECTED", .argc_min = 3,
                                     .begin = begin_crash, .take = take_crash, .end = end_crash};
