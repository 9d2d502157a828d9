/* fdio: file descriptors. Every descriptor made here is close-on-exec. */
#ifndef MUXD_BASE_FDIO_H
#define MUXD_BASE_FDIO_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* the errno says that the kernel is short of memory: the same call may succeed soon */
bool fd_is_short(int error);
int fd_set_nonblock(int fd, bool on); /* 0 or -1 with errno */
int fd_set_cloexec(int fd, bool on);
void fd_close(int *fd);               /* closes unless -1 and sets -1; keeps errno */
/* Blocking, EINTR-proof; for start-up, client and tests only. Bytes done, or -1 with errno; fewer
 * than size at end of file. */
ssize_t fd_read_all(int fd, void *data, size_t size);
ssize_t fd_write_all(int fd, const void *data, size_t size);
/* The same at an offset of a file (pread(2), pwrite(2)); the file's own offset doesn't move. */
ssize_t fd_pread_all(int fd, void *data, size_t size, off_t at);
ssize_t fd_pwrite_all(int fd, const void *data, size_t size, off_t at);
/* One message with up to 8 descriptors (SCM_RIGHTS, unix(7)). Sent whole or -1 with errno. */
#define FD_PASS_MAX 8
ssize_t fd_send(int sock, const void *data, size_t size, const int *fds, size_t nfds, int flags);
/* *nfds: room in, received out; received descriptors are close-on-exec. When a message has more
 * data or descriptors than there is room for, all of its descriptors are closed and errno is
 * EMSGSIZE. */
ssize_t fd_recv(int sock, void *data, size_t size, int *fds, size_t *nfds, int flags);
/* The same, but a message that is cut for lack of room is delivered as far as it fits, and *cut is
 * set. */
ssize_t fd_recv_cut(int sock, void *data, size_t size, int *fds, size_t *nfds, bool *cut,
                    int flags);
/* soft RLIMIT_NOFILE to hard; the old soft limit, to be restored in children */
int fd_raise_nofile(void);
#endif
