/* own_terminal: shows the daemon that a person is here: the terminal that ue runs on goes with a
 * request, as a descriptor (muxd/peer/person.h). */
#ifndef MUXD_CLIENT_OWN_TERMINAL_H
#define MUXD_CLIENT_OWN_TERMINAL_H
#include <stddef.h>
#include <sys/types.h>

/* Stops ue, as a program that reads its terminal, until it is in the foreground. */
void own_terminal_wait_foreground(void);
/* As send(2) with MSG_NOSIGNAL; the terminal goes with the first byte, where there is one. */
ssize_t own_terminal_send(int sock, const void *data, size_t size);
#endif
