/* pty: a pseudo-terminal, opened, sized and examined through its master. pty(7), ioctl_tty(2). */
#ifndef MUXD_SYS_PTY_H
#define MUXD_SYS_PTY_H
#include "base/err.h"
#include <stdbool.h>
#include <sys/types.h>

struct pty_mode {
    bool canonical, echo, signals, echoctl, icrnl, opost;
    unsigned char intr, eof, erase;
};

/* A new PTY: master non-blocking, both close-on-exec. The slave is for the child's stdio; the
 * caller closes it after the spawn. Modes: the kernel's cooked ones with IUTF8. The slave's file
 * mode must be 0600 or 0620. ERR_SYSTEM: the text says by which limit there is none. */
int pty_open(int rows, int cols, int *master, int *slave, struct err *err);
/* TIOCSWINSZ; the cells keep their size in pixels. 0 or -errno */
int pty_resize(int master, int rows, int cols);
int pty_get_size(int master, int *rows, int *cols); /* TIOCGWINSZ; 0 or -errno */
/* the size of one cell in pixels (ws_xpixel, ws_ypixel); 0 0: unknown. 0 or -errno */
int pty_set_cell(int master, int height, int width);
int pty_get_cell(int master, int *height, int *width);
/* tcgetattr(3) on the master works on Linux; -1 with errno */
int pty_get_mode(int master, struct pty_mode *mode);
/* tcgetpgrp(3); 0 when there is none, -1 with errno */
pid_t pty_foreground(int master);
/* The session whose controlling terminal it is (tcgetsid(3), which the kernel also answers on a
 * master); 0: none. The processes on this terminal are exactly those of that session. The number
 * under /dev/pts proves nothing, since each mounted devpts counts from 0 (pts(4)). */
pid_t pty_session(int master);
/* Typed bytes that the program has not read; -1 with errno. FIONREAD of a slave that is opened
 * for a moment by TIOCGPTPEER (read-only, O_NOCTTY), after the kernel has delivered bytes on
 * their way. In canonical mode a line without its end doesn't count. The caller makes sure that
 * the leader lives and has its terminal open (see tty_state.c). */
int pty_unread_input(int master);
/* Canonical mode: erases what was typed of an unfinished line, as its key does (VKILL). */
void pty_erase_line(int master);
int pty_slave_number(int master); /* N of /dev/pts/N (TIOCGPTN) */
#endif
