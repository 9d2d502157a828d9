/* tty_socket: whether a socket that a program waits for can lead to another machine. If it does
 * (ssh), that machine decides what the terminal shows, and the processes here don't tell whether
 * it waits. */
#ifndef MUXD_SYS_TTY_SOCKET_H
#define MUXD_SYS_TTY_SOCKET_H
#include <stdbool.h>
#include <sys/types.h>

/* inode: of the socket, from stat(2). True for a socket of unix(7) in the network namespace of tid;
 * false for all others and when that can't be read. Reads /proc only for an inode that it doesn't
 * remember. */
bool tty_socket_is_local(pid_t tid, ino_t inode);
#endif
