/* pty: owns nothing; every function works on a master that the caller owns. */
#include "sys/pty.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static int set_modes(int slave)
{
    struct termios modes;
    if (tcgetattr(slave, &modes) < 0)
        return -1;
    modes.c_iflag |= IUTF8; /* erasing takes a whole character */
    return tcsetattr(slave, TCSANOW, &modes);
}

/* Other users must not read or write a terminal in which secrets are typed: a devpts that is
 * mounted with mode=0666 is refused. */
static int check_private(int slave, struct err *err)
{
    struct stat st;
    if (fstat(slave, &st) < 0)
        return err_set(err, ERR_SYSTEM, "pty: fstat: %s; try again", strerror(errno));
    if ((st.st_mode & 07777 & ~(mode_t)0620) != 0)
        return err_set(err, ERR_SYSTEM,
                       "pty: new terminals have mode '%04o' and are open to others; mount devpts "
                       "with mode=0620",
                       (unsigned)(st.st_mode & 07777));
    return 0;
}

static int open_slave(int master, int flags)
{
    return ioctl(master, TIOCGPTPEER, flags | O_NOCTTY | O_CLOEXEC);
}

static int no_terminal(struct err *err, int error)
{
    struct limit_text text;
    if (limit_explain(LIMIT_TERMINAL, error, &text))
        return limit_err(err, ERR_SYSTEM, LIMIT_TERMINAL, error, "no terminal (PTY) can be made");
    return err_set(err, ERR_SYSTEM,
                   "no terminal (PTY) can be made: %s; see whether devpts is mounted at /dev/pts",
                   strerror(error));
}

int pty_open(int rows, int cols, int *master, int *slave, struct err *err)
{
    int status, m, s = -1;

    BUG_UNLESS(rows > 0 && rows <= USHRT_MAX && cols > 0 && cols <= USHRT_MAX);
    *master = *slave = -1;
    m = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (m < 0)
        return no_terminal(err, errno);
    if (grantpt(m) < 0 || unlockpt(m) < 0 || (s = open_slave(m, O_RDWR)) < 0 || set_modes(s) < 0 ||
        pty_resize(m, rows, cols) < 0)
        status = no_terminal(err, errno);
    else
        status = check_private(s, err);
    if (status < 0) {
        fd_close(&s);
        fd_close(&m);
        return status;
    }
    limit_passed(LIMIT_TERMINAL);
    *master = m;
    *slave = s;
    return 0;
}

static int set_size(int master, int rows, int cols, int height, int width)
{
    int64_t high = (int64_t)rows * height, wide = (int64_t)cols * width;
    bool fits = high <= USHRT_MAX && wide <= USHRT_MAX;
    struct winsize size = {.ws_row = (unsigned short)rows,
                           .ws_col = (unsigned short)cols,
                           .ws_ypixel = (unsigned short)(fits ? high : 0),
                           .ws_xpixel = (unsigned short)(fits ? wide : 0)};
    return ioctl(master, TIOCSWINSZ, &size) < 0 ? -errno : 0;
}

int pty_resize(int master, int rows, int cols)
{
    int height = 0, width = 0;
    BUG_UNLESS(rows > 0 && rows <= USHRT_MAX && cols > 0 && cols <= USHRT_MAX);
    pty_get_cell(master, &height, &width);
    return set_size(master, rows, cols, height, width);
}

int pty_set_cell(int master, int height, int width)
{
    BUG_UNLESS(height >= 0 && width >= 0);
    int rows = 0, cols = 0, code = pty_get_size(master, &rows, &cols);
    return code < 0 ? code : set_size(master, rows, cols, height, width);
}

int pty_get_cell(int master, int *height, int *width)
{
    struct winsize size;
    if (ioctl(master, TIOCGWINSZ, &size) < 0)
        return -errno;
    *height = size.ws_row ? size.ws_ypixel / size.ws_row : 0;
    *width = size.ws_col ? size.ws_xpixel / size.ws_col : 0;
    return 0;
}

int pty_get_size(int master, int *rows, int *cols)
{
    struct winsize size;
    if (ioctl(master, TIOCGWINSZ, &size) < 0)
        return -errno;
    *rows = size.ws_row;
    *cols = size.ws_col;
    return 0;
}

int pty_get_mode(int master, struct pty_mode *mode)
{
    struct termios modes;
    if (tcgetattr(master, &modes) < 0)
        return -1;
    *mode = (struct pty_mode){
        .canonical = modes.c_lflag & ICANON,
        .echo = modes.c_lflag & ECHO,
        .signals = modes.c_lflag & ISIG,
        .echoctl = modes.c_lflag & ECHOCTL,
        .icrnl = modes.c_iflag & ICRNL,
        .opost = modes.c_oflag & OPOST,
        .intr = modes.c_cc[VINTR],
        .eof = modes.c_cc[VEOF],
        .erase = modes.c_cc[VERASE],
    };
    return 0;
}

pid_t pty_foreground(int master)
{
    return tcgetpgrp(master);
}

pid_t pty_session(int master)
{
    pid_t sid = 0; /* tcgetsid(3) by hand: valgrind does not know that this ioctl writes */
    return ioctl(master, TIOCGSID, &sid) == 0 && sid > 1 ? sid : 0;
}

int pty_unread_input(int master)
{
    int count = -1, slave = open_slave(master, O_RDONLY | O_NONBLOCK);
    if (slave < 0)
        return -1;
    /* poll(2) makes the kernel hand bytes that were written to the master to the line discipline
     * (n_tty_poll flushes the pending work). Without it FIONREAD misses bytes just typed. */
    struct pollfd waiting = {.fd = slave, .events = POLLIN};
    poll(&waiting, 1, 0);
    if (ioctl(slave, FIONREAD, &count) < 0)
        count = -1;
    fd_close(&slave);
    return count;
}

int pty_slave_number(int master)
{
    unsigned number;
    return ioctl(master, TIOCGPTN, &number) < 0 ? -1 : (int)number;
}

void pty_erase_line(int master)
{
    struct termios modes;
    ssize_t n = 0;
    if (tcgetattr(master, &modes) == 0 && (modes.c_lflag & ICANON) &&
        modes.c_cc[VKILL] != _POSIX_VDISABLE)
        n = write(master, &modes.c_cc[VKILL], 1);
    (void)n; /* where the terminal takes no more there is nothing to be done */
}
