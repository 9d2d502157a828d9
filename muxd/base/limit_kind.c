/* limit_kind.c: owns the table of the kernel's limits and the ways to read them. Used only after
 * the kernel has refused something. */
#include "base/limit_kind.h"
#include "base/bug.h"
#include "base/fdio.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define INHERITED "raise it before muxd starts: "
#define INSTANCES "/proc/sys/fs/inotify/max_user_instances"
#define INSTANCES_HERE "/proc/sys/user/max_inotify_instances"
#define YAMA "/proc/sys/kernel/yama/ptrace_scope"
#define LEAST 128 /* the value advised for a limit of 0 */
#define ROOT "/sys/fs/cgroup"
/* Twice what a worker's deepest calls take, and room for its environment. */
#define STACK_NEEDED (256 << 10)

static const struct {
    const char *noun, *name; /* "descriptors", "RLIMIT_NOFILE" */
    const char *file;        /* holds its value; NULL: it is a resource (getrlimit(2)) */
    __rlimit_resource_t resource;
    const char *raise;       /* how to raise it; NULL: sysctl(8) sets the name */
    int times;               /* the advised value is the present one times this */
} rows[LIMIT_KINDS] = {
    [LIMIT_KIND_FILES] = {"descriptors", "RLIMIT_NOFILE", .resource = RLIMIT_NOFILE,
                          .raise = INHERITED
                          "ulimit -n, nofile in limits.conf(5) or LimitNOFILE= of its unit"},
    [LIMIT_KIND_ALL_FILES] = {"descriptors of the machine", "fs.file-max", "/proc/sys/fs/file-max",
                              .times = 2},
    [LIMIT_KIND_PASSED] = {"descriptors under way between processes of this user",
                           "RLIMIT_NOFILE", .resource = RLIMIT_NOFILE,
                           .raise = "end what sends them and does not receive them, or " INHERITED
                                    "ulimit -n, nofile in limits.conf(5) or LimitNOFILE= of its "
                                    "unit"},
    [LIMIT_KIND_PROCESSES] = {"processes", "RLIMIT_NPROC", .resource = RLIMIT_NPROC,
                              .raise =
                                  "end some, or " INHERITED
                                  "ulimit -u, nproc in limits.conf(5) or LimitNPROC= of its unit"},
    [LIMIT_KIND_GROUP] =
        {"processes of the control group", "pids.max",
         .raise = "end some, or raise it: TasksMax= of its unit, or the container's own setting"},
    [LIMIT_KIND_ALL_PROCESSES] = {"processes of the machine", "kernel.threads-max",
                                  "/proc/sys/kernel/threads-max", .times = 2},
    [LIMIT_KIND_TERMINALS] = {"terminals", "kernel.pty.max", "/proc/sys/kernel/pty/max",
                              .times = 2},
    [LIMIT_KIND_DEVPTS] = {"terminals", "max",
                           .raise = "end sessions, or raise it: mount -o remount,max=NUMBER"},
    [LIMIT_KIND_INSTANCES] = {"inotify instances", "fs.inotify.max_user_instances", INSTANCES,
                              .times = 4},
    [LIMIT_KIND_INSTANCES_HERE] = {"inotify instances", "user.max_inotify_instances",
                                   INSTANCES_HERE, .times = 4},
    [LIMIT_KIND_WATCHES] = {"inotify watches", "fs.inotify.max_user_watches",
                            "/proc/sys/fs/inotify/max_user_watches", .times = 4},
    [LIMIT_KIND_POLLED] = {"epoll watches", "fs.epoll.max_user_watches",
                           "/proc/sys/fs/epoll/max_user_watches", .times = 4},
    [LIMIT_KIND_LOCKED] = {"locked memory", "RLIMIT_MEMLOCK", .resource = RLIMIT_MEMLOCK,
                           .raise = INHERITED
                           "ulimit -l, memlock in limits.conf(5) or LimitMEMLOCK= of its unit"},
    [LIMIT_KIND_SIZE] = {"file sizes", "RLIMIT_FSIZE", .resource = RLIMIT_FSIZE,
                         .raise = INHERITED
                         "ulimit -f, fsize in limits.conf(5) or LimitFSIZE= of its unit"},
    [LIMIT_KIND_DATA] = {"data", "RLIMIT_DATA", .resource = RLIMIT_DATA,
                         .raise = INHERITED
                         "ulimit -d, data in limits.conf(5) or LimitDATA= of its unit"},
    [LIMIT_KIND_SPACE] = {"address space", "RLIMIT_AS", .resource = RLIMIT_AS,
                          .raise = INHERITED
                          "ulimit -v, as in limits.conf(5) or LimitAS= of its unit"},
    [LIMIT_KIND_STACK] = {"stack", "RLIMIT_STACK", .resource = RLIMIT_STACK,
                          .raise = INHERITED
                          "ulimit -s, stack in limits.conf(5) or LimitSTACK= of its unit"},
    [LIMIT_KIND_YAMA] = {"looks into programs", "kernel.yama.ptrace_scope", YAMA,
                         .raise = "allow them with sysctl kernel.yama.ptrace_scope=0"},
    [LIMIT_KIND_HIDEPID] = {"processes of other users", "hidepid",
                            .raise = "mount /proc without it, or with gid= of a group of yours"},
};

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
    fd_close(&fd);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return n > 0;
}

