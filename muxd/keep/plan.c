/* plan.c: owns the shape of a plan as its writer sees it: checks it against the kernel's caps and
 * lays it out in a sealed memfd. */
#include "keep/plan.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/mem.h"
#include "keep/plan_layout.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct totals {
    size_t argc, envc, bytes;
};

/* One string may have MAX_ARG_STRLEN bytes (execve(2)). execve checks their sum, too; ours is a cap
 * on memory. */
static int count_strings(char *const *strings, const char *what, size_t *count, size_t *bytes,
                         struct err *err)
{
    for (size_t i = 0; strings && strings[i]; i++) {
        size_t size = strlen(strings[i]) + 1;
        if (size > PLAN_STRING_MAX)
            return err_set(err, ERR_TOO_LARGE,
                           "%s %zu has %zu bytes and the kernel takes %d; pass it in a file or "
                           "through standard input",
                           what, i, size - 1, PLAN_STRING_MAX - 1);
        *bytes += size;
        *count = i + 1;
        if (*bytes > PLAN_BYTES_MAX || *count > PLAN_STRINGS_MAX)
            return err_set(
                err, ERR_TOO_LARGE,
                "command and environment have more than %d bytes or %d strings; make them shorter",
                PLAN_BYTES_MAX, PLAN_STRINGS_MAX);
    }
    return 0;
}

static int plan_count(const struct plan *plan, struct totals *totals, struct err *err)
{
    *totals = (struct totals){0};
    int code = count_strings(plan->argv, "argument", &totals->argc, &totals->bytes, err);
    if (code == 0)
        code = count_strings(plan->env, "environment entry", &totals->envc, &totals->bytes, err);
    if (code != 0)
        return code;
    if (totals->argc == 0)
        return err_set(err, ERR_ARGUMENTS,
                       "the command is empty; give at least the program's name");
    const char *singles[] = {plan->program, plan->cwd};
    for (size_t i = 0; i < 2; i++) {
        size_t size = singles[i] ? strlen(singles[i]) + 1 : 0;
        if (size > PLAN_STRING_MAX)
            return err_set(err, ERR_TOO_LARGE,
                           "the path of program or directory has %zu bytes; the kernel takes 4095",
                           size - 1);
        totals->bytes += size;
    }
    if (plan->nlimits > PLAN_LIMITS_MAX)
        return err_set(err, ERR_TOO_LARGE, "%zu resource limits, at most %d", plan->nlimits,
                       PLAN_LIMITS_MAX);
    return 0;
}

static uint64_t put_string(char *base, size_t *at, const char *text)
{
    if (!text)
        return 0;
    size_t size = strlen(text) + 1;
    memcpy(base + *at, text, size);
    *at += size;
    return *at - size;
}

static void put_vector(char *base, uint64_t vector, char *const *strings, size_t n, size_t *at)
{
    uint64_t *slots = (uint64_t *)(void *)(base + vector);
    for (size_t i = 0; i < n; i++)
        slots[i] = put_string(base, at, strings[i]);
    slots[n] = 0;
}

static char *lay_out(const struct plan *plan, const struct totals *totals, size_t *size)
{
    size_t vectors = (PLAN_ARGV_ROOM + totals->argc + 1 + totals->envc + 1) * sizeof(uint64_t);
    /* one byte more: the last one is always NUL */
    *size = sizeof(struct plan_head) + vectors + totals->bytes + 1;
    char *base = xcalloc(1, *size);
    struct plan_head *head = (struct plan_head *)(void *)base;
    *head = (struct plan_head){.magic = PLAN_MAGIC,
                               .version = PLAN_VERSION,
                               .size = *size,
                               .tty = plan->tty,
                               .umask = plan->umask,
                               .nofile_soft = plan->nofile_soft,
                               .argc = totals->argc,
                               .envc = totals->envc,
                               .nlimits = plan->nlimits};
    head->argv = sizeof *head + PLAN_ARGV_ROOM * sizeof(uint64_t);
    head->env = head->argv + (totals->argc + 1) * sizeof(uint64_t);
    size_t at = head->env + (totals->envc + 1) * sizeof(uint64_t);
    put_vector(base, head->argv, plan->argv, totals->argc, &at);
    put_vector(base, head->env, plan->env, totals->envc, &at);
    head->program = put_string(base, &at, plan->program ? plan->program : plan->argv[0]);
    head->cwd = put_string(base, &at, plan->cwd);
    for (size_t i = 0; i < plan->nlimits; i++)
        head->limits[i] = (struct plan_limit_row){plan->limits[i].resource, plan->limits[i].soft,
                                                  plan->limits[i].hard};
    BUG_UNLESS(at + 1 <= *size);
    return base;
}

int plan_write(const struct plan *plan, int *memfd, struct err *err)
{
    struct totals totals;
    BUG_UNLESS(plan->argv && (!plan->cwd || plan->cwd[0] == '/'));
    int code = plan_count(plan, &totals, err);
    if (code != 0)
        return code;
    if (!plan->program)
        totals.bytes += strlen(plan->argv[0]) + 1;
    size_t size;
    char *base = lay_out(plan, &totals, &size);
    int fd = memfd_create("muxd-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || fd_write_all(fd, base, size) != (ssize_t)size ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
        code = limit_err(err, ERR_SYSTEM, LIMIT_SESSION, errno,
                         "no memory file for the plan of '%s'", plan->argv[0]);
        fd_close(&fd);
    }
    mem_wipe(base, size); /* an environment often holds secrets */
    free(base);
    *memfd = fd;
    return code;
}

const char *plan_step_text(int step)
{
    static const char *const texts[] = {[PLAN_OK] = "start",
                                        [PLAN_READ] = "read the plan",
                                        [PLAN_FORK] = "make a process",
                                        [PLAN_SETSID] = "begin a session",
                                        [PLAN_TTY] = "take the terminal",
                                        [PLAN_STDIO] = "set up standard input and output",
                                        [PLAN_LIMITS] = "set the resource limits",
                                        [PLAN_CHDIR] = "change to the directory",
                                        [PLAN_EXEC] = "execute the program",
                                        [PLAN_HAND_OVER] = "hand it to the keeper"};
    return step >= 0 && step < (int)(sizeof texts / sizeof *texts) ? texts[step]
                                                                   : "do an unknown step";
}
