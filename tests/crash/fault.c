/* fault: owns the failing of system calls in one process, as an LD_PRELOAD library. The test maps the same file as this does and says
 * there which process, which calls, the how manieth of them, and with which error. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum call { OPEN, SOCKET, SOCKETPAIR, ACCEPT, PIPE, MEMFD, MMAP, FORK, EPOLL_CTL, WRITE, SENDMSG, INOTIFY, SPLICE, FTRUNCATE, DUP };

enum whom { BY_PID, WORKERS, KEEPERS };

static struct control { /* as test_crash_faults.py packs it */
    _Atomic int32_t pid, whom, mask, error;
    _Atomic int32_t countdown; /* 1: the next call fails */
    _Atomic int32_t hits, seen, always; /* always: not one call but each */
} *control;
static int is_worker;

static void __attribute__((constructor)) begin(void)
{
    const char *path = getenv("MUXD_FAULT");
    char text[4096];
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *at = (void *)syscall(SYS_mmap, NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    if (at == MAP_FAILED || n <= 0)
        return;
    text[n] = '\0';
    const char *name = strrchr(text, '/');
    if (strcmp(name ? name + 1 : text, "muxd") != 0)
        return; /* a session's program */
    is_worker = memmem(text, (size_t)n, "--worker", 8) != NULL;
    control = at;
}

static int fails(enum call call)
{
    if (!control || !(control->mask & 1 << call))
        return 0;
    if (control->whom == BY_PID ? control->pid != (int32_t)getpid() : (control->whom == WORKERS) != is_worker)
        return 0;
    atomic_fetch_add(&control->seen, 1);
    if (!control->always && atomic_fetch_sub(&control->countdown, 1) != 1)
        return 0;
    atomic_fetch_add(&control->hits, 1);
    errno = control->error;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPENS(name) \
    int name(const char *path, int flags, ...) \
    { \
        va_list args; \
        va_start(args, flags); \
        mode_t mode = va_arg(args, mode_t); \
        va_end(args); \
        return fails(OPEN) ? -1 : REAL(name)(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)

int socket(int domain, int type, int protocol)
{
    return fails(SOCKET) ? -1 : REAL(socket)(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
    return fails(SOCKETPAIR) ? -1 : REAL(socketpair)(domain, type, protocol, fds);
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    return fails(ACCEPT) ? -1 : REAL(accept4)(fd, address, size, flags);
}

int pipe2(int fds[2], int flags)
{
    return fails(PIPE) ? -1 : REAL(pipe2)(fds, flags);
}

int memfd_create(const char *name, unsigned flags)
{
    return fails(MEMFD) ? -1 : REAL(memfd_create)(name, flags);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails(MMAP) ? MAP_FAILED : REAL(mmap)(at, size, protection, flags, fd, offset);
}

pid_t fork(void)
{
    return fails(FORK) ? -1 : REAL(fork)();
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    return op != EPOLL_CTL_DEL && fails(EPOLL_CTL) ? -1 : REAL(epoll_ctl)(epoll, op, fd, event);
}

ssize_t write(int fd, const void *data, size_t size)
{
    return fails(WRITE) ? -1 : REAL(write)(fd, data, size);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return fails(SENDMSG) ? -1 : REAL(sendmsg)(fd, message, flags);
}

int inotify_init1(int flags)
{
    return fails(INOTIFY) ? -1 : REAL(inotify_init1)(flags);
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    return fails(INOTIFY) ? -1 : REAL(inotify_add_watch)(fd, path, mask);
}

ssize_t splice(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags)
{
    return fails(SPLICE) ? -1 : REAL(splice)(in, from, out, to, size, flags);
}

int ftruncate(int fd, off_t size)
{
    return fails(FTRUNCATE) ? -1 : REAL(ftruncate)(fd, size);
}

#define FCNTLS(name) \
    int name(int fd, int command, ...) \
    { \
        va_list args; \
        va_start(args, command); \
        void *arg = va_arg(args, void *); \
        va_end(args); \
        return (command == F_DUPFD || command == F_DUPFD_CLOEXEC) && fails(DUP) ? -1 : REAL(name)(fd, command, arg); \
    }
FCNTLS(fcntl)
FCNTLS(fcntl64)
