/* cgroup: a group of the kernel a session, where a cgroup v2 tree is ours to write. Optional
 * everywhere: a NULL cgroup is valid and does nothing. cgroups(7), cgroup-v2.rst of the kernel. */
#ifndef MUXD_SYS_CGROUP_H
#define MUXD_SYS_CGROUP_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Tried once: makes a directory under our own group and removes it again. For people: "cgroup v2"
 * or "none (why)"; static after the first call. */
const char *cgroup_probe(void);
bool cgroup_available(void);

struct cgroup; /* one directory, by an open descriptor */
/* NULL: not available, or it failed (errno). daemon: a short word that no other daemon of this user
 * has and that survives a worker (a hash of the socket's path): the next worker finds the group
 * again under the same two. */
struct cgroup *cgroup_new(const char *daemon, uint64_t session);
/* closes; the group stays as long as cgroup_remove didn't succeed */
void cgroup_free(struct cgroup *cgroup);
/* moves a process and with it all its later children; 0 or -errno */
int cgroup_put(struct cgroup *cgroup, pid_t pid);
/* SIGKILL to all at once (cgroup.kill, Linux 5.14); 0 or -errno */
int cgroup_kill(struct cgroup *cgroup);
int cgroup_remove(struct cgroup *cgroup);              /* only an empty one; 0 or -errno (-EBUSY) */
#endif
