/* fdio: file descriptors. Every descriptor made here is close-on-exec. */
#ifndef MUXD_BASE_FDIO_H
#define MUXD_BASE_FDIO_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* an errno of a kernel that is short of memory for now: the same may go well soon */
bool fd_is_short(int error);
int fd_set_nonblock(int fd, bool on); /* 0 or -1 with errno */
int fd_set_cloexec(int fd, bool on);
void fd_close(int *fd);               /* closes unless -1 and sets -1; keeps errno */
/* Blocking, EINTR-proof; for start-up, client and tests only. Bytes done, or -1 with errno; fewer
 * than size at end of file. */
ssize_t fd_read_all(int fd, void *data, size_t size);
ssize_t fd_write_all(int fd, const void *data, size_t size);
/* Of a file, whose own offset stays where it is (pread(2), pwrite(2)). */
ssize_t fd_pread_all(int fd, void *data, size_t size, off_t at);
ssize_t fd_pwrite_all(int fd, const void *data, size_t size, off_t at);
/* One message with up to 8 descriptors (SCM_RIGHTS, unix(7)). Sent whole or -1 with errno. */
#define FD_PASS_MAX 8
ssize_t fd_send(int sock, const void *data, size_t size, const int *fds, size_t nfds, int flags);
/* *nfds: room in, received out; received descriptors are close-on-exec. More than room: the rest
 * are closed, errno EMSGSIZE. */
ssize_t fd_recv(int sock, void *data, size_t size, int *fds, size_t *nfds, int flags);
/* The same, but what came of a message for whose descriptors or data there was no room is given,
 * and *cut says so. */
ssize_t fd_recv_cut(int sock, void *data, size_t size, int *fds, size_t *nfds, bool *cut,
                    int flags);
/* soft RLIMIT_NOFILE to hard; the old soft limit, to be restored in children */
int fd_raise_nofile(void);
#endif
