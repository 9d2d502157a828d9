/* tty_thread: owns two descriptors of /proc files for each thread and the decoding of the files. */
#include "sys/tty_thread.h"
#include "base/fdio.h"
#include "sys/proc.h"
#include "sys/tty_wait.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tty_thread_init(struct tty_thread *thread, pid_t pid, pid_t tid)
{
    *thread = (struct tty_thread){.pid = pid, .tid = tid, .where_fd = -1, .sched_fd = -1};
}

void tty_thread_close(struct tty_thread *thread)
{
    fd_close(&thread->where_fd);
    fd_close(&thread->sched_fd);
}

bool tty_thread_is_open(const struct tty_thread *thread)
{
    return thread->where_fd >= 0 || thread->sched_fd >= 0;
}

static int tty_thread_open_file(const struct tty_thread *thread, const char *name)
{
    char path[80];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)thread->pid, (int)thread->tid, name);
    return proc_open(path, 0);
}

static ssize_t tty_thread_read_again(int fd, char *text, size_t size)
{
    ssize_t got = pread(fd, text, size - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    return got;
}

/* The fields of schedstat: time on a processor, time in the queue, number of runs
 * (sched-stats.rst of the kernel). Kernels without it: the context switches in status count the
 * same. */
bool tty_thread_count_runs(struct tty_thread *thread)
{
    char text[4096];
    unsigned long long waits = 0, switches = 0, cpu_ns = 0;

    if (thread->sched_fd < 0)
        thread->sched_fd = tty_thread_open_file(thread, "schedstat");
    if (thread->sched_fd < 0)
        thread->sched_fd = tty_thread_open_file(thread, "status");
    if (thread->sched_fd < 0 || tty_thread_read_again(thread->sched_fd, text, sizeof text) <= 0)
        return false;
    const char *field = strstr(text, "\nvoluntary_ctxt_switches:");
    if (field) {
        if (sscanf(field, "\nvoluntary_ctxt_switches: %llu\nnonvoluntary_ctxt_switches: %llu",
                   &waits, &switches) < 1)
            return false;
        thread->runs = waits + switches;
        return true;
    }
    if (sscanf(text, "%llu %*u %llu", &cpu_ns, &switches) != 2)
        return false;
    thread->runs = switches;
    thread->cpu_ns = cpu_ns;
    return true;
}

/* syscall needs permission to trace, which Yama and set-id programs deny; wchan needs only
 * permission to read. */
static bool read_where(struct tty_thread *thread)
{
    if (thread->where_fd < 0) {
        thread->by_wchan = false;
        thread->where_fd = tty_thread_open_file(thread, "syscall");
    }
    if (thread->where_fd >= 0 && !thread->by_wchan &&
        tty_thread_read_again(thread->where_fd, thread->where, sizeof thread->where) > 0)
        return true;
    if (!thread->by_wchan) {
        if (errno == ESRCH)
            return false;
        fd_close(&thread->where_fd);
        thread->by_wchan = true;
        thread->where_fd = tty_thread_open_file(thread, "wchan");
    }
    return thread->where_fd >= 0 &&
           tty_thread_read_again(thread->where_fd, thread->where, sizeof thread->where) > 0;
}

struct tty_limit tty_thread_limit(const struct tty_thread *thread)
{
    if (thread->where_fd < 0 || thread->by_wchan)
        return (struct tty_limit){TTY_CALL_OTHER, TTY_LIMIT_UNKNOWN};
    return tty_limit_of(thread->tid, thread->where);
}

/* FNV-1a, draft-eastlake-fnv, a word at a time */
static uint64_t hash_with(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x100000001b3);
}

/* A hash of these fields of proc_pid_syscall(5): the call's number, its first three arguments (the
 * others may be left over from something else), the stack pointer and the program counter; and of a
 * near time limit, because an event loop waits for a timer where it waits for input. */
