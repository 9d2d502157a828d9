/* turn_attach: what a person has before the eyes: keys until they are seen, a program shown to its end, the first screen. */
#include "turns.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)
#define SETTLED_MS 300 /* nothing more comes from a program that has begun */

struct shown {
    int fd;
    pid_t pid;
    unsigned keys;
};

static void start(const struct turn *turn, struct shown *shown, char **argv)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    shown->pid = forkpty(&shown->fd, NULL, NULL, &size);
    if (shown->pid < 0)
        die("'%s': no terminal", turn->label);
    if (shown->pid == 0) {
        execv(argv[0], argv);
        _exit(127);
    }
    fcntl(shown->fd, F_SETFD, FD_CLOEXEC);
}

static void stop(struct shown *shown)
{
    close(shown->fd);
    kill(shown->pid, SIGKILL);
    waitpid(shown->pid, NULL, 0);
}

/* What every person's terminal answers, and who asks it waits for: what it is. */
static void answer(int fd, const char *text, size_t size)
{
    static const char asked[] = "\033[c", told[] = "\033[?62;22c";
    if (memmem(text, size, asked, sizeof asked - 1))
        write_whole(fd, told, sizeof told - 1);
}

/* Reads until the text is there. The end of what was read before counts, so that no mark is cut. */
static void read_until(const struct turn *turn, int fd, const char *mark)
{
    char text[READ_SIZE];
    size_t kept = 0, len = strlen(mark);
    for (;;) {
        ssize_t n = read(fd, text + kept, sizeof text - kept);
        if (n <= 0)
            die("'%s': '%s' was never shown", turn->label, mark);
        size_t have = kept + (size_t)n;
        answer(fd, text + kept, (size_t)n);
        if (memmem(text, have, mark, len))
            return;
        kept = have < len ? have : len - 1;
        memmove(text, text + have - kept, kept);
    }
}

static void settle(int fd)
{
    char text[READ_SIZE];
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    ssize_t n;
    while (poll(&poller, 1, SETTLED_MS) > 0 && (n = read(fd, text, sizeof text)) > 0)
        answer(fd, text, (size_t)n);
}

/* One of letters that end no sequence of a terminal's language. */
static void press(const struct turn *turn, struct shown *shown)
{
    static const char letters[] = "QWYVUON";
    char key[2] = {letters[shown->keys++ % (sizeof letters - 1)], '\0'};
    write_whole(shown->fd, key, 1);
    read_until(turn, shown->fd, key);
}

static void begin_echo(struct turn *turn)
{
    struct shown *shown = turn->state = must(calloc(1, sizeof *shown));
    start(turn, shown, turn->argv);
    settle(shown->fd);
    press(turn, shown);
}

static int64_t take_echo(struct turn *turn)
{
    int64_t start_ns = now_ns();
    press(turn, turn->state);
    return now_ns() - start_ns;
}

static void end_echo(struct turn *turn)
{
    stop(turn->state);
    free(turn->state);
}

static int64_t take_view(struct turn *turn)
{
    struct shown shown = {0};
    char text[READ_SIZE];
    int64_t start_ns = now_ns();
    start(turn, &shown, turn->argv);
    for (ssize_t n; (n = read(shown.fd, text, sizeof text)) > 0;)
        answer(shown.fd, text, (size_t)n);
    int64_t wall_ns = now_ns() - start_ns;
    expect_success(turn, shown.pid); /* what failed has shown nothing, and was quick about it */
    close(shown.fd);
    errno = 0;
    return wall_ns;
}

static int64_t take_first(struct turn *turn)
{
    struct shown shown = {0};
    int64_t start_ns = now_ns();
    start(turn, &shown, turn->argv + 1);
    read_until(turn, shown.fd, turn->argv[0]);
    int64_t wall_ns = now_ns() - start_ns;
    stop(&shown);
    return wall_ns;
}

const struct turn_kind turn_echo = {.name = "echo", .usage = "PROGRAM ARG…", .argc_min = 1, .cpu = CPU_OWN, .begin = begin_echo,
                                    .take = take_echo, .end = end_echo};
const struct turn_kind turn_view = {.name = "view", .usage = "PROGRAM ARG…", .argc_min = 1, .cpu = CPU_OWN, .take = take_view};
const struct turn_kind turn_first = {.name = "first", .usage = "MARK PROGRAM ARG…", .argc_min = 2, .cpu = CPU_OWN, .take = take_first};
