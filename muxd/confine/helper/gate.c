/* gate.c: owns what muxd-confine asks of the kernel: Landlock, the filter of system calls,
 * capabilities and descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "confine/confine_words.h"
#include "confine/helper/helper.h"

/* Names that the headers of the build's kernel may lack. */
#define FS_REFER (UINT64_C(1) << 13)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define SCOPE_ABSTRACT_UNIX (UINT64_C(1) << 0)
#define SCOPE_SIGNAL (UINT64_C(1) << 1)
#define FS_MAKE \
    (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | \
     LANDLOCK_ACCESS_FS_MAKE_SYM)
#define FS_WRITE \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | FS_MAKE | FS_REFER | FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset { /* struct landlock_ruleset_attr of ABI 6 */
    uint64_t files, ports, scoped;
};

static int ruleset_new(const struct ruleset *wanted, size_t size)
{
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, wanted, size, 0);
    if (ruleset < 0 && errno != E2BIG)
        helper_fail("can't confine by", "Landlock", errno);
    return ruleset;
}

static void ruleset_enter(int ruleset)
{
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
        helper_fail("can't confine by", "Landlock", errno);
    close(ruleset);
}

static void allow(int ruleset, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access,
                                              .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0)
        return; /* what is not there can't be written */
    if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
        helper_fail("can't allow writing to", path, errno);
    close(rule.parent_fd);
}

/* The command's own terminal, when it opens that by name. */
static void allow_terminals(int ruleset, uint64_t access)
{
    for (int fd = 0; fd < 3; fd++) {
        char link[] = "/proc/self/fd/0";
        link[sizeof link - 2] = (char)('0' + fd);
        if (isatty(fd))
            allow(ruleset, link, access);
    }
}

void gate_landlock(char *const *writable, size_t count)
{
    const uint64_t access = LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
    const struct ruleset wanted = {.files = FS_WRITE, .scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL};
    int ruleset = ruleset_new(&wanted, sizeof wanted);
    if (ruleset < 0)
        helper_fail("is too old to confine:", "Landlock", E2BIG);
    for (size_t i = 0; i < count; i++)
        allow(ruleset, writable[i], access);
    allow_terminals(ruleset, access);
    ruleset_enter(ruleset);
}

void gate_landlock_writing(char *const *places, size_t count)
{
    const struct ruleset wanted = {.files = LANDLOCK_ACCESS_FS_WRITE_FILE | FS_REFER,
                                   .scoped = SCOPE_ABSTRACT_UNIX};
    int ruleset = ruleset_new(&wanted, sizeof wanted);
    if (ruleset < 0) /* before ABI 6 there are files only */
        ruleset = ruleset_new(&wanted, sizeof wanted.files);
    allow(ruleset, "/", FS_REFER); /* a move is the mounts' business */
    for (size_t i = 0; i < count; i++)
        allow(ruleset, places[i], LANDLOCK_ACCESS_FS_WRITE_FILE);
    allow_terminals(ruleset, LANDLOCK_ACCESS_FS_WRITE_FILE);
    ruleset_enter(ruleset);
}

void gate_no_new_privileges(void)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        helper_fail("can't set", "no_new_privs", errno);
}

/* Of root they would be the keys to everything that Landlock does not know. */
void gate_drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM)
            helper_fail("can't drop", "capabilities", errno);
    if (syscall(SYS_capset, &head, none) != 0)
        helper_fail("can't drop", "capabilities", errno);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place of a copy on the heap: a filter has a few hundred instructions. */
static size_t gate_decode(const char *hex, struct sock_filter *out)
{
    size_t size = strlen(hex) / 2;
    unsigned char *bytes = (unsigned char *)out;
    bool fits = size > 0 && size <= CONFINE_FILTER_MAX && size % sizeof *out == 0;
    for (size_t i = 0; fits && i < size; i++) {
        int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
        fits = high >= 0 && low >= 0;
        bytes[i] = (unsigned char)(fits ? high << 4 | low : 0);
    }
    if (!fits)
        helper_fail("is no filter:", hex, EINVAL);
    return size;
}

static struct sock_filter filter[CONFINE_FILTER_MAX / sizeof(struct sock_filter)];

void gate_filter(const char *hex)
{
    size_t size = gate_decode(hex, filter);
    struct sock_fprog program = {.len = (unsigned short)(size / sizeof *filter), .filter = filter};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        helper_fail("can't set", "the filter of system calls", errno);
}

void gate_filter_at(const char *hex, int fd)
{
    size_t size = gate_decode(hex, filter);
    int memory = memfd_create("filter", MFD_CLOEXEC);
    if (memory < 0 || write(memory, filter, size) != (ssize_t)size ||
        lseek(memory, 0, SEEK_SET) != 0 || dup2(memory, fd) != fd)
        helper_fail("can't hand over", "the filter of system calls", errno);
    close(memory);
}

void gate_close_from(int first)
{
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0)
        return;
    for (int fd = first; fd < 4096; fd++)
        close(fd);
}
