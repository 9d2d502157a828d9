/* start.c: owns the search for muxd-keeper beside muxd, and how muxd becomes it. */
#include "keep/start.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "keep/keep.h"
#include "keep/own_args.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* If our program has been replaced, the kernel marks its old name. */
static bool start_find_own(char path[PATH_MAX])
{
    static const char mark[] = " (deleted)";
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    if (n <= 0)
        return false;
    char *end = path + n - (sizeof mark - 1);
    if (end > path && strcmp(end, mark) == 0)
        *end = '\0';
    return true;
}

/* path without its last part, in place. */
static void cut(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
}

int start_find(struct start_programs *programs, struct err *err)
{
    char dir[PATH_MAX], beside[PATH_MAX];
    *programs->keeper = '\0';
    if (!start_find_own(programs->muxd))
        return err_set(
            err, ERR_SYSTEM,
            "can't find muxd-keeper: /proc/self/exe does not tell where muxd lies: %s; mount /proc",
            strerror(errno));
    snprintf(dir, sizeof dir, "%s", programs->muxd);
    cut(dir);
    int size = snprintf(beside, sizeof beside, "%s/muxd-keeper", dir);
    cut(dir);
    if (size < PATH_MAX && access(beside, X_OK) == 0) {
        memcpy(programs->keeper, beside, sizeof beside);
        return 0;
    }
    size = snprintf(programs->keeper, sizeof programs->keeper, "%s/libexec/muxd/muxd-keeper", dir);
    if (size < PATH_MAX && access(programs->keeper, X_OK) == 0)
        return 0;
    return err_set(err, ERR_SYSTEM,
                   "muxd-keeper is neither at '%s' nor at '%s'; install muxd again (make install)",
                   beside, programs->keeper);
}

void start_argv(char *argv[START_ARGS + 2], struct start_programs *programs, char *const args[])
{
    size_t n = 0;
    argv[n++] = programs->keeper;
    argv[n++] = programs->muxd;
    for (; *args; args++) {
        BUG_UNLESS(n < START_ARGS + 1);
        argv[n++] = *args;
    }
    argv[n] = NULL;
}

int start_keeper(struct start_programs *programs, int ready_fd, char *const args[], struct err *err)
{
    char option[] = "--start", value[64], *own[START_ARGS + 2], *argv[OWN_ARGS_MAX];
    int exe = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    BUG_UNLESS(*programs->keeper && *programs->muxd);
    if (exe < 0)
        return limit_err(err, ERR_SYSTEM, LIMIT_PROGRAM, errno, "can't open our own program");
    fd_set_cloexec(exe, false);
    if (ready_fd >= 0)
        fd_set_cloexec(ready_fd, false);
    snprintf(value, sizeof value, "%s:%d:%d", keep_protocol_word, ready_fd, exe);
    start_argv(own, programs, args);
    own_args(argv, own, option, value);
    execv(programs->keeper, argv);
    int error = errno;
    fd_close(&exe);
    return err_set(err, ERR_SYSTEM,
                   "'%s': can't be executed: %s; install muxd again (make install)",
                   programs->keeper, strerror(error));
}
