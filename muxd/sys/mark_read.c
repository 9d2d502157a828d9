/* mark_read.c: owns how the limits of another process are read. */
#include "sys/mark_read.h"
#include "base/fdio.h"
#include "sys/proc.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const __rlimit_resource_t mark_resources[MARK_LIMITS] = {RLIMIT_LOCKS, RLIMIT_RSS};
static const char *const rows[MARK_LIMITS] = {"Max file locks", "Max resident set"};

/* proc_pid_limits(5): "Max file locks             SOFT                 HARD                 locks",
 * or "unlimited". */
static bool mark_read_row(const char *text, const char *row, struct rlimit *out)
{
    const char *at = strstr(text, row);
    char *end;
    if (!at)
        return false;
    *out = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    rlim_t *limits[] = {&out->rlim_cur, &out->rlim_max};
    at += strlen(row);
    for (int i = 0; i < 2; i++) {
        at += strspn(at, " ");
        rlim_t value = strtoull(at, &end, 10);
        if (end != at)
            *limits[i] = value;
        at += strcspn(at, " ");
    }
    return true;
}

static bool mark_read_file(pid_t pid, struct rlimit out[MARK_LIMITS])
{
    char path[48], text[2048];
    snprintf(path, sizeof path, "/proc/%d/limits", (int)pid);
    int fd = proc_open(path, 0);
    ssize_t size = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    fd_close(&fd);
    text[size > 0 ? size : 0] = '\0';
    for (int i = 0; i < MARK_LIMITS; i++)
        if (!mark_read_row(text, rows[i], &out[i]))
            return false;
    return true;
}

/* Any user can read a process's limits in a file. Its own user can also ask by prlimit(2), which
 * costs a tenth of that and works where /proc hides the process. */
bool mark_read(pid_t pid, bool others, bool *is_other, struct rlimit out[MARK_LIMITS])
{
    int i = 0;
    if (pid <= 0)
        return false;
    while (i < MARK_LIMITS && prlimit(pid, mark_resources[i], NULL, &out[i]) == 0)
        i++;
    if (i == MARK_LIMITS)
        return true;
    *is_other = errno == EPERM;
    return *is_other && others && mark_read_file(pid, out);
}
