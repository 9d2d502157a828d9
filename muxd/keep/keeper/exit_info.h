/* exit_info: how a process that is not our child ended, as far as the kernel tells. */
#ifndef MUXD_KEEP_EXIT_INFO_H
#define MUXD_KEEP_EXIT_INFO_H
#include <sys/types.h>
/* For a process whose pidfd says that it has ended. how: si_code and si_status as waitid(2) gives
 * them; {0, 0}: unknown (kernels before 6.15, or reaped before the pidfd was made). Source:
 * PIDFD_GET_INFO of linux/pidfd.h, proc_pid_stat(5) of a zombie. */
void exit_info(pid_t pid, int pidfd, int how[2]);
#endif
