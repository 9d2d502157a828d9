/* cgroup: a control group for each session, where a cgroup v2 tree is ours to write. Optional
 * everywhere: a NULL cgroup is valid and does nothing. cgroups(7), cgroup-v2.rst of the kernel. */
#ifndef MUXD_SYS_CGROUP_H
#define MUXD_SYS_CGROUP_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Tried once: makes a directory under our own group and removes it again. "cgroup v2" or
 * "none (why)", for people; static after the first call. */
const char *cgroup_probe(void);
bool cgroup_available(void);

struct cgroup; /* one directory, by an open descriptor */
/* NULL: not available, or it failed (errno). daemon: a short word that no other daemon of this user
 * has and that outlives a worker (a hash of the socket's path), so that the next worker finds the
 * same group. */
struct cgroup *cgroup_new(const char *daemon, uint64_t session);
/* closes; the group itself stays until cgroup_remove */
void cgroup_free(struct cgroup *cgroup);
/* moves a process and with it all its later children; 0 or -errno */
int cgroup_put(struct cgroup *cgroup, pid_t pid);
/* SIGKILL to all at once (cgroup.kill, Linux 5.14); 0 or -errno */
int cgroup_kill(struct cgroup *cgroup);
/* only an empty one; 0 or -errno (-EBUSY) */
int cgroup_remove(struct cgroup *cgroup);
#endif
