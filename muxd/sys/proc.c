/* proc: owns the files of /proc that it keeps open; all other descriptors last for one call. */
#include "sys/proc.h"
#include "base/bug.h"
#include "base/fdio.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1u << 2) /* Linux 6.9 */
#endif

#define PIDS_MAX 4194304 /* PID_MAX_LIMIT of Linux */
#define STAT_FIELDS 19 /* of /proc/PID/stat, from ppid, the fourth, to starttime */

static _Thread_local bool blind;

int proc_open(const char *path, int flags)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    blind |= fd < 0 && (errno == EMFILE || errno == ENFILE);
    return fd;
}

bool proc_was_blind(void)
{
    bool was = blind;
    blind = false;
    return was;
}

/* Reads a small file whole. Bytes, or -1 with errno. The text is NUL-terminated. */
static ssize_t proc_read_file(const char *path, char *text, size_t size)
{
    int fd = proc_open(path, O_NOCTTY);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, text, size - 1);
    int saved = errno;
    close(fd);
    errno = saved;
    if (got >= 0)
        text[got] = '\0';
    return got;
}

/* proc_pid_stat(5): "pid (comm) state ppid pgrp session tty_nr tpgid ...": the name may hold blanks
 * and parentheses. */
bool proc_stat_parse(const char *text, struct proc_stat *out)
{
    const char *open_at = strchr(text, '('), *close_at = strrchr(text, ')'), *at;
    int64_t fields[STAT_FIELDS] = {0};

    if (!open_at || !close_at || close_at < open_at)
        return false;
    memset(out, 0, sizeof *out);
    out->pid = (pid_t)strtol(text, NULL, 10);
    size_t length = (size_t)(close_at - open_at) - 1;
    memcpy(out->comm, open_at + 1, length < sizeof out->comm ? length : sizeof out->comm - 1);
    out->state = close_at[1] ? close_at[2] : '\0';
    at = out->state ? close_at + 3 : "";
    /* without sscanf, which is slow: this runs at each start of a program */
    for (int i = 0; i < STAT_FIELDS; i++) {
        char *end;
        /* the cast makes the one negative number, tpgid, right */
        fields[i] = (int64_t)strtoull(at, &end, 10);
        if (end == at)
            return false;
        at = end;
    }
    out->ppid = (pid_t)fields[0];
    out->pgrp = (pid_t)fields[1];
    out->session = (pid_t)fields[2];
    out->tty_nr = (int)fields[3];
    out->tpgid = (pid_t)fields[4];
    out->threads = (int)fields[16];
    out->start_ticks = (uint64_t)fields[18];
    return true;
}

bool proc_stat(pid_t pid, struct proc_stat *out)
{
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return proc_read_file(path, text, sizeof text) > 0 && proc_stat_parse(text, out);
}

/* Fields 14 to 17 of stat in ticks, and of statm resident and shared in pages
 * (proc_pid_statm(5)). */
bool proc_usage(pid_t pid, struct proc_usage *out)
{
    char path[48], text[1024];
    unsigned long long ticks[4], resident, shared;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const char *rest = proc_read_file(path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
    if (!rest ||
        sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
               &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 4)
        return false;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    if (proc_read_file(path, text, sizeof text) <= 0 ||
        sscanf(text, "%*u %llu %llu", &resident, &shared) != 2)
        return false;
    out->cpu_ms = (ticks[0] + ticks[1] + ticks[2] + ticks[3]) * 1000 /
                  (unsigned long)sysconf(_SC_CLK_TCK);
    out->memory_bytes = (resident > shared ? resident - shared : 0) *
                        (unsigned long)sysconf(_SC_PAGESIZE);
    return true;
}

/* Calls fn for every entry of the directory that is a number. False: it can't be opened. */
static bool each_number(const char *path, bool (*fn)(void *arg, pid_t pid), void *arg)
{
    int fd = proc_open(path, O_DIRECTORY);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    if (!dir) {
        fd_close(&fd);
        return false;
    }
    while ((entry = readdir(dir)))
        if (isdigit((unsigned char)entry->d_name[0]) &&
            !fn(arg, (pid_t)strtol(entry->d_name, NULL, 10)))
            break;
    closedir(dir);
    return true;
}

bool proc_each_pid(bool (*fn)(void *arg, pid_t pid), void *arg)
{
    return each_number("/proc", fn, arg);
}

bool proc_shows_all(void)
{
    char text[24];
    ssize_t size = readlink("/proc/self", text, sizeof text - 1);
    text[size > 0 ? size : 0] = '\0';
    return strtol(text, NULL, 10) == getpid() && access("/proc/1", F_OK) == 0;
}

pid_t proc_max_pid(void)
{
    char text[24];
    long most = proc_read_file("/proc/sys/kernel/pid_max", text, sizeof text) > 0
                    ? strtol(text, NULL, 10)
                    : 0;
    return most > 0 && most <= PIDS_MAX ? (pid_t)most : PIDS_MAX;
}

struct each_child {
    pid_t pid;
    bool (*fn)(void *arg, pid_t pid);
    void *arg;
    bool going, known;
};

/* Calls each->fn for the children of one thread. */
static bool each_child_of(void *arg, pid_t thread)
{
    struct each_child *each = arg;
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)each->pid, (int)thread);
    int fd = proc_open(path, 0);
    if (fd < 0)
        return true;
    pid_t number = 0;
    ssize_t got = 0;
    while (each->going && (got = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; each->going && i < got; i++) {
            if (isdigit((unsigned char)text[i])) {
                number = number * 10 + (text[i] - '0');
            } else if (number > 0) {
                each->going = each->fn(each->arg, number);
                number = 0;
            }
        }
    each->known |= !each->going || got == 0;
    close(fd);
    return each->going;
}

