/* slow: owns what a loaded machine does to a worker, as an LD_PRELOAD library. The test maps the same file as this does: it holds up the
 * worker's pass over the processes, or its work on a patch, at a place of its choice, has its clock go ahead meanwhile, or
 * ends the worker there. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { OPEN, BEFORE_A_PASS, BEHIND_A_SIGSTOP, BEFORE_A_LOOK, BEFORE_A_RENAME, BEFORE_A_DIRECTORY, BEHIND_AN_ANSWER }; /* as in slow_gates.py */
#define LARGE_ANSWER 16384 /* what is smaller goes out before the gate */

static struct control { /* as test_crash_slow.py packs it */
    _Atomic int32_t gate, waits;
    _Atomic int64_t ahead_s;
} *control;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
static __typeof__(&clock_gettime) real_clock; /* looked up at the start: a child of the keeper is to do system calls only */
static __typeof__(&syscall) real_syscall;

static void __attribute__((constructor)) begin(void)
{
    char text[4096];
    real_clock = NEXT(clock_gettime);
    real_syscall = NEXT(syscall);
    const char *path = getenv("MUXD_SLOW");
    int line = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    ssize_t n = line >= 0 ? read(line, text, sizeof text) : -1;
    void *at = fd >= 0 ? mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(line);
    close(fd);
    if (n > 0 && at != MAP_FAILED && memmem(text, (size_t)n, "--worker", 8))
        control = at;
}

static void hold_at(int gate)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    if (!control || control->gate != gate || gettid() == getpid())
        return;
    control->waits = 1;
    while (control->gate == gate)
        nanosleep(&pause, NULL);
    control->waits = 0;
}

int stat(const char *path, struct stat *out)
{
    hold_at(BEFORE_A_LOOK);
    return NEXT(stat)(path, out);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    hold_at(BEFORE_A_RENAME);
    return NEXT(renameat)(from_dir, from, to_dir, to);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    hold_at(BEFORE_A_RENAME);
    return NEXT(renameat2)(from_dir, from, to_dir, to, flags);
}

DIR *opendir(const char *path)
{
    hold_at(BEFORE_A_DIRECTORY);
    return NEXT(opendir)(path);
}

DIR *fdopendir(int fd)
{
    hold_at(BEFORE_A_PASS);
    return NEXT(fdopendir)(fd);
}

/* BEHIND_AN_ANSWER: it dies when all of a large answer is on its way, before it has noted that. */
ssize_t send(int fd, const void *data, size_t size, int flags)
{
    ssize_t sent = NEXT(send)(fd, data, size, flags);
    if (control && control->gate == BEHIND_AN_ANSWER && sent >= LARGE_ANSWER && (size_t)sent == size) {
        control->gate = OPEN;
        kill(getpid(), SIGKILL);
    }
    return sent;
}

long syscall(long number, ...)
{
    va_list args;
    long arg[6];
    va_start(args, number);
    for (int i = 0; i < 6; i++) /* as libc does: what was not given is not looked at */
        arg[i] = va_arg(args, long);
    va_end(args);
    long result = (real_syscall ? real_syscall : NEXT(syscall))(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
    if (number == SYS_pidfd_send_signal && arg[1] == SIGSTOP)
        hold_at(BEHIND_A_SIGSTOP);
    return result;
}

int kill(pid_t pid, int signo)
{
    int result = NEXT(kill)(pid, signo);
    if (signo == SIGSTOP)
        hold_at(BEHIND_A_SIGSTOP);
    return result;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    int result = real_clock ? real_clock(id, now) : NEXT(clock_gettime)(id, now);
    if (control && id == CLOCK_MONOTONIC)
        now->tv_sec += control->ahead_s;
    return result;
}
