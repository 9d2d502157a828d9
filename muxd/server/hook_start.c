/* hook_start: owns how the process of a hook is made: its event, its output, its environment, its
 * mark. */
#include "base/limit.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/strv.h"
#include "config/config.h"
#include "server/hooks.h"
#include "server/server.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* A minder ends its command this long after the hook's timeout, for the case that the worker that
 * should have done it has died. */
#define MINDER_MS 1000

extern char **environ;

static int event_file(const struct hook_event *event)
{
    int fd = memfd_create("muxd-event", MFD_CLOEXEC);
    if (fd >= 0 && (fd_write_all(fd, event->text, event->size) != (ssize_t)event->size ||
                    lseek(fd, 0, SEEK_SET) != 0))
        fd_close(&fd);
    return fd;
}

static void fill_environment(const struct config_hook *hook, const char *type,
                             const char *socket_path, struct strv *env)
{
    strv_add_all(env, (const char *const *)environ);
    strv_env_set(env, "MUXD_HOOK", hook->name);
    strv_env_set(env, "MUXD_EVENT", type);
    strv_env_set(env, "MUXD_SOCKET", socket_path);
}

/* What is started from now on inherits the mark as its soft limit on locks, until the limit that
 * this returns is set again. The minder makes it last. */
static struct rlimit wear_mark(rlim_t mark)
{
    struct rlimit before = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_LOCKS, &before);
    setrlimit(RLIMIT_LOCKS, &(struct rlimit){mark, before.rlim_max});
    return before;
}

/* The minder's: the command is the rest of it. */
static char **minder_argv(const struct config_hook *hook, char *const *command)
{
    struct strv argv = {0};
    strv_add(&argv, "muxd");
    strv_add(&argv, "--hook-timeout");
    strv_addf(&argv, "%lld", (long long)hook->timeout_ms + MINDER_MS);
    strv_add(&argv, "--hook");
    strv_add_all(&argv, (const char *const *)command);
    return strv_take(&argv);
}

static int spawn(const struct config_hook *hook, const struct hook_command *command, rlim_t mark,
                 int event_fd, int out_fd, pid_t *pid)
{
    char **argv = minder_argv(hook, command->argv);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, event_fd, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out_fd, STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&files, command->cwd);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    struct rlimit before = wear_mark(mark);
    int error = posix_spawn(pid, "/proc/self/exe", &files, &attributes, argv, command->env);
    setrlimit(RLIMIT_LOCKS, &before);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    strv_free(argv);
    return error;
}

/* 0, or err: the kernel has refused it. A directory that can't be entered is refused there, too. */
static int start(struct registry *registry, const struct config_hook *hook,
                 const struct hook_event *event, const struct hook_command *command, pid_t *pid,
                 int *out_fd, struct err *err)
{
    int pipe_fds[2] = {-1, -1}, event_fd = event_file(event);
    int error = event_fd < 0 || pipe2(pipe_fds, O_CLOEXEC) != 0 ||
                        fd_set_nonblock(pipe_fds[0], true) != 0
                    ? errno
                    : 0;
    if (!error)
        error = spawn(hook, command, registry_hook_mark(registry), event_fd, pipe_fds[1], pid);
    fd_close(&event_fd);
    fd_close(&pipe_fds[1]);
    if (error)
        fd_close(&pipe_fds[0]);
    *out_fd = pipe_fds[0];
    return error ? limit_err(err, ERR_SYSTEM, LIMIT_HOOK, error, "it can't be started in '%s'",
                             command->cwd)
                 : 0;
}

int hook_start(struct server *server, const struct config_hook *hook,
               const struct hook_event *event, pid_t *pid, int *out_fd, struct err *err)
{
    BUG_UNLESS(event->size > 0 && event->text[event->size - 1] == '\n');
    struct hook_command command;
    struct strv env = {0};
    fill_environment(hook, event->type, server->socket_path, &env);
    int code = hook_command_make(server->registry, hook, &env, &command, err);
    if (!code)
        code = start(server->registry, hook, event, &command, pid, out_fd, err);
    hook_command_fini(&command);
    return code;
}
