/* start.c: owns the search for muxd-keeper beside muxd, and how muxd becomes it. */
#include "keep/start.h"
#include "base/beside.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "keep/keep.h"
#include "keep/own_args.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The place of muxd, for those of our processes that were not started by it. A variable passes
 * through a launcher, and a release that does not know it is not disturbed. */
#define PLACE "MUXD_PROGRAM"

static char told[PATH_MAX]; /* to this process; "": not */

void start_told(const char *argv0)
{
    const char *place = getenv(PLACE);
    if (!place)
        place = argv0;
    snprintf(told, sizeof told, "%s", place && *place == '/' ? place : "");
    unsetenv(PLACE);
}

void start_tell(const char *muxd)
{
    setenv(PLACE, muxd, 1);
}

/* The place of muxd without its last parts. */
static int start_dir(const struct start_programs *programs, int parts)
{
    size_t length = strlen(programs->muxd);
    for (; parts > 0; parts--)
        while (length > 0 && programs->muxd[--length] != '/')
            ;
    return (int)length;
}

static int start_not_found(struct start_programs *programs, struct err *err)
{
    snprintf(programs->keeper, sizeof programs->keeper, "%.*s/libexec/muxd/muxd-keeper",
             start_dir(programs, 2), programs->muxd);
    return err_set(err, ERR_SYSTEM,
                   "muxd-keeper is neither at '%.*s/muxd-keeper' nor at '%s'; install muxd again "
                   "(make install)",
                   start_dir(programs, 1), programs->muxd, programs->keeper);
}

int start_find(struct start_programs *programs, struct err *err)
{
    *programs->keeper = '\0';
    if (*told)
        memcpy(programs->muxd, told, sizeof told);
    else if (!beside_own(programs->muxd))
        return err_set(
            err, ERR_SYSTEM,
            "can't find muxd-keeper: /proc/self/exe does not tell where muxd lies: %s; mount /proc",
            strerror(errno));
    if (beside_find(programs->muxd, keep_program_places, programs->keeper))
        return 0;
    return start_not_found(programs, err);
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
    start_tell(programs->muxd);
    execv(programs->keeper, argv);
    int error = errno;
    fd_close(&exe);
    return err_set(err, ERR_SYSTEM,
                   "'%s': can't be executed: %s; install muxd again (make install)",
                   programs->keeper, strerror(error));
}
