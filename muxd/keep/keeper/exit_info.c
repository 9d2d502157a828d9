/* exit_info.c: owns the two places where the kernel keeps the exit status of a process that is not
 * our child: the pidfd once it was reaped, and /proc/PID/stat while it is a zombie. */
#include "keep/keeper/exit_info.h"
#include "base/bug.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define STAT_EXIT_CODE 52 /* field of proc_pid_stat(5) */

/* linux/pidfd.h of 6.15; older headers don't have it, older kernels answer ENOTTY or leave the
 * mask's bit off. */
struct info_of_pidfd {
    uint64_t mask, cgroupid;
    uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    int32_t exit_code;
};
#define INFO_EXIT (1u << 3)
#define GET_INFO _IOWR(0xFF, 11, struct info_of_pidfd)

static void from_wait_status(int status, int how[2])
{
    if (WIFEXITED(status)) {
        how[0] = CLD_EXITED;
        how[1] = WEXITSTATUS(status);
    } else if (WIFSIGNALED(status)) {
        how[0] = WCOREDUMP(status) ? CLD_DUMPED : CLD_KILLED;
        how[1] = WTERMSIG(status);
    }
}

/* While it is a zombie a signal does nothing, or fails with EPERM; afterwards it fails with
 * ESRCH. */
static bool is_reaped(int pidfd)
{
    return pidfd_send_signal(pidfd, 0, NULL, 0) != 0 && errno == ESRCH;
}

/* -1: there is no zombie, or we may not see it. is_reaped, called last, proves that the pid still
 * was that process's. */
static int zombie_status(pid_t pid, int pidfd)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0 || pidfd < 0 || is_reaped(pidfd))
        return -1;
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* the name may hold anything */
    if (!at || strlen(at) < 3 || (at[2] != 'Z' && at[2] != 'X'))
        return -1;
    for (int field = 2; field < STAT_EXIT_CODE && at; field++)
        at = strchr(at + 1, ' ');
    return at ? (int)strtol(at + 1, NULL, 10) : -1;
}

void exit_info(pid_t pid, int pidfd, int how[2])
{
    BUG_UNLESS(pid > 0);
    how[0] = how[1] = 0;
    int status = zombie_status(pid, pidfd);
    if (status >= 0) {
        from_wait_status(status, how);
        return;
    }
    struct info_of_pidfd info = {.mask = INFO_EXIT};
    if (pidfd >= 0 && ioctl(pidfd, GET_INFO, &info) == 0 && (info.mask & INFO_EXIT))
        from_wait_status(info.exit_code, how);
}
