/* terminal: owns the settings and modes of the person's terminal from terminal_enter to
 * terminal_leave. */
#include "client/terminal/terminal.h"
#include "base/bug.h"
#include "base/fdio.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Saves the title and the mode of the wheel, then shows a blank alternate screen without
 * autowrap. */
#define ENTER "\033[22;0t\033[?1007s\033[?1049h\033[?7l\033(B\017\033[m\033[2J\033[H"
#define PLAIN                                                                                      \
    "\033[?2026l\033[?9l\033[?1000l\033[?1002l\033[?1003l\033[?1005l\033[?1006l\033[?1015l\033[?"  \
    "1004l\033[?2004l\033[?1l\033>\033[?5l"
#define LEAVE \
    PLAIN "\033[?25h\033[?7h\033[r\033[m\033[?1007r\033[?1049l\033[23;0t"

#define WHEEL "\033[?1006;1000"
#define OWN_CURSOR "\033]112\033\\"

enum { TERMINAL_WAITS = 1, TERMINAL_RAW, TERMINAL_SHOWN };

#define STOPPED_MS 2000 /* longest wait for a terminal that takes nothing */

volatile sig_atomic_t terminal_resized, terminal_continued, terminal_stop;

static struct {
    bool opened;
    struct termios before;
    volatile sig_atomic_t inside; /* raw but for the interrupt key, raw, or shown too */
    bool keys, kitty, shape, scheme; /* modes that were set: not every terminal knows them */
    bool pastes, wheel;
    volatile sig_atomic_t cursor; /* it has a colour that a program has set */
    int out;
    sigset_t wait_mask;
} terminal = {.out = STDOUT_FILENO};

static const int deadly[] = {SIGHUP,  SIGINT, SIGQUIT, SIGTERM, SIGABRT,
                             SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGPIPE};

/* Waits for a slow terminal, but gives up on one that has stopped or is gone. */
static void write_plain(const char *text)
{
    size_t size = strlen(text);
    while (size > 0) {
        struct pollfd out = {.fd = terminal.out, .events = POLLOUT};
        ssize_t n = write(terminal.out, text, size);
        if (n < 0 && errno == EAGAIN && poll(&out, 1, STOPPED_MS) <= 0)
            return;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

/* Async-signal-safe. */
void terminal_leave(void)
{
    bool shown = terminal.inside == TERMINAL_SHOWN;
    if (!terminal.inside)
        return;
    terminal.inside = 0;
    if (terminal.keys)
        write_plain("\033[>4m");
    if (terminal.kitty)
        write_plain("\033[=0;1u");
    if (terminal.shape)
        write_plain("\033[0 q");
    if (terminal.scheme)
        write_plain("\033[?2031l");
    if (terminal.cursor)
        write_plain("\030" OWN_CURSOR);
    terminal.cursor = 0;
    if (shown)
        write_plain("\030" LEAVE); /* CAN ends a sequence that was cut */
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
}

void terminal_append_plain(struct buf *out, bool mouse)
{
    if (terminal.keys)
        buf_append_text(out, "\033[>4m");
    if (terminal.kitty)
        buf_append_text(out, "\033[=0;1u");
    buf_append_text(out, mouse ? PLAIN "\033[?1007l\033[?1000h\033[?1006h" : PLAIN);
}

static void on_deadly(int signo)
{
    int saved = errno;
    terminal_leave();
    raise(signo); /* SA_RESETHAND has restored its default action */
    errno = saved;
}

static void on_flag(int signo)
{
    if (signo == SIGWINCH)
        terminal_resized = 1;
    else if (signo == SIGCONT)
        terminal_continued = 1;
    else
        terminal_stop = 1;
}

static void catch_signals(void)
{
    struct sigaction flag = {.sa_handler = on_flag},
                     end = {.sa_handler = on_deadly, .sa_flags = (int)SA_RESETHAND}, old;
    sigset_t block;
    sigemptyset(&block);
    sigaddset(&block, SIGWINCH);
    sigaddset(&block, SIGCONT);
    sigaddset(&block, SIGTSTP);
    sigprocmask(SIG_BLOCK, &block, &terminal.wait_mask);
    sigaction(SIGWINCH, &flag, NULL);
    sigaction(SIGCONT, &flag, NULL);
    sigaction(SIGTSTP, &flag, NULL);
    sigdelset(&terminal.wait_mask, SIGWINCH);
    sigdelset(&terminal.wait_mask, SIGCONT);
    sigdelset(&terminal.wait_mask, SIGTSTP);
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup */
            sigaction(deadly[i], &end, NULL);
}

int terminal_open(struct err *err)
{
    BUG_UNLESS(!terminal.opened);
    if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1 ||
        tcgetattr(STDIN_FILENO, &terminal.before) < 0)
        return err_set(err, ERR_USAGE,
                       "standard input and output must be a terminal; `ue screen` and `ue write` "
                       "work without one");
    const char *term = getenv("TERM");
    if (term && strcmp(term, "dumb") == 0)
        return err_set(err, ERR_USAGE,
                       "TERM is 'dumb': a session can't be shown there; `ue screen` and `ue write` "
                       "work, and TERM can name another terminal");
    /* a descriptor of our own, as O_NONBLOCK on standard output would also hold for the shell */
    int own = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    terminal.out = own >= 0 ? own : STDOUT_FILENO;
    catch_signals();
    terminal.opened = true;
    atexit(terminal_leave);
    return 0;
}

static int terminal_set_raw(int how, struct err *err)
{
    struct termios raw;
    int was = terminal.inside;
    BUG_UNLESS(terminal.opened);
    if (was >= how)
        return 0;
    if (!was && tcgetattr(STDIN_FILENO, &terminal.before) < 0)
        return err_set(err, ERR_SYSTEM, "the terminal can't be used: %s", strerror(errno));
    raw = terminal.before;
    cfmakeraw(&raw);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (how == TERMINAL_WAITS) {
        raw.c_lflag |= ISIG;
        raw.c_cc[VQUIT] = raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    }
    terminal.inside = how;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) < 0) {
        terminal.inside = was; /* nothing was changed that terminal_leave has to restore */
        return err_set(err, ERR_SYSTEM, "the terminal can't be made raw: %s", strerror(errno));
    }
    return 0;
}

