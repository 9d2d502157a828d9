/* filter.c: owns the list of refused system calls. All else is allowed: files and processes are the
 * business of mounts, name spaces and Landlock. A program of another architecture (32 bits), whose
 * calls have other numbers, is ended. */
#include "confine/filter.h"
#include "base/fdio.h"
#include "base/mem.h"
#include <errno.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "confine/confine_words.h"

#define LOW 0xffffffffu /* the kernel looks at these bits of an int */
#define IS(arg, value) ((struct scmp_arg_cmp){arg, SCMP_CMP_MASKED_EQ, LOW, value})
#define HAS(arg, bit) ((struct scmp_arg_cmp){arg, SCMP_CMP_MASKED_EQ, bit, bit})
#define NOT(arg, value) ((struct scmp_arg_cmp){arg, SCMP_CMP_NE, value, 0})

/* Reaching into other processes, asking the kernel behind the filter's back, and what would undo
 * the confinement. */
static const char *const always[] = {
    "ptrace",          "process_vm_readv",  "process_vm_writev", "pidfd_getfd",
    "process_madvise", "kcmp",              "io_uring_setup",    "io_uring_enter",
    "io_uring_register", "keyctl",          "add_key",           "request_key",
    "mount",           "umount2",           "pivot_root",        "move_mount",
    "open_tree",       "open_tree_attr",    "fsopen",            "fsconfig",
    "fsmount",         "fspick",            "mount_setattr",     "setns",
    "chroot",          "bpf",               "perf_event_open",   "userfaultfd",
    "open_by_handle_at", "kexec_load",      "kexec_file_load",   "init_module",
    "finit_module",    "delete_module",     "swapon",            "swapoff",
    "reboot",          "acct",              "quotactl",          "lookup_dcookie",
};

/* Landlock knows the contents of files, not what is written about them. */
static const char *const about_files[] = {
    "chmod",     "fchmod",    "fchmodat",     "fchmodat2",   "chown",        "fchown",
    "lchown",    "fchownat",  "utime",        "utimes",      "utimensat",    "futimesat",
    "setxattr",  "lsetxattr", "fsetxattr",    "setxattrat",  "removexattr",  "lremovexattr",
    "fremovexattr", "removexattrat", "file_setattr",
};

/* What other processes can be reached by, where they share the name space with this one. */
static const char *const shared[] = {
    "shmget", "shmat",  "shmctl", "shmdt",      "msgget",  "msgsnd",    "msgrcv",
    "msgctl", "semget", "semop",  "semtimedop", "semctl",  "mq_open",   "mq_unlink",
};
/* The process is their first argument; 0 is the caller. */
static const char *const about_process[] = {"sched_setaffinity", "sched_setscheduler",
                                            "sched_setparam", "sched_setattr"};

/* Newer than some libseccomp; the numbers are the same on all architectures. */
static int filter_number_of(const char *name)
{
    static const struct { const char *name; int number; } young[] = {
        {"fchmodat2", 452}, {"setxattrat", 463}, {"removexattrat", 466}, {"open_tree_attr", 467},
        {"file_setattr", 469}, {"mount_setattr", 442}};
    int number = seccomp_syscall_resolve_name(name);
    for (size_t i = 0; number == __NR_SCMP_ERROR && i < sizeof young / sizeof *young; i++)
        if (strcmp(young[i].name, name) == 0)
            return young[i].number;
    return number;
}

/* The first failure is kept. */
static void refuse_all(scmp_filter_ctx ctx, const char *const *names, size_t count, int error,
                       int *result)
{
    for (size_t i = 0; i < count && *result == 0; i++) {
        int number = filter_number_of(names[i]);
        if (number >= 0) /* else this architecture has no such call */
            *result = seccomp_rule_add(ctx, SCMP_ACT_ERRNO((unsigned)error), number, 0);
    }
}

static void refuse_when(scmp_filter_ctx ctx, int number, struct scmp_arg_cmp when, int *result)
{
    if (*result == 0 && number >= 0)
        *result = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), number, 1, when);
}

static void refuse_ioctl(scmp_filter_ctx ctx, unsigned request, int *result)
{
    refuse_when(ctx, SCMP_SYS(ioctl), IS(1, request), result);
}

static void refuse_namespaces(scmp_filter_ctx ctx, int *result)
{
    refuse_when(ctx, SCMP_SYS(unshare), HAS(0, CLONE_NEWUSER), result);
    refuse_when(ctx, SCMP_SYS(clone), HAS(0, CLONE_NEWUSER), result);
    /* its flags lie in memory, which a filter can't read; libc goes back to clone */
    if (*result == 0)
        *result = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/* The mark by which muxd knows its programs (sys/mark.h) stays as it is. */
static void refuse_unmarking(scmp_filter_ctx ctx, int *result)
{
    refuse_when(ctx, SCMP_SYS(setrlimit), IS(0, RLIMIT_LOCKS), result);
    if (*result == 0)
        *result = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 2,
                                   IS(1, RLIMIT_LOCKS), NOT(2, 0));
}

