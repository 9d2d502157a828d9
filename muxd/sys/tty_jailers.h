/* tty_jailers: the processes by which a sandbox holds a session's program: bubblewrap, which is the
 * session's leader or, where names are made for the time being, the child of muxd-confine, and the
 * first process of its pid namespace. They stand in the terminal's
 * foreground group, but start the program, wait for its end, and never read the terminal. */
#ifndef MUXD_SYS_TTY_JAILERS_H
#define MUXD_SYS_TTY_JAILERS_H
#include <stdbool.h>
#include <sys/types.h>

struct tty_jailers {
    pid_t outer, inner; /* 0: there are none, or none yet */
    pid_t middle;       /* bubblewrap, where it is not the leader; 0: it is */
};

/* leader: of a session in a sandbox. None where it is itself the program, or the kernel doesn't
 * tell. Valid as long as the leader is not reaped. */
struct tty_jailers tty_jailers_of(pid_t leader);
bool tty_jailers_have(const struct tty_jailers *jailers, pid_t pid);
#endif