int terminal_make_raw(struct err *err)
{
    return terminal_set_raw(TERMINAL_RAW, err);
}

int terminal_make_raw_to_wait(struct err *err)
{
    return terminal_set_raw(TERMINAL_WAITS, err);
}

int terminal_enter(struct err *err)
{
    int code = terminal_make_raw(err);
    if (code || terminal.inside == TERMINAL_SHOWN)
        return code;
    terminal.inside = TERMINAL_SHOWN;
    write_plain(ENTER);
    return 0;
}

bool terminal_is_entered(void)
{
    return terminal.inside == TERMINAL_SHOWN;
}

void terminal_size(int *rows, int *cols)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
    *rows = known ? size.ws_row : 24;
    *cols = known ? size.ws_col : 80;
    *rows = *rows > 1000 ? 1000 : *rows;
    *cols = *cols > 1000 ? 1000 : *cols;
}

int terminal_out_fd(void)
{
    return terminal.out;
}

ssize_t terminal_write(const char *data, size_t size)
{
    ssize_t n = write(terminal.out, data, size);
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

/* The last one; NULL: none. */
static const char *memrmem(const char *data, size_t size, const char *word)
{
    const char *found = NULL, *at = data, *end = data + size;
    while ((at = memmem(at, (size_t)(end - at), word, strlen(word))) != NULL)
        found = at++;
    return found;
}

bool terminal_marks_pastes(void)
{
    return terminal.pastes;
}

void terminal_notice_modes(const char *data, size_t size)
{
    const char *on = memrmem(data, size, "\033[?2004h"), *off = memrmem(data, size, "\033[?2004l");
    if (on || off)
        terminal.pastes = on > off;
    terminal.keys |= memmem(data, size, "\033[>4;", 5) != NULL;
    terminal.kitty |= memmem(data, size, "\033[=", 3) != NULL;
    terminal.scheme |= memmem(data, size, "\033[?2031h", 8) != NULL;
    terminal.shape |= memmem(data, size, " q", 2) != NULL;
    on = memrmem(data, size, WHEEL "h");
    off = memrmem(data, size, WHEEL "l");
    if (on || off || memmem(data, size, "\033[?1000l", 8))
        terminal.wheel = on > off;
    const char *coloured = memrmem(data, size, "\033]12;rgb:"),
               *own = memrmem(data, size, OWN_CURSOR);
    if (coloured || own)
        terminal.cursor = coloured > own;
}

bool terminal_reports_wheel(void)
{
    return terminal.wheel;
}

bool terminal_cursor_coloured(void)
{
    return terminal.cursor;
}

void terminal_append_own_cursor(struct buf *out)
{
    if (terminal.cursor)
        buf_append_text(out, OWN_CURSOR);
    terminal.cursor = 0;
}

const sigset_t *terminal_wait_mask(void)
{
    BUG_UNLESS(terminal.opened); /* only then is the mask set */
    return &terminal.wait_mask;
}

void terminal_suspend(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, flag;
    sigset_t stop, before;
    BUG_UNLESS(terminal.opened);
    terminal_leave();
    terminal_stop = 0;
    sigaction(SIGTSTP, &usual, &flag);
    kill(0, SIGTSTP);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, &before); /* it stops here, and is continued here */
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGTSTP, &flag, NULL);
    terminal_continued = 0;
}