uint64_t tty_thread_place(const struct tty_thread *thread)
{
    unsigned long long field[9];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    if (thread->where_fd < 0 || thread->by_wchan ||
        sscanf(thread->where, "%llu %llx %llx %llx %llx %llx %llx %llx %llx", &field[0], &field[1],
               &field[2], &field[3], &field[4], &field[5], &field[6], &field[7], &field[8]) != 9)
        return 0;
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        if (i < 4 || i > 6)
            hash = hash_with(hash, field[i]);
    int64_t limit_ns = tty_thread_limit(thread).ns;
    if (tty_limit_is_soon(limit_ns))
        hash = hash_with(hash, (uint64_t)limit_ns);
    return hash ? hash : 1;
}

char tty_thread_state(const struct tty_thread *thread)
{
    char text[1024];
    struct proc_stat stat;
    int fd = tty_thread_open_file(thread, "stat");
    if (fd < 0)
        return 0;
    bool known = tty_thread_read_again(fd, text, sizeof text) > 0 && proc_stat_parse(text, &stat);
    fd_close(&fd);
    return known ? stat.state : 0;
}

/* Whether the process has open sources other than this terminal: wchan shows the same name for a
 * read of a socket, of another terminal and of this one. */
static bool has_other_sources(const struct tty_thread *thread, dev_t slave)
{
    char path[48];
    bool other = false;
    struct dirent *entry;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)thread->pid);
    DIR *dir = opendir(path);
    if (!dir)
        return true;
    for (int left = 512; !other && (entry = readdir(dir)); left--)
        if (isdigit((unsigned char)entry->d_name[0])) {
            enum tty_wait_source source = tty_wait_source(
                thread->tid, (int)strtol(entry->d_name, NULL, 10), slave);
            other = source >= TTY_SOURCE_OTHER || left == 0;
        }
    closedir(dir);
    return other;
}

/* Used where the kernel tells only the state. */
static enum tty_sleep by_state(char state)
{
    if (state == 0 || state == 'Z' || state == 'X')
        return TTY_SLEEP_GONE;
    return state == 'S' ? TTY_SLEEP_HIDDEN : TTY_SLEEP_RUNNING;
}

static enum tty_sleep by_wchan(const struct tty_thread *thread, dev_t slave)
{
    enum tty_wait_place place = tty_wait_place(thread->where);
    if (place == TTY_PLACE_NONE)
        return by_state(tty_thread_state(thread));
    /* the descriptors that it polls are hidden */
    if (place == TTY_PLACE_POLL)
        return has_other_sources(thread, slave) ? TTY_SLEEP_REMOTE : TTY_SLEEP_MIXED;
    if (place == TTY_PLACE_READ)
        return has_other_sources(thread, slave) ? TTY_SLEEP_HIDDEN : TTY_SLEEP_ONLY;
    return TTY_SLEEP_ELSEWHERE;
}

void tty_thread_look(struct tty_thread *thread, dev_t slave)
{
    if (!tty_thread_count_runs(thread)) {
        thread->sleep = TTY_SLEEP_GONE;
        return;
    }
    if (!read_where(thread)) {
        char state = tty_thread_state(thread);
        thread->sleep = by_state(state);
        snprintf(thread->where, sizeof thread->where, "%c", state ? state : '-');
        return;
    }
    thread->sleep = thread->by_wchan ? by_wchan(thread, slave)
                                     : tty_wait_decode(thread->tid, thread->where, slave);
}

bool tty_thread_unchanged(struct tty_thread *thread)
{
    char before[sizeof thread->where];
    uint64_t runs = thread->runs;

    if (thread->where_fd < 0) /* hidden: only the count of runs can tell */
        return tty_thread_count_runs(thread) && thread->runs == runs;
    memcpy(before, thread->where, sizeof before);
    return read_where(thread) && strcmp(before, thread->where) == 0 &&
           tty_thread_count_runs(thread) && thread->runs == runs;
}