/* UINT64_MAX: "max", or the file can't be read. */
static uint64_t limit_kind_read_number(const char *path)
{
    char text[64], *end;
    if (!read_text(path, text, sizeof text))
        return UINT64_MAX;
    uint64_t value = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : value;
}

static uint64_t resource_value(__rlimit_resource_t resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY
               ? UINT64_MAX
               : (uint64_t)limit.rlim_cur;
}

/* Finds the control group, ours or one above it, that has reached its pids.max. The value is
 * UINT64_MAX when there is none. */
static void full_group(struct limit_value *out)
{
    char text[2048], path[sizeof text + 64];
    int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    fd_close(&fd);
    text[n > 0 ? n : 0] = '\0';
    out->value = UINT64_MAX;
    char *group = strstr(text, ":pids:/"); /* version 1 */
    const char *root = group ? ROOT "/pids" : ROOT;
    group = group ? group : strstr(text, "0::/");
    if (!group)
        return;
    group = strchr(group, '/');
    group[strcspn(group, "\n")] = '\0';
    for (char *slash = group + strlen(group); slash; slash = strrchr(group, '/')) {
        *slash = '\0';
        snprintf(path, sizeof path, "%s%s/pids.max", root, group);
        uint64_t most = limit_kind_read_number(path);
        snprintf(path, sizeof path, "%s%s/pids.current", root, group);
        if (most != UINT64_MAX && limit_kind_read_number(path) >= most) {
            out->value = most;
            snprintf(out->place, sizeof out->place, "%.*s", (int)sizeof out->place - 1,
                     *group ? group : "/");
            return;
        }
    }
}

/* EAGAIN may mean any limit on processes. */
static enum limit_kind of_processes(void)
{
    struct limit_value group;
    char text[128];
    full_group(&group);
    if (group.value != UINT64_MAX)
        return LIMIT_KIND_GROUP;
    uint64_t most = resource_value(RLIMIT_NPROC), there = UINT64_MAX;
    const char *slash = read_text("/proc/loadavg", text, sizeof text) ? strchr(text, '/') : NULL;
    if (slash)
        there = strtoull(slash + 1, NULL, 10);
    return most != UINT64_MAX && there >= most ? LIMIT_KIND_PROCESSES : LIMIT_KIND_ALL_PROCESSES;
}

static enum limit_kind of_terminals(void)
{
    uint64_t most = limit_kind_read_number("/proc/sys/kernel/pty/max"),
             there = limit_kind_read_number("/proc/sys/kernel/pty/nr");
    uint64_t reserve = limit_kind_read_number("/proc/sys/kernel/pty/reserve");
    bool known = most != UINT64_MAX && there != UINT64_MAX && reserve != UINT64_MAX;
    return !known || there + 1 + reserve >= most ? LIMIT_KIND_TERMINALS : LIMIT_KIND_DEVPTS;
}

static enum limit_kind of_inotify(void)
{
    return limit_kind_read_number(INSTANCES_HERE) < limit_kind_read_number(INSTANCES)
               ? LIMIT_KIND_INSTANCES_HERE
               : LIMIT_KIND_INSTANCES;
}

static bool has_free_descriptor(void)
{
    int fd = open("/", O_PATH | O_CLOEXEC);
    bool has = fd >= 0;
    fd_close(&fd);
    return has;
}

bool limit_kind_stack_is_low(void)
{
    return resource_value(RLIMIT_STACK) < STACK_NEEDED;
}

/* The kernel ends a program that it can't make room for, and does not say which limit it was. Few
 * people have one of the first two, and nearly all have one of the stack, which is rarely low. */
static enum limit_kind of_memory(void)
{
    uint64_t data = resource_value(RLIMIT_DATA), space = resource_value(RLIMIT_AS);
    if (data != UINT64_MAX || space != UINT64_MAX)
        return data <= space ? LIMIT_KIND_DATA : LIMIT_KIND_SPACE;
    return limit_kind_stack_is_low() ? LIMIT_KIND_STACK : LIMIT_KIND_NONE;
}

/* Its stack needs room, too. */
static enum limit_kind of_threads(void)
{
    enum limit_kind kind = of_processes(), memory = of_memory();
    return kind == LIMIT_KIND_ALL_PROCESSES && memory != LIMIT_KIND_NONE ? memory : kind;
}

