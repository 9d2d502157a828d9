/* main.c: owns the command line of muxd-confine, which only the daemon writes: "muxd-confine
 * VERSION OPTION... -- COMMAND...", the options being those of confine_words.h. It does what they
 * say and becomes the command; a step that fails ends it before anything has run. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "confine/confine_words.h"
#include "confine/helper/helper.h"

enum { STATUS_REFUSED = 126, STATUS_NOT_FOUND = 127 };

struct order {
    bool inside, outside, landlock;
    const char *filter;
    char *writable[CONFINE_WRITE_MAX];
    size_t nwritable;
    int opened;
    char **command;
};

static void helper_say(const char *what, const char *subject, int error)
{
    const char *why = strerror(error);
    struct iovec parts[] = {{(void *)(uintptr_t)"muxd-confine: ", 14},
                            {(void *)(uintptr_t)what, strlen(what)},
                            {(void *)(uintptr_t)" '", 2},
                            {(void *)(uintptr_t)subject, strlen(subject)},
                            {(void *)(uintptr_t)"': ", 3},
                            {(void *)(uintptr_t)why, strlen(why)},
                            {(void *)(uintptr_t)"\n", 1}};
    ssize_t said = writev(STDERR_FILENO, parts, sizeof parts / sizeof *parts);
    (void)said; /* there is nobody else to tell */
}

void helper_fail(const char *what, const char *subject, int error)
{
    helper_say(what, subject, error);
    holds_end();
    _exit(STATUS_REFUSED);
}

/* A link in the way would lead somewhere else than what was looked at. */
static void open_at(const char *dir, int number)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY, .resolve = RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, dir, &how, sizeof how);
    if (fd < 0)
        helper_fail("can't open the writable directory", dir, errno);
    if (fd != number && (dup2(fd, number) != number || close(fd) != 0))
        helper_fail("can't open the writable directory", dir, errno);
}

static bool take_flag(struct order *order, const char *word)
{
    order->inside |= strcmp(word, CONFINE_INSIDE) == 0;
    order->outside |= strcmp(word, CONFINE_OUTSIDE) == 0;
    order->landlock |= strcmp(word, CONFINE_LANDLOCK) == 0;
    return strcmp(word, CONFINE_INSIDE) == 0 || strcmp(word, CONFINE_OUTSIDE) == 0 ||
           strcmp(word, CONFINE_LANDLOCK) == 0;
}

static void helper_take_value(struct order *order, const char *option, char *value)
{
    if (!value)
        helper_fail("has no value:", option, EINVAL);
    if (strcmp(option, CONFINE_FILTER) == 0)
        order->filter = value;
    else if (strcmp(option, CONFINE_MAKE) == 0)
        holds_add(value);
    else if (strcmp(option, CONFINE_OPEN) == 0 && order->opened < CONFINE_OPEN_MAX)
        open_at(value, CONFINE_OPEN_FD + order->opened++);
    else if (strcmp(option, CONFINE_WRITE) == 0 && order->nwritable < CONFINE_WRITE_MAX)
        order->writable[order->nwritable++] = value;
    else
        helper_fail("is no option:", option, EINVAL);
}

static void read_order(struct order *order, char **argv)
{
    for (; *argv && strcmp(*argv, "--") != 0; argv++)
        if (!take_flag(order, *argv)) {
            helper_take_value(order, argv[0], argv[1]);
            argv++;
        }
    order->command = *argv ? argv + 1 : argv;
    if (!*order->command)
        helper_fail("is followed by no command:", "--", EINVAL);
}

/* What a terminal or a kill sends is for the command. If bubblewrap, which is in its group, died of
 * it, the command would lose its session. */
static const int for_command[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN,
                                  SIGTTOU, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE, SIGVTALRM};

static void set_signals(void (*how)(int))
{
    struct sigaction action = {.sa_handler = how};
    for (size_t i = 0; i < sizeof for_command / sizeof *for_command; i++)
        sigaction(for_command[i], &action, NULL);
}

/* A script without #! is the shell's, as for the keeper; not every libc's execvp knows that. The
 * words of our own that stand in front of the command are not needed any more. */
static void become_script(char **command)
{
    static char shell[] = "sh", option[] = "-c", script[] = "exec \"$0\" \"$@\"";
    command[-3] = shell;
    command[-2] = option;
    command[-1] = script;
    execv("/bin/sh", command - 3);
}

static void __attribute__((__noreturn__)) helper_become(char **command)
{
    execvp(command[0], command);
    if (errno == ENOEXEC)
        become_script(command);
    helper_say("can't execute", command[0], errno);
    _exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_REFUSED);
}

/* Stays behind to remove what was made. The command's end is passed on. */
static void __attribute__((__noreturn__)) supervise(char **command, int opened)
{
    int status;
    pid_t pid = fork();
    if (pid < 0)
        helper_fail("can't make a process for", command[0], errno);
    if (pid == 0)
        helper_become(command);
    for (int fd = 0; fd < 3; fd++) /* or their readers would wait for our end, too */
        close(fd);
    for (int fd = CONFINE_FILTER_FD; fd < CONFINE_OPEN_FD + opened; fd++)
        close(fd);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            _exit(STATUS_REFUSED);
    holds_end();
    _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
    struct order order = {0};
    if (argc < 3 || strcmp(argv[1], CONFINE_VERSION) != 0)
        helper_fail("muxd is of another version than", "muxd-confine", EPROTO);
    if (strcmp(argv[2], CONFINE_CHECK) == 0)
        _exit(0); /* a sanitizer's look for leaks at the end would trace, which is refused here */
    read_order(&order, argv + 2);
    if (order.inside) {
        set_signals(SIG_DFL);
        gate_close_from(STDERR_FILENO + 1);
        if (order.nwritable > 0)
            gate_landlock_writing(order.writable, order.nwritable);
        helper_become(order.command);
    }
    if (order.outside) {
        set_signals(SIG_IGN);
        if (order.filter)
            gate_filter_at(order.filter, CONFINE_FILTER_FD);
        if (holds_any())
            supervise(order.command, order.opened);
        helper_become(order.command);
    }
    if (!order.landlock || !order.filter)
        helper_fail("confines nothing:", "muxd-confine", EINVAL);
    gate_no_new_privileges();
    gate_drop_capabilities();
    gate_landlock(order.writable, order.nwritable);
    gate_filter(order.filter);
    helper_become(order.command);
}