bool proc_children(pid_t pid, bool (*fn)(void *arg, pid_t pid), void *arg)
{
    struct each_child each = {.pid = pid, .fn = fn, .arg = arg, .going = true};
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    each_number(path, each_child_of, &each);
    return each.known;
}

/* NSpid of proc_pid_status(5): its number in our namespace, …, in its own; 33 at the most. */
bool proc_begins_namespace(pid_t pid)
{
    char path[32], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    char *at = proc_read_file(path, text, sizeof text) > 0 ? strstr(text, "\nNSpid:") : NULL;
    long number = 0;
    int levels = 0;
    if (!at)
        return false;
    for (at += 7; *at == '\t' && levels < 33; levels++)
        number = strtol(at, &at, 10);
    return levels > 1 && number == 1;
}

struct each {
    bool (*fn)(void *arg, const struct proc_stat *stat);
    void *arg;
};

static bool each_stat(void *arg, pid_t pid)
{
    struct each *each = arg;
    struct proc_stat stat;
    return !proc_stat(pid, &stat) || each->fn(each->arg, &stat);
}

void proc_each(bool (*fn)(void *arg, const struct proc_stat *stat), void *arg)
{
    struct each each = {fn, arg};
    proc_each_pid(each_stat, &each);
}

static bool is_thread(pid_t pid)
{
    char path[48], text[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    const char *field = proc_read_file(path, text, sizeof text) > 0 ? strstr(text, "\nTgid:")
                                                                    : NULL;
    return field && strtol(field + 6, NULL, 10) != pid;
}

/* Refuses a file that another file system (lxcfs) puts in the place of the kernel's. */
static int open_proc(const char *path)
{
    struct statfs fs;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
        return fd;
    if (fd >= 0) {
        close(fd);
        errno = ENOENT;
    }
    return -1;
}

/* The first caller, in any thread, leaves the file open in *kept: it is read at each end of a
 * program and each look at a terminal. */
static ssize_t proc_read_again(atomic_int *kept, const char *path, char *text, size_t size)
{
    int fd = atomic_load(kept);
    if (fd < 0) {
        int none = -1;
        fd = open_proc(path);
        if (fd >= 0 && !atomic_compare_exchange_strong(kept, &none, fd)) {
            close(fd);
            fd = none;
        }
    }
    ssize_t got = fd >= 0 ? pread(fd, text, size - 1, 0) : -1;
    text[got > 0 ? got : 0] = '\0';
    return got;
}

pid_t proc_last_pid(void)
{
    static atomic_int of_namespace = -1, of_load = -1;
    static atomic_bool no_namespace; /* a kernel without CONFIG_CHECKPOINT_RESTORE */
    char text[128];
    const char *word = text;
    if (atomic_load(&no_namespace) ||
        proc_read_again(&of_namespace, "/proc/sys/kernel/ns_last_pid", text, sizeof text) <= 0) {
        if (errno == ENOENT || errno == EACCES)
            atomic_store(&no_namespace, true);
        word = proc_read_again(&of_load, "/proc/loadavg", text, sizeof text) > 0
                   ? strrchr(text, ' ')
                   : NULL;
    }
    long last = word ? strtol(word, NULL, 10) : 0;
    return last > 1 && last <= INT_MAX ? (pid_t)last : 0;
}

/* Process 1 is always there (proc(5), hidepid=). */
bool proc_hides_others(void)
{
    struct proc_stat stat;
    return proc_stat(getpid(), &stat) && !proc_stat(1, &stat) &&
           (errno == ENOENT || errno == EACCES || errno == EPERM);
}

bool proc_is_dead(const struct proc_stat *stat)
{
    return stat->state == 'X' || (stat->state == 'Z' && stat->threads <= 1);
}

/* Where no pidfd can be had /proc tells; a process that it can't tell about counts as alive. */
bool proc_lives(pid_t pid)
{
    struct proc_stat stat;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd >= 0) {
        struct pollfd ended = {.fd = fd, .events = POLLIN};
        bool lives = poll(&ended, 1, 0) == 0;
        close(fd);
        return lives;
    }
    if (errno == ESRCH || errno == EINVAL || errno == ENOENT) /* the last two: a thread */
        return false;
    if (!proc_stat(pid, &stat))
        return kill(pid, 0) == 0 || errno == EPERM;
    return !proc_is_dead(&stat) && !is_thread(pid);
}

