/* cgroup: owns one directory of the cgroup v2 tree for each session, below a directory of the
 * daemon. */
#include "sys/cgroup.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cgroup {
    int dir;
    char name[64];
};

static int base_dir = -1; /* the daemon's directory; kept for the life of the process */

/* The mount point of the unified hierarchy: the first line of type cgroup2 in mountinfo
 * (proc_pid_mountinfo(5)). */
static bool find_mount(char *path, size_t size)
{
    char line[4096], target[2048];
    bool found = false;
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file))
        if (strstr(line, " - cgroup2 ") && sscanf(line, "%*d %*d %*s %*s %2047s", target) == 1)
            found = (size_t)snprintf(path, size, "%s", target) < size;
    fclose(file);
    return found;
}

/* Our own group in the tree: the line "0::/path" of /proc/self/cgroup. */
static bool cgroup_find_own(char *path, size_t size)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file))
        if (strncmp(line, "0::/", 4) == 0) {
            line[strcspn(line, "\n")] = '\0';
            found = (size_t)snprintf(path, size, "%s", line + 3) < size;
        }
    fclose(file);
    return found;
}

/* Where the daemon's directory is now. It is worked out each time, as the daemon may have been
 * moved. NULL, or a text why there is none. */
static const char *base_path(char *path, size_t size)
{
    char mount[2048], own[2048];
    if (!find_mount(mount, sizeof mount))
        return "none (no cgroup v2 tree is mounted)";
    if (!cgroup_find_own(own, sizeof own))
        return "none (this process is in no cgroup v2)";
    snprintf(path, size, "%s%s/muxd-%ld", mount, strcmp(own, "/") == 0 ? "" : own, (long)geteuid());
    return NULL;
}

/* No controllers are enabled for the children, so processes may stay in the parent (no internal
 * process constraint). */
static bool open_base(void)
{
    char path[4200];
    if (base_dir >= 0 && faccessat(base_dir, "cgroup.procs", F_OK, 0) == 0)
        return true;
    fd_close(&base_dir);
    if (base_path(path, sizeof path) || (mkdir(path, 0755) < 0 && errno != EEXIST))
        return false;
    base_dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return base_dir >= 0;
}

/* Removes the daemon's directory; the kernel refuses while it holds groups of sessions. */
static void drop_base(void)
{
    char path[4200];
    if (!base_path(path, sizeof path) && rmdir(path) == 0)
        fd_close(&base_dir);
}

static const char *probe(void)
{
    static char why[160];
    char path[4200];
    const char *none = base_path(path, sizeof path);

    if (none)
        return none;
    bool good = open_base() && faccessat(base_dir, "cgroup.procs", W_OK, AT_EACCESS) == 0 &&
                faccessat(base_dir, "cgroup.kill", W_OK, AT_EACCESS) == 0;
    if (!good)
        snprintf(why, sizeof why, "none (the cgroup of this process is not ours to write: %s)",
                 strerror(errno));
    drop_base();
    return good ? "cgroup v2" : why;
}

const char *cgroup_probe(void)
{
    static const char *answer;
    if (!answer)
        answer = probe();
    return answer;
}

bool cgroup_available(void)
{
    return strcmp(cgroup_probe(), "cgroup v2") == 0;
}

struct cgroup *cgroup_new(const char *daemon, uint64_t session)
{
    char name[64];
    int dir;

    if (!cgroup_available() || !open_base())
        return NULL;
    if (strchr(daemon, '/') || (size_t)snprintf(name, sizeof name, "%s-%llu", daemon,
                                                (unsigned long long)session) >= sizeof name) {
        errno = EINVAL;
        return NULL;
    }
    if (mkdirat(base_dir, name, 0755) < 0 && errno != EEXIST)
        return NULL;
    dir = openat(base_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return NULL;
    struct cgroup *cgroup = xcalloc(1, sizeof *cgroup);
    cgroup->dir = dir;
    memcpy(cgroup->name, name, sizeof name);
    return cgroup;
}

void cgroup_free(struct cgroup *cgroup)
{
    if (!cgroup)
        return;
    fd_close(&cgroup->dir);
    free(cgroup);
}

static int cgroup_write_file(const struct cgroup *cgroup, const char *name, const char *text)
{
    int fd = openat(cgroup->dir, name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int status = write(fd, text, strlen(text)) < 0 ? -errno : 0;
    close(fd);
    return status;
}

int cgroup_put(struct cgroup *cgroup, pid_t pid)
{
    char text[24];
    BUG_UNLESS(pid > 0);
    if (!cgroup)
        return -EOPNOTSUPP;
    snprintf(text, sizeof text, "%d\n", (int)pid);
    return cgroup_write_file(cgroup, "cgroup.procs", text);
}

int cgroup_kill(struct cgroup *cgroup)
{
    return cgroup ? cgroup_write_file(cgroup, "cgroup.kill", "1\n") : -EOPNOTSUPP;
}

int cgroup_remove(struct cgroup *cgroup)
{
    if (!cgroup)
        return 0;
    if (base_dir < 0)
        return -ENOENT;
    if (unlinkat(base_dir, cgroup->name, AT_REMOVEDIR) < 0)
        return -errno;
    drop_base();
    return 0;
}
