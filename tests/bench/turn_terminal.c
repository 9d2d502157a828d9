/* turn_terminal: the floors: the least that a program can do that reads another program's terminal or pipe. */
#include "turns.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)
#define KEEP_SIZE (2u << 20) /* what muxd keeps of a session unless told otherwise */

static pid_t start_on_pty(const struct turn *turn, char **argv, int *master)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    pid_t pid = forkpty(master, NULL, NULL, &size);
    if (pid < 0)
        die("'%s': no terminal", turn->label);
    if (pid == 0) {
        execv(argv[0], argv);
        _exit(127);
    }
    fcntl(*master, F_SETFD, FD_CLOEXEC);
    return pid;
}

static pid_t start_on_pipe(const struct turn *turn, char **argv, int *from)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        die("'%s': no pipe", turn->label);
    pid_t pid = fork();
    if (pid < 0)
        die("'%s': can't fork", turn->label);
    if (pid == 0) {
        dup2(ends[1], 1);
        execv(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    *from = ends[0];
    return pid;
}

/* A program that waits with a known prompt: argv is PROMPT TYPED EXPECTED PROGRAM ARG… */
struct repl {
    int fd;
    pid_t pid;
    size_t len;
    char text[READ_SIZE];
};

static bool is_answered(const struct repl *repl, const char *prompt, const char *expected)
{
    size_t len = strlen(prompt);
    return repl->len >= len && memcmp(repl->text + repl->len - len, prompt, len) == 0 &&
           memmem(repl->text, repl->len, expected, strlen(expected));
}

static void read_answer(struct turn *turn, const char *expected)
{
    struct repl *repl = turn->state;
    repl->len = 0;
    do {
        ssize_t n = read(repl->fd, repl->text + repl->len, sizeof repl->text - repl->len);
        if (n <= 0)
            die("'%s': no answer but '%.*s'", turn->label, (int)repl->len, repl->text);
        repl->len += (size_t)n;
    } while (!is_answered(repl, turn->argv[0], expected));
}

static void begin_repl(struct turn *turn)
{
    struct repl *repl = turn->state = must(calloc(1, sizeof *repl));
    repl->pid = start_on_pty(turn, turn->argv + 3, &repl->fd);
    read_answer(turn, "");
}

static int64_t take_repl(struct turn *turn)
{
    struct repl *repl = turn->state;
    int64_t start_ns = now_ns();
    write_whole(repl->fd, turn->argv[1], strlen(turn->argv[1]));
    read_answer(turn, turn->argv[2]);
    return now_ns() - start_ns;
}

static void end_repl(struct turn *turn)
{
    struct repl *repl = turn->state;
    close(repl->fd);
    kill(repl->pid, SIGKILL);
    waitpid(repl->pid, NULL, 0);
    free(repl);
}

/* A program that writes BYTES and ends: argv is BYTES PROGRAM ARG… What was read lies in so many bytes, the newest over the oldest. */
static int64_t drain(const struct turn *turn, int fd, pid_t pid, int64_t start_ns, size_t kept)
{
    static char text[KEEP_SIZE];
    long long total = 0, expected = strtoll(turn->argv[0], NULL, 10);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (;;) {
        struct pollfd poller = {.fd = fd, .events = POLLIN};
        size_t at = kept > READ_SIZE ? (size_t)total % kept : 0;
        ssize_t n = read(fd, text + at, kept - at < READ_SIZE ? kept - at : READ_SIZE);
        if (n > 0)
            total += n;
        else if (n == 0 || errno == EIO)
            break;
        else if (errno != EAGAIN || poll(&poller, 1, -1) < 0)
            die("'%s': can't read", turn->label);
    }
    expect_success(turn, pid);
    int64_t wall_ns = now_ns() - start_ns;
    close(fd);
    errno = 0;
    if (total != expected)
        die("'%s': %lld bytes instead of %lld", turn->label, total, expected);
    return wall_ns;
}

static int64_t take_drain_pty(struct turn *turn)
{
    int fd;
    int64_t start_ns = now_ns();
    pid_t pid = start_on_pty(turn, turn->argv + 1, &fd);
    return drain(turn, fd, pid, start_ns, READ_SIZE);
}

static int64_t read_pipe(struct turn *turn, size_t kept)
{
    int fd;
    int64_t start_ns = now_ns();
    pid_t pid = start_on_pipe(turn, turn->argv + 1, &fd);
    return drain(turn, fd, pid, start_ns, kept);
}

static int64_t take_drain_pipe(struct turn *turn)
{
    return read_pipe(turn, READ_SIZE);
}

static int64_t take_keep_pipe(struct turn *turn)
{
    return read_pipe(turn, KEEP_SIZE);
}

const struct turn_kind turn_repl = {.name = "repl", .usage = "PROMPT TYPED EXPECTED PROGRAM ARG…", .argc_min = 4, .cpu = CPU_OWN,
                                    .begin = begin_repl, .take = take_repl, .end = end_repl};
const struct turn_kind turn_drain_pty = {.name = "drain-pty", .usage = "BYTES PROGRAM ARG…", .argc_min = 2, .cpu = CPU_OWN,
                                         .take = take_drain_pty};
const struct turn_kind turn_drain_pipe = {.name = "drain-pipe", .usage = "BYTES PROGRAM ARG…", .argc_min = 2, .cpu = CPU_OWN,
                                          .take = take_drain_pipe};
const struct turn_kind turn_keep_pipe = {.name = "keep-pipe", .usage = "BYTES PROGRAM ARG…", .argc_min = 2, .cpu = CPU_OWN,
                                         .take = take_keep_pipe};