void proc_command(pid_t pid, char *out, size_t size)
{
    char path[48];
    struct proc_stat stat;
    BUG_UNLESS(size > sizeof stat.comm);
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    ssize_t got = proc_read_file(path, out, size);
    if (got <= 0)
        snprintf(out, size, "%s", proc_stat(pid, &stat) ? stat.comm : "?");
    for (ssize_t i = 0; i < (got > 0 ? got : (ssize_t)strlen(out)); i++)
        out[i] = out[i] == '\0' ? ' ' : out[i] < ' ' || out[i] > '~' ? '?' : out[i];
    for (size_t length = strlen(out); length > 0 && out[length - 1] == ' '; length--)
        out[length - 1] = '\0';
}

/* Where pidfd_open(2) is missing (a strict seccomp filter, valgrind) a descriptor of the process's
 * directory stands in for it: once the process is reaped nothing in that directory can be opened,
 * even when its pid is reused. */
int proc_pidfd(pid_t pid)
{
    char path[48];
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd >= 0 || errno != ENOSYS)
        return fd;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The pid of the process behind the descriptor; 0 with errno ESRCH once it is reaped. */
static pid_t pid_behind(int pidfd)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
    const char *field = proc_read_file(path, text, sizeof text) > 0 ? strstr(text, "\nPid:") : NULL;
    long pid = field ? strtol(field + 5, NULL, 10) : 0;
    if (!field) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", pidfd);
        ssize_t size = readlink(path, text, sizeof text - 1);
        text[size > 0 ? size : 0] = '\0';
        if (strncmp(text, "/proc/", 6) == 0 && faccessat(pidfd, "stat", R_OK, 0) == 0)
            pid = strtol(text + 6, NULL, 10);
    }
    errno = pid > 0 ? errno : ESRCH;
    return pid > 0 ? (pid_t)pid : 0;
}

static int send_signal(int pidfd, int signo, unsigned flags)
{
    BUG_UNLESS(signo >= 0 && signo < NSIG);
    return syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, flags) < 0 ? -errno : 0;
}

int proc_signal(int pidfd, int signo)
{
    int status = send_signal(pidfd, signo, 0);
    pid_t pid = status == -ENOSYS ? pid_behind(pidfd) : 0;
    return pid <= 1 ? status : kill(pid, signo) < 0 ? -errno : 0;
}

int proc_signal_group(int leader_pidfd, pid_t pgrp, int signo)
{
    if (pgrp <= 1)
        return -EINVAL;
    /* Once the process is reaped its pid, and with it the group's number, may be reused. */
    pid_t pid = pid_behind(leader_pidfd);
    if (pid <= 0)
        return -ESRCH;
    if (pid == pgrp) {
        int status = send_signal(leader_pidfd, signo, PIDFD_SIGNAL_PROCESS_GROUP);
        if (status != -EINVAL && status != -ENOSYS) /* older kernels */
            return status;
    }
    return kill(-pgrp, signo) < 0 ? -errno : 0;
}
