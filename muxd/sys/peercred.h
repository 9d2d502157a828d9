/* peercred: who is at the other end of a Unix socket. unix(7): SO_PEERCRED. */
#ifndef MUXD_SYS_PEERCRED_H
#define MUXD_SYS_PEERCRED_H
#include <sys/types.h>
/* as of its connect(2); pid 0: it is in another pid namespace */
struct peercred { uid_t uid; gid_t gid; pid_t pid; };
int peercred_get(int sock, struct peercred *cred); /* 0 or -1 with errno */
#endif
