/* launch: owns the start of a daemon: which muxd, with which environment, and its error text when
 * it fails. */
#include "client/rpc/connect.h"
#include "base/beside.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strv.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_ANOTHER_WON 75 /* EX_TEMPFAIL: another muxd serves this socket */
#define STATUS_NO_PROGRAM 127
#define STATUS_NO_WORD 255 /* who waited for it was killed */
#define STUCK_MS 60000     /* until it listens, which takes seconds at most on a busy machine */

extern char **environ;

char *launch_absolute(const char *path)
{
    char dir[PATH_MAX];
    return path[0] == '/' || !getcwd(dir, sizeof dir) ? xstrdup(path) : path_join(dir, path);
}

static bool is_kept(const char *entry)
{
    static const char *const names[] = {
        "HOME=", "PATH=", "LANG=", "SHELL=", "USER=", "LOGNAME=", "TMPDIR="};
    /* a daemon belongs to no session, even when it is started from within one */
    if (strncmp(entry, "MUXD_SESSION", 12) == 0)
        return false;
    if (strncmp(entry, "MUXD_", 5) == 0 || strncmp(entry, "XDG_", 4) == 0)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

char **launch_environment(const char *socket_path)
{
    struct strv env = {0};
    for (char **at = environ; at && *at; at++)
        if (is_kept(*at))
            strv_add(&env, *at);
    strv_env_set(&env, "MUXD_SOCKET", socket_path);
    return strv_take(&env);
}

/* muxd beside our own binary; NULL: the one in PATH. */
static char *neighbour(void)
{
    static const char *const names[] = {"muxd", NULL};
    static char own[PATH_MAX], path[PATH_MAX]; /* too large for a small stack */
    bool found = beside_own(own) && beside_find(own, names, path) && access(path, X_OK) == 0;
    return found ? xstrdup(path) : NULL;
}

/* The settings of the program that we are a child of. */
static void forget_signals(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    for (int signo = 1; signo < SIGRTMIN; signo++)
        sigaction(signo, &plain, NULL); /* fails for KILL and STOP, as it must */
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child, until exec. The daemon inherits no descriptor, no signal setting and no terminal of
 * ours. */
static void become(const char *program, char *const *argv, char *const *env, int out_fd,
                   int report_fd)
{
    setsid();
    int null_fd = open("/dev/null", O_RDWR);
    if (null_fd < 0 || chdir("/") != 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
        dup2(out_fd >= 0 ? out_fd : null_fd, STDOUT_FILENO) < 0 ||
        dup2(report_fd, STDERR_FILENO) < 0) {
        struct err err;
        limit_err(&err, ERR_NO_DAEMON, LIMIT_PROGRAM, errno,
                  "its standard descriptors can't be set up");
        dprintf(report_fd, "%s", err.text);
        _exit(1);
    }
    close_range(STDERR_FILENO + 1, ~0u, 0);
    execvpe(program, argv, env);
    dprintf(STDERR_FILENO, "%s", strerror(errno));
    _exit(STATUS_NO_PROGRAM);
}

/* The error text of a daemon that failed, in one line, without its own "muxd: ". */
static char *last_words(int report_fd)
{
    char text[768];
    ssize_t len = pread(report_fd, text, sizeof text - 1, 0);
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
        len--;
    text[len > 0 ? len : 0] = 0;
    for (char *at = text; *at; at++)
        if (*at == '\n')
            *at = ' ';
    return xstrdup(strncmp(text, "muxd: ", 6) == 0 ? text + 6 : text);
}

/* A daemon that neither listens nor exits must not hold up every ue that waits for the lock: it is
 * ended, and its error text is reported. */
static void end_when_stuck(pid_t pid)
{
    struct pollfd fd = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    int ready = -1;
    while (fd.fd >= 0 && (ready = poll(&fd, 1, STUCK_MS)) < 0 && errno == EINTR)
        ready = -1;
    if (ready == 0)
        kill(pid, SIGTERM);
    fd_close(&fd.fd);
}

static int launch_wait_for(pid_t pid)
{
    int status;
    end_when_stuck(pid);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return STATUS_NO_PROGRAM;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct launch {
    const char *program;
    char *const *argv, *const *env;
    int out_fd, report_fd; /* out_fd: what it prints; -1: nowhere */
};

/* What became of it: its exit status, or -errno when it could not be forked. */
static int launch_child(const struct launch *launch)
{
    pid_t pid = fork();
    if (pid == 0)
        become(launch->program, launch->argv, launch->env, launch->out_fd, launch->report_fd);
    return pid < 0 ? -errno : launch_wait_for(pid);
}

/* A process in between is muxd's parent and tells its status through a pipe: the program that we
 * are in may ignore SIGCHLD, or wait for all of its children. */
static int launch_by_another(const struct launch *launch)
{
    int ends[2], status = -EAGAIN;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    pid_t between = fork();
    if (between == 0) {
        forget_signals();
        status = launch_child(launch);
        _exit(fd_write_all(ends[1], &status, sizeof status) < 0 ? 1 : 0);
    }
    status = between < 0 ? -errno : status;
    close(ends[1]);
    if (between > 0 && fd_read_all(ends[0], &status, sizeof status) != (ssize_t)sizeof status)
        status = STATUS_NO_WORD;
    close(ends[0]);
    while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static int launch_judge(int status, const char *program, int report_fd, struct err *err)
{
    if (status == 0 || status == STATUS_ANOTHER_WON)
        return 0;
    char *words = last_words(report_fd);
    struct limit_text limit;
    bool was_ended = status == STATUS_NO_PROGRAM || (!*words && status > 128);
    if (was_ended && limit_explain(LIMIT_MEMORY, ENOMEM, &limit))
        err_set(err, ERR_NO_DAEMON, "'%s': can't be started: %s; the limit of %s is too low: %s",
                program, *words ? words : strerror(ENOMEM), limit.limit, limit.raise);
    else if (status == STATUS_NO_PROGRAM)
        err_set(err, ERR_NO_DAEMON, "'%s': can't be started: %s; install it beside ue or in $PATH",
                program, words);
    else if (*words)
        err_set(err, ERR_NO_DAEMON, "'%s': %s", program, words);
    else
        err_set(err, ERR_NO_DAEMON,
                "'%s': left with status %d before it listened; its log may say why", program,
                status);
    free(words);
    return ERR_NO_DAEMON;
}

static void add_config(struct strv *argv, const struct connection *conn)
{
    const char *config = conn->config ? conn->config : getenv("MUXD_CONFIG");
    /* an absolute $MUXD_CONFIG reaches the daemon in its environment */
    if (!config || !*config || (!conn->config && config[0] == '/'))
        return;
    strv_add(argv, "-f");
    strv_add_owned(argv, launch_absolute(config));
}

/* Runs `muxd OPTION` to its end, or until it has gone to the background. out_fd: what it prints;
 * -1: nowhere. */
static int launch_run(const struct connection *conn, const char *option, int out_fd,
                      struct err *err)
{
    struct strv argv = {0};
    char *found = conn->program ? NULL : neighbour();
    const char *program = conn->program ? conn->program : found ? found : "muxd";
    char **env = launch_environment(conn->path);
    strv_add(&argv, program);
    strv_add(&argv, option);
    strv_add(&argv, "-S");
    strv_add(&argv, conn->path);
    add_config(&argv, conn);
    /* a memfd, as we would wait at a pipe for as long as the daemon keeps its end */
    int result, report_fd = memfd_create("muxd-start", MFD_CLOEXEC);
    int status = report_fd < 0 ? -errno
                               : launch_by_another(
                                     &(struct launch){program, argv.items, env, out_fd, report_fd});
    if (status < 0)
        result = limit_err(err, ERR_NO_DAEMON, LIMIT_PROGRAM, -status, "'%s': can't be started",
                           program);
    else
        result = launch_judge(status, program, report_fd, err);
    fd_close(&report_fd);
    strv_free(env);
    strv_fini(&argv);
    free(found);
    return result;
}

int launch_daemon(const struct connection *conn, struct err *err)
{
    BUG_UNLESS(conn->path && conn->fd < 0 && conn->may_start);
    return launch_run(conn, "-d", -1, err);
}

int launch_ask(const struct connection *conn, const char *option, struct buf *out, struct err *err)
{
    int fd = memfd_create("muxd-says", MFD_CLOEXEC);
    int result = fd < 0 ? err_set(err, ERR_SYSTEM, "no memory for an answer: %s", strerror(errno))
                        : launch_run(conn, option, fd, err);
    off_t size = result == 0 ? lseek(fd, 0, SEEK_END) : 0;
    char *room = size > 0 ? buf_reserve(out, (size_t)size) : NULL;
    ssize_t got = room ? pread(fd, room, (size_t)size, 0) : 0;
    if (got > 0)
        buf_commit(out, (size_t)got);
    fd_close(&fd);
    return result;
}
