/* pty: a pseudo-terminal, opened, sized and asked about from its master. pty(7), ioctl_tty(2). */
#ifndef MUXD_SYS_PTY_H
#define MUXD_SYS_PTY_H
#include "base/err.h"
#include <stdbool.h>
#include <sys/types.h>

struct pty_mode {
    bool canonical, echo, signals, echoctl, icrnl, opost;
    unsigned char intr, eof, erase;
};

/* A new PTY: master non-blocking, both close-on-exec; the slave is for the child's stdio and is
 * closed by the caller after the spawn. Modes: the kernel's cooked ones with IUTF8. Mode 0600 or
 * 0620 is checked (fstat). ERR_SYSTEM: none is left, says by which limit. */
int pty_open(int rows, int cols, int *master, int *slave, struct err *err);
/* TIOCSWINSZ; the cells keep their size in pixels. 0 or -errno */
int pty_resize(int master, int rows, int cols);
int pty_get_size(int master, int *rows, int *cols);      /* TIOCGWINSZ; 0 or -errno */
/* in pixels, of one cell: ws_xpixel, ws_ypixel. 0 or -errno */
int pty_set_cell(int master, int height, int width);
int pty_get_cell(int master, int *height, int *width);   /* 0 0: nobody has said */
/* tcgetattr(3) on the master works on Linux; -1 with errno */
int pty_get_mode(int master, struct pty_mode *mode);
/* tcgetpgrp(3); 0 when there is none, -1 with errno */
pid_t pty_foreground(int master);
/* The session whose controlling terminal it is, tcgetsid(3), which the kernel also answers on a
 * master; 0: none. Its processes are exactly those on this terminal: numbers under /dev/pts begin
 * anew in each mounted devpts (pts(4)), so they prove nothing. */
pid_t pty_session(int master);
/* Bytes typed that the program has not read: FIONREAD of a slave opened for a moment by TIOCGPTPEER
 * (read-only, O_NOCTTY), after the kernel was made to deliver what was still on its way. In
 * canonical mode a line without its end doesn't count. Only while the leader lives and has its tty
 * open (see tty_state.c): the caller makes sure. -1 with errno. */
int pty_unread_input(int master);
int pty_slave_number(int master);                        /* N of /dev/pts/N (TIOCGPTN) */
#endif
