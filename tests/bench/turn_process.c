/* turn_process: contestants that start a program and wait for its end, and helpers that take the time of their own turns. */
#include "turns.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void begin_quiet(struct turn *turn)
{
    posix_spawn_file_actions_t *actions = must(calloc(1, sizeof *actions));
    int error = posix_spawn_file_actions_init(actions);
    if (!error)
        error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, 0, 1);
    if (error)
        errno = error, die("'%s': can't prepare it", turn->label);
    turn->state = actions;
}

static void end_quiet(struct turn *turn)
{
    posix_spawn_file_actions_destroy(turn->state);
    free(turn->state);
}

/* posix_spawn shares the memory until the exec, as vfork does: the cheapest start there is. */
static int64_t take_spawn(struct turn *turn)
{
    pid_t pid;
    int64_t start_ns = now_ns();
    int error = posix_spawn(&pid, turn->argv[0], turn->state, NULL, turn->argv, environ);
    if (error)
        errno = error, die("'%s': can't start '%s'", turn->label, turn->argv[0]);
    expect_success(turn, pid);
    return now_ns() - start_ns;
}

static int64_t take_fork(struct turn *turn)
{
    int64_t start_ns = now_ns();
    pid_t pid = fork();
    if (pid < 0)
        die("'%s': can't fork", turn->label);
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        execv(turn->argv[0], turn->argv);
        _exit(127);
    }
    expect_success(turn, pid);
    return now_ns() - start_ns;
}

struct helper {
    pid_t pid;
    int to;
    FILE *from;
};

static void begin_helper(struct turn *turn)
{
    struct helper *helper = turn->state = must(calloc(1, sizeof *helper));
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
        die("'%s': no pipe", turn->label);
    helper->pid = fork();
    if (helper->pid < 0)
        die("'%s': can't fork", turn->label);
    if (helper->pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execv(turn->argv[0], turn->argv);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    helper->to = to[1];
    helper->from = must(fdopen(from[0], "r"));
}

/* A turn begins with an empty line to it and ends with a line from it: nanoseconds. */
static int64_t take_helper(struct turn *turn)
{
    struct helper *helper = turn->state;
    char line[64];
    write_whole(helper->to, "\n", 1);
    if (!fgets(line, sizeof line, helper->from))
        errno = 0, die("'%s': the helper has gone", turn->label);
    return strtoll(line, NULL, 10);
}

static void end_helper(struct turn *turn)
{
    struct helper *helper = turn->state;
    close(helper->to);
    expect_success(turn, helper->pid);
    fclose(helper->from);
    free(helper);
}

const struct turn_kind turn_spawn = {.name = "spawn", .usage = "PROGRAM ARG…", .argc_min = 1,
                                     .begin = begin_quiet, .take = take_spawn, .end = end_quiet};
const struct turn_kind turn_fork = {.name = "fork", .usage = "PROGRAM ARG…", .argc_min = 1, .take = take_fork};
const struct turn_kind turn_helper = {.name = "helper", .usage = "PROGRAM ARG…", .argc_min = 1,
                                      .begin = begin_helper, .take = take_helper, .end = end_helper};
