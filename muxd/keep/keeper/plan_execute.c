/* plan_execute.c: owns the forked child's way to exec. Runs between fork and exec: system calls and
 * its own stack only, no allocation, no locks, no stdio. The first failing step ends it with {step,
 * errno} on the status pipe. */
#include "keep/plan.h"
#include "keep/plan_layout.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_FREE_FD 10 /* above the numbers that dup2 writes to below */
#define STATUS_FD 3

static void __attribute__((__noreturn__)) plan_execute_fail(int status_fd, int step, int error)
{
    int words[2] = {step, error};
    ssize_t n;
    do
        n = write(status_fd, words, sizeof words);
    while (n < 0 && errno == EINTR);
    _exit(127);
}

static bool string_ok(const struct plan_head *head, uint64_t offset)
{
    return offset >= sizeof *head && offset < head->size; /* the file's last byte is NUL */
}

/* Turns offsets into pointers, in place: the mapping is private. */
static char **vector(struct plan_head *head, uint64_t at, uint64_t n)
{
    char *base = (char *)head;
    if (at % sizeof(uint64_t) != 0 || at < sizeof *head || at > head->size ||
        n > PLAN_STRINGS_MAX || (n + 1) * sizeof(uint64_t) > head->size - at)
        return NULL;
    _Static_assert(sizeof(char *) <= sizeof(uint64_t), "a pointer fits into its slot");
    uint64_t *offsets = (uint64_t *)(void *)(base + at);
    char **pointers = (char **)(void *)offsets;
    /* a pointer is no wider than an offset, so it overwrites only what was read */
    for (uint64_t i = 0; i < n; i++) {
        if (!string_ok(head, offsets[i]))
            return NULL;
        pointers[i] = base + offsets[i];
    }
    pointers[n] = NULL;
    return pointers;
}

/* NULL with *error. The size is checked before the last byte is read. */
static struct plan_head *map_plan(int plan_fd, int *error)
{
    off_t size = lseek(plan_fd, 0, SEEK_END);
    *error = EINVAL;
    if (size < (off_t)sizeof(struct plan_head) + 1 || size > 4 * PLAN_BYTES_MAX)
        return NULL;
    struct plan_head *head = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_POPULATE, plan_fd, 0);
    if (head == MAP_FAILED) {
        *error = errno;
        return NULL;
    }
    bool ok = head->magic == PLAN_MAGIC && head->version == PLAN_VERSION &&
              head->size == (uint64_t)size && ((char *)head)[head->size - 1] == '\0' &&
              head->nlimits <= PLAN_LIMITS_MAX && head->argc > 0 &&
              head->argv >= sizeof *head + PLAN_ARGV_ROOM * sizeof(uint64_t) &&
              string_ok(head, head->program) && (head->cwd == 0 || string_ok(head, head->cwd));
    return ok ? head : NULL;
}

/* Closes everything above the status pipe now, not at exec: while chdir hangs in a dead file
 * system, other sessions' pipes must not stay open. */
static void close_above(int last_kept)
{
    if (close_range((unsigned)last_kept + 1, UINT_MAX, 0) == 0)
        return;
    struct rlimit limit; /* kernels before 5.9, and valgrind */
    int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1048576
                  ? (int)limit.rlim_cur
                  : 1048576;
    for (int fd = last_kept + 1; fd < end; fd++)
        close(fd);
}

/* Puts stdio on 0, 1, 2 and the status pipe on 3, whatever numbers they have now. Returns 0 or an
 * errno. */
