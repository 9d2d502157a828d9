/* tty_socket: whether a socket that a program waits for can lead to another machine. What is shown
 * by one that does (ssh) is that machine's word, of which the processes here know nothing. */
#ifndef MUXD_SYS_TTY_SOCKET_H
#define MUXD_SYS_TTY_SOCKET_H
#include <stdbool.h>
#include <sys/types.h>

/* inode: of the socket, by fstat(2). True for one of unix(7) in the network namespace of tid; false
 * for all others and where that can't be read. Asks the kernel once for each inode that is new to
 * it. */
bool tty_socket_is_local(pid_t tid, ino_t inode);
#endif
