/* peercred: who is at the other end of a Unix socket. unix(7): SO_PEERCRED. */
#ifndef MUXD_SYS_PEERCRED_H
#define MUXD_SYS_PEERCRED_H
#include <stdbool.h>
#include <sys/types.h>
/* as of its connect(2); pid 0: it is in another pid namespace */
struct peercred { uid_t uid; gid_t gid; pid_t pid; };
int peercred_get(int sock, struct peercred *cred); /* 0 or -1 with errno */
/* A pidfd of that process; -1: it is gone. sure: SO_PEERPIDFD (Linux 6.5), so it is the one that
 * has connected; else it may be one that has got its number since. */
int peercred_pidfd(int sock, pid_t pid, bool *sure);
#endif