static bool is_restricted(uint64_t ptrace_scope)
{
    return ptrace_scope > 0 && ptrace_scope != UINT64_MAX;
}

enum limit_kind limit_kind_of(enum limit_use use, int error)
{
    bool locks = use == LIMIT_SECRET;
    if (use == LIMIT_OTHERS)
        return LIMIT_KIND_HIDEPID;
    if (use == LIMIT_STACK)
        return LIMIT_KIND_STACK;
    if (use == LIMIT_READINESS)
        return is_restricted(limit_kind_read_number(YAMA)) ? LIMIT_KIND_YAMA : LIMIT_KIND_NONE;
    switch (error) {
    case EMFILE:
        return use == LIMIT_SOCKET_WATCH && has_free_descriptor() ? of_inotify() : LIMIT_KIND_FILES;
    case EFBIG: return LIMIT_KIND_SIZE;
    case ENFILE: return LIMIT_KIND_ALL_FILES;
    case ETOOMANYREFS: return LIMIT_KIND_PASSED;
    case EAGAIN:
        return locks                   ? LIMIT_KIND_LOCKED
               : use == LIMIT_TERMINAL ? of_terminals()
               : use == LIMIT_THREAD   ? of_threads()
                                       : of_processes();
    case ENOMEM:
        if (use == LIMIT_MEMORY || use == LIMIT_SESSION)
            return of_memory(); /* fall through */
    case EPERM:
        return locks && resource_value(RLIMIT_MEMLOCK) != UINT64_MAX ? LIMIT_KIND_LOCKED
                                                                     : LIMIT_KIND_NONE;
    case ENOSPC:
        return use == LIMIT_TERMINAL       ? of_terminals()
               : use == LIMIT_SOCKET_WATCH ? LIMIT_KIND_WATCHES
               : use == LIMIT_CONNECTION   ? LIMIT_KIND_POLLED
                                           : LIMIT_KIND_NONE;
    default: return LIMIT_KIND_NONE;
    }
}

/* /dev/pts, else the last mount: a later mount covers an earlier one. */
static void devpts_value(struct limit_value *out)
{
    char line[1024], place[sizeof out->place];
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    out->value = UINT64_MAX;
    while (mounts && fgets(line, sizeof line, mounts)) {
        const char *type = strstr(line, " - devpts "), *most = type ? strstr(type, ",max=") : NULL;
        if (!most || sscanf(line, "%*d %*d %*s %*s %127s", place) != 1)
            continue;
        out->value = strtoull(most + strlen(",max="), NULL, 10);
        snprintf(out->place, sizeof out->place, "%s", place);
        if (strcmp(place, "/dev/pts") == 0)
            break;
    }
    if (mounts)
        fclose(mounts);
}

void limit_kind_value(enum limit_kind kind, struct limit_value *out)
{
    BUG_UNLESS(kind > LIMIT_KIND_NONE && kind < LIMIT_KINDS);
    *out = (struct limit_value){.value = UINT64_MAX};
    if (kind == LIMIT_KIND_GROUP)
        full_group(out);
    else if (kind == LIMIT_KIND_DEVPTS)
        devpts_value(out);
    else if (kind == LIMIT_KIND_HIDEPID)
        snprintf(out->place, sizeof out->place, "/proc");
    else if (rows[kind].file)
        out->value = limit_kind_read_number(rows[kind].file);
    else
        out->value = resource_value(rows[kind].resource);
}

void limit_kind_text(enum limit_kind kind, const struct limit_value *value, struct limit_text *out)
{
    BUG_UNLESS(kind > LIMIT_KIND_NONE && kind < LIMIT_KINDS);
    const char *noun = rows[kind].noun, *name = rows[kind].name;
    char is[32] = "";
    if (value->value != UINT64_MAX)
        snprintf(is, sizeof is, "=%" PRIu64, value->value);
    if (*value->place)
        snprintf(out->limit, sizeof out->limit, "%s (%s%s of '%s')", noun, name, is, value->place);
    else
        snprintf(out->limit, sizeof out->limit, "%s (%s%s)", noun, name, is);
    BUG_UNLESS(rows[kind].raise || rows[kind].times > 1); /* else the advice is no advice */
    if (rows[kind].raise)
        snprintf(out->raise, sizeof out->raise, "%s%s%s", rows[kind].raise,
                 kind == LIMIT_KIND_DEVPTS ? " " : "",
                 kind == LIMIT_KIND_DEVPTS ? value->place : "");
    else if (*is)
        snprintf(out->raise, sizeof out->raise, "raise it with sysctl %s=%" PRIu64, name,
                 value->value ? value->value * (uint64_t)rows[kind].times : LEAST);
    else
        snprintf(out->raise, sizeof out->raise, "raise it with sysctl %s", name);
}
