/* own_terminal: shows the daemon that a person is here: the terminal that ue runs on goes with a
 * request, as a descriptor (muxd/peer/person.h). */
#ifndef MUXD_CLIENT_OWN_TERMINAL_H
#define MUXD_CLIENT_OWN_TERMINAL_H
#include <stddef.h>
#include <sys/types.h>

/* Stops ue, as a program that reads its terminal, until it is in the foreground. */
void own_terminal_wait_foreground(void);
/* Why a daemon would take nobody here for a person, as the rest of a sentence; NULL: it would. */
const char *own_terminal_why_not(void);
/* As send(2) with MSG_NOSIGNAL; the terminal goes with the first byte, where there is one. */
ssize_t own_terminal_send(int sock, const void *data, size_t size);
#endif