/* A process may say what is to be done with itself, as builds do. */
static void refuse_others(scmp_filter_ctx ctx, int *result)
{
    enum { USER = 2, IO_USER = 3 }; /* all processes of a user: PRIO_USER, IOPRIO_WHO_USER */
    for (size_t i = 0; i < sizeof about_process / sizeof *about_process; i++)
        refuse_when(ctx, filter_number_of(about_process[i]), NOT(0, 0), result);
    refuse_when(ctx, SCMP_SYS(setpriority), NOT(1, 0), result);
    refuse_when(ctx, SCMP_SYS(setpriority), IS(0, USER), result);
    refuse_when(ctx, SCMP_SYS(ioprio_set), NOT(1, 0), result);
    refuse_when(ctx, SCMP_SYS(ioprio_set), IS(0, IO_USER), result);
    if (*result == 0)
        *result = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 2, NOT(0, 0),
                                   NOT(2, 0));
}

/* A datagram needs no connect: its address may lie in memory, which a filter can't read. */
static void refuse_datagrams(scmp_filter_ctx ctx, int *result)
{
    const struct scmp_arg_cmp datagram = {1, SCMP_CMP_MASKED_EQ, 0xe, SOCK_DGRAM}; /* and raw */
    refuse_when(ctx, SCMP_SYS(socket), datagram, result);
    refuse_when(ctx, SCMP_SYS(socketpair), datagram, result);
}

/* A pair of connected sockets, or one that is never connected, reaches nobody. Where a path may
 * lead to a service outside (no mount hides any), there are only pairs. */
static void refuse_network(scmp_filter_ctx ctx, bool landlock, int *result)
{
    static const char *const reaching[] = {"connect"};
    refuse_when(ctx, SCMP_SYS(socket), NOT(0, AF_UNIX), result);
    refuse_when(ctx, SCMP_SYS(socketpair), NOT(0, AF_UNIX), result);
    refuse_datagrams(ctx, result);
    if (landlock)
        refuse_when(ctx, SCMP_SYS(socket), IS(0, AF_UNIX), result);
    refuse_all(ctx, reaching, 1, EPERM, result);
    refuse_when(ctx, SCMP_SYS(sendto), NOT(4, 0), result);
}

static void refuse_beyond_landlock(scmp_filter_ctx ctx, int *result)
{
    const struct scmp_arg_cmp of_btrfs = {1, SCMP_CMP_MASKED_EQ, 0xff00, 0x9400};
    refuse_all(ctx, about_files, sizeof about_files / sizeof *about_files, EROFS, result);
    refuse_all(ctx, shared, sizeof shared / sizeof *shared, EPERM, result);
    refuse_others(ctx, result);
    refuse_ioctl(ctx, FS_IOC_SETFLAGS, result);
    refuse_ioctl(ctx, FS_IOC_FSSETXATTR, result);
    refuse_ioctl(ctx, FS_IOC_ENABLE_VERITY, result);
    refuse_when(ctx, SCMP_SYS(ioctl), of_btrfs, result); /* subvolumes, clones of extents */
}

static int filter_fill(scmp_filter_ctx ctx, struct filter_how how)
{
    int result = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (result == 0)
        result = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0);
    if (result == 0) /* a tree: fewer steps for each call */
        result = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    refuse_all(ctx, always, sizeof always / sizeof *always, EPERM, &result);
    refuse_ioctl(ctx, TIOCSTI, &result);
    refuse_ioctl(ctx, TIOCLINUX, &result);
    refuse_namespaces(ctx, &result);
    refuse_unmarking(ctx, &result);
    if (how.landlock)
        refuse_beyond_landlock(ctx, &result);
    if (!how.network)
        refuse_network(ctx, how.landlock, &result);
    return result;
}

static char *hex_of(int fd)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[CONFINE_FILTER_MAX];
    ssize_t size = fd_pread_all(fd, bytes, sizeof bytes, 0);
    if (size <= 0 || size == (ssize_t)sizeof bytes)
        return NULL;
    char *hex = xmalloc(2 * (size_t)size + 1);
    for (ssize_t i = 0; i < size; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[2 * size] = '\0';
    return hex;
}

static char *make_hex(struct filter_how how, struct err *err)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
    int fd = memfd_create("muxd-filter", MFD_CLOEXEC);
    int result = !ctx ? -ENOMEM : fd < 0 ? -errno : filter_fill(ctx, how);
    if (result == 0)
        result = seccomp_export_bpf(ctx, fd);
    char *hex = result == 0 ? hex_of(fd) : NULL;
    if (!hex)
        err_set(err, ERR_SYSTEM, "the filter of system calls can't be made: %s; try again",
                strerror(result ? -result : EOVERFLOW));
    fd_close(&fd);
    seccomp_release(ctx);
    return hex;
}

const char *filter_hex(struct filter_how how, struct err *err)
{
    static char *made[4]; /* a few kilobytes, kept for the life of the process */
    char **slot = &made[(how.network ? 1 : 0) + (how.landlock ? 2 : 0)];
    if (!*slot)
        *slot = make_hex(how, err);
    return *slot;
}