static int set_stdio(const int stdio[3], int *status_fd)
{
    int high[4] = {stdio[0], stdio[1], stdio[2], *status_fd};
    for (int i = 0; i < 4; i++) {
        if (high[i] >= FIRST_FREE_FD)
            continue;
        high[i] = fcntl(high[i], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (high[i] < 0)
            return errno;
    }
    if (dup3(high[3], STATUS_FD, O_CLOEXEC) < 0)
        return errno;
    *status_fd = STATUS_FD;
    for (int i = 0; i < 3; i++)
        if (dup2(high[i], i) < 0)
            return errno;
    close_above(STATUS_FD);
    return 0;
}

/* Only root may go over the user's own limit; others get that one. */
static bool set_lower(const struct plan_limit_row *row)
{
    struct rlimit limit;
    if (errno != EPERM || getrlimit((__rlimit_resource_t)row->resource, &limit) != 0)
        return false;
    limit.rlim_max = limit.rlim_max < row->hard ? limit.rlim_max : row->hard;
    limit.rlim_cur = limit.rlim_max < row->soft ? limit.rlim_max : row->soft;
    return setrlimit((__rlimit_resource_t)row->resource, &limit) == 0;
}

static int set_limits(const struct plan_head *head)
{
    struct rlimit limit;
    if (head->nofile_soft > 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = head->nofile_soft < limit.rlim_max ? head->nofile_soft : limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            return errno;
    }
    for (uint64_t i = 0; i < head->nlimits; i++) {
        const struct plan_limit_row *row = &head->limits[i];
        limit = (struct rlimit){.rlim_cur = row->soft, .rlim_max = row->hard};
        if (setrlimit((__rlimit_resource_t)row->resource, &limit) != 0 && !set_lower(row))
            return errno;
    }
    return 0;
}

/* One try. A script without #! is run by the shell, as execvp(3) and every shell do. */
static void try_exec(char *path, char **argv, char **env)
{
    execve(path, argv, env);
    if (errno != ENOEXEC)
        return;
    char **shell = argv - 1; /* PLAN_ARGV_ROOM */
    char *saved[2] = {shell[0], shell[1]};
    static char sh[] = "/bin/sh";
    shell[0] = sh;
    shell[1] = path;
    execve(sh, shell, env);
    shell[0] = saved[0];
    shell[1] = saved[1];
    errno = ENOEXEC;
}

static const char *path_of(char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return "/usr/local/bin:/bin:/usr/bin";
}

/* Returns the errno that says most: EACCES of a file that was found rather than ENOENT of all
 * others. Not inlined: most programs do without its buffer, a page of the stack. */
static int __attribute__((__noinline__))
plan_execute_search_path(char *program, char **argv, char **env)
{
    char full[PATH_MAX];
    size_t name = strlen(program);
    int answer = ENOENT;
    for (const char *dir = path_of(env); dir; dir = *dir ? dir + 1 : NULL) {
        size_t length = strcspn(dir, ":");
        if (length + name + 2 <= sizeof full) {
            memcpy(full, dir, length);
            size_t at = length;
            if (length > 0)
                full[at++] = '/';
            memcpy(full + at, program, name + 1);
            try_exec(full, argv, env);
            if (errno == EACCES)
                answer = EACCES;
            else if (errno != ENOENT && errno != ENOTDIR)
                return errno;
        }
        dir += length;
    }
    return answer;
}

static int plan_execute_execute(char *program, char **argv, char **env)
{
    if (*program == '\0')
        return ENOENT;
    for (const char *at = program; *at; at++) /* strchr would need another page of libc */
        if (*at == '/') {
            try_exec(program, argv, env);
            return errno;
        }
    return plan_execute_search_path(program, argv, env);
}

/* Only the keeper has the other end of the pipe. */
static bool keeper_is_dead(int status_fd)
{
    struct pollfd reader = {.fd = status_fd};
    return poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR);
}

void plan_execute(int plan_fd, const int stdio[3], int status_fd)
{
    int error;
    struct plan_head *head = map_plan(plan_fd, &error);
    if (!head)
        plan_execute_fail(status_fd, PLAN_READ, error);
    char **argv = vector(head, head->argv, head->argc);
    char **env = vector(head, head->env, head->envc);
    if (!argv || !env)
        plan_execute_fail(status_fd, PLAN_READ, EINVAL);
    if (setsid() < 0)
        plan_execute_fail(status_fd, PLAN_SETSID, errno);
    error = set_stdio(stdio, &status_fd);
    if (error != 0)
        plan_execute_fail(status_fd, PLAN_STDIO, error);
    if (head->tty && ioctl(0, TIOCSCTTY, 0) != 0)
        plan_execute_fail(status_fd, PLAN_TTY, errno);
    error = set_limits(head);
    if (error != 0)
        plan_execute_fail(status_fd, PLAN_LIMITS, error);
    umask((mode_t)head->umask & 0777);
    if (head->cwd != 0 && chdir((char *)head + head->cwd) != 0)
        plan_execute_fail(status_fd, PLAN_CHDIR, errno);
    if (keeper_is_dead(status_fd)) /* no worker would ever learn of this program */
        _exit(1);
    error = plan_execute_execute((char *)head + head->program, argv, env);
    plan_execute_fail(status_fd, PLAN_EXEC, error);
}
