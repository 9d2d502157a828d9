/* fault: owns the failing of system calls in one process, as an LD_PRELOAD library. The test maps the same file as this does and says
 * there which process, which calls, the how manieth of them, and with which error. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum call { /* in the order of CALLS in faults.py; those that end in a name of their own stand for a family */
    OPEN, SOCKET, SOCKETPAIR, ACCEPT, PIPE, MEMFD, MMAP, FORK, EPOLL_CTL, WRITE, SENDMSG, INOTIFY, SPLICE, FTRUNCATE, DUP, RECVMSG, READ,
    ALLOC, PIDFD, OPENPT, EVENTS, FSYNC, RENAME, MKDIR, FALLOCATE, THREAD, CUT, IOCTL
};

void *__libc_malloc(size_t size); /* of glibc; no header has them */
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

enum whom { BY_PID, WORKERS, KEEPERS };

static struct control { /* as faults.py packs it */
    _Atomic int32_t pid, whom, unused, error;
    _Atomic int32_t countdown; /* 1: the next call fails */
    _Atomic int32_t hits, seen, always; /* always: not one call but each */
    _Atomic uint64_t mask;
} *control;
static int is_worker;

/* Looked up at the start: a child of the keeper is to do nothing but system calls before its exec. */
#define REALS(X) \
    X(accept4) X(dup2) X(dup3) X(epoll_create1) X(epoll_ctl) X(eventfd) X(fallocate) X(fcntl) X(fcntl64) X(fopen) X(fork) \
    X(fsync) X(ftruncate) X(inotify_add_watch) X(inotify_init1) X(ioctl) X(linkat) X(memfd_create) X(mkdir) X(mkdirat) \
    X(mmap) X(open) X(open64) X(openat) X(openat64) X(opendir) X(pidfd_open) X(pipe2) X(posix_openpt) X(pread) \
    X(pthread_create) X(pwrite) X(read) X(recvmsg) X(renameat) X(renameat2) X(send) X(sendmsg) X(signalfd) X(socket) \
    X(socketpair) X(splice) X(syscall) X(write)
#define MEMBER(name) __typeof__(&name) name;
static struct { REALS(MEMBER) } real;
#define LOOK_UP(name) real.name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);
#define REAL(name) (real.name ? real.name : (__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void __attribute__((constructor)) begin(void)
{
    REALS(LOOK_UP)
    const char *path = getenv("MUXD_FAULT");
    char text[4096];
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *at = (void *)syscall(SYS_mmap, NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
    syscall(SYS_close, fd);
    fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    if (at == MAP_FAILED || n <= 0)
        return;
    text[n] = '\0';
    const char *slash = strrchr(text, '/'), *name = slash ? slash + 1 : text;
    if (strcmp(name, "muxd") != 0 && strcmp(name, "muxd-keeper") != 0)
        return; /* a session's program */
    is_worker = memmem(text, (size_t)n, "--worker", 8) != NULL;
    control = at;
}

static int fails(enum call call)
{
    if (!control || !(control->mask & UINT64_C(1) << call))
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

#define OPENATS(name) \
    int name(int dir, const char *path, int flags, ...) \
    { \
        va_list args; \
        va_start(args, flags); \
        mode_t mode = va_arg(args, mode_t); \
        va_end(args); \
        return fails(OPEN) ? -1 : REAL(name)(dir, path, flags, mode); \
    }
OPENATS(openat)
OPENATS(openat64)

FILE *fopen(const char *path, const char *mode)
{
    return fails(OPEN) ? NULL : REAL(fopen)(path, mode);
}

DIR *opendir(const char *path)
{
    return fails(OPEN) ? NULL : REAL(opendir)(path);
}

/* No dlsym here: it allocates itself. */
void *malloc(size_t size)
{
    return fails(ALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(ALLOC) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(ALLOC) ? NULL : __libc_realloc(old, size);
}

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

long syscall(long number, ...) /* the keeper forks by it (keep/lean_fork.c) */
{
    va_list args;
    long arg[6];
    va_start(args, number);
    for (int i = 0; i < 6; i++) /* as libc does: what was not given is not looked at */
        arg[i] = va_arg(args, long);
    va_end(args);
    return number == SYS_clone3 && fails(FORK) ? -1 : REAL(syscall)(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
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

int dup2(int from, int to)
{
    return fails(DUP) ? -1 : REAL(dup2)(from, to);
}

int dup3(int from, int to, int flags)
{
    return fails(DUP) ? -1 : REAL(dup3)(from, to, flags);
}

/* CUT: the message comes, but the kernel finds no room for its descriptors, as with EMFILE (unix(7)). */
ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    if (fails(RECVMSG))
        return -1;
    size_t room = message->msg_controllen;
    ssize_t n = REAL(recvmsg)(fd, message, flags);
    struct cmsghdr *head = n > 0 && room > 0 ? CMSG_FIRSTHDR(message) : NULL;
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS || !fails(CUT))
        return n;
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= head->cmsg_len; at += sizeof(int)) {
        int came;
        memcpy(&came, (char *)head + at, sizeof came);
        close(came);
    }
    message->msg_controllen = 0;
    message->msg_flags |= MSG_CTRUNC;
    return n;
}

ssize_t read(int fd, void *data, size_t size)
{
    return fails(READ) ? -1 : REAL(read)(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    return fails(READ) ? -1 : REAL(pread)(fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return fails(WRITE) ? -1 : REAL(pwrite)(fd, data, size, at);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
    return fails(SENDMSG) ? -1 : REAL(send)(fd, data, size, flags);
}

int pidfd_open(pid_t pid, unsigned flags)
{
    return fails(PIDFD) ? -1 : REAL(pidfd_open)(pid, flags);
}

int posix_openpt(int flags)
{
    return fails(OPENPT) ? -1 : REAL(posix_openpt)(flags);
}

int epoll_create1(int flags)
{
    return fails(EVENTS) ? -1 : REAL(epoll_create1)(flags);
}

int eventfd(unsigned value, int flags)
{
    return fails(EVENTS) ? -1 : REAL(eventfd)(value, flags);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
    return fails(EVENTS) ? -1 : REAL(signalfd)(fd, mask, flags);
}

int fsync(int fd)
{
    return fails(FSYNC) ? -1 : REAL(fsync)(fd);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    return fails(RENAME) ? -1 : REAL(renameat)(from_dir, from, to_dir, to);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    return fails(RENAME) ? -1 : REAL(renameat2)(from_dir, from, to_dir, to, flags);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    return fails(RENAME) ? -1 : REAL(linkat)(from_dir, from, to_dir, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
    return fails(MKDIR) ? -1 : REAL(mkdir)(path, mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    return fails(MKDIR) ? -1 : REAL(mkdirat)(dir, path, mode);
}

int fallocate(int fd, int mode, off_t at, off_t size)
{
    return fails(FALLOCATE) ? -1 : REAL(fallocate)(fd, mode, at, size);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *), void *arg)
{
    return fails(THREAD) ? control->error : REAL(pthread_create)(thread, attributes, fn, arg);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *arg = va_arg(args, void *);
    va_end(args);
    return fails(IOCTL) ? -1 : REAL(ioctl)(fd, request, arg);
}
