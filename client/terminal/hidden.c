/* hidden: owns the terminal's settings while a secret is typed, and the memory of the secret. */
#include "client/terminal/hidden.h"
#include "base/fdio.h"
#include "base/mem.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

#define PAGE_BYTES 4096
static_assert(HIDDEN_MAX <= PAGE_BYTES, "a line fits the memory of hidden_new");
static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU};
#define CAUGHT (sizeof caught / sizeof *caught)
/* The first of them are delivered only while we wait for a key; the others come from read and
 * tcsetattr themselves (termios(3)). */
#define HELD 5

static volatile sig_atomic_t came;

static void hidden_on_signal(int signo)
{
    came = signo;
}

void hidden_no_dump(void)
{
    const struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0); /* core(5): a core_pattern with a pipe disregards the limit */
}

char *hidden_new(void)
{
    char *line = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (line == MAP_FAILED)
        return NULL;
    mlock(line, PAGE_BYTES); /* may not be allowed; hidden_free wipes it in any case */
    madvise(line, PAGE_BYTES, MADV_DONTDUMP);
    return line;
}

void hidden_free(char *line)
{
    if (!line)
        return;
    mem_wipe(line, PAGE_BYTES);
    munmap(line, PAGE_BYTES);
}

/* Reads one line, byte by byte, so that it takes nothing behind it. Returns its length, or -1 with
 * errno (ENODATA: the input ended first). mask: for ppoll(2) before each byte; NULL: only reads. */
static long read_line(int fd, char *line, const sigset_t *mask)
{
    struct pollfd key = {.fd = fd, .events = POLLIN};
    size_t len = 0;
    for (;;) {
        char byte;
        ssize_t n = mask && ppoll(&key, 1, NULL, mask) < 0 ? -1 : read(fd, &byte, 1);
        if (n < 0)
            return -1;
        if (n == 0 && len == 0) {
            errno = ENODATA;
            return -1;
        }
        if (n == 0 || byte == '\n' || byte == '\r')
            return (long)len;
        if (len == HIDDEN_MAX) {
            errno = EMSGSIZE;
            return -1;
        }
        line[len++] = byte;
    }
}

static long hidden_failed(struct err *err, const char *what)
{
    if (errno == EMSGSIZE)
        return err_set(err, ERR_TOO_LARGE, "a secret has at most %d bytes; this is longer",
                       HIDDEN_MAX);
    if (errno == EINTR)
        return err_set(err, ERR_CANCELLED, "interrupted");
    if (errno == ENODATA)
        return err_set(err, ERR_CANCELLED, "no secret was given");
    return err_set(err, ERR_SYSTEM, "'%s' can't be read: %s", what, strerror(errno));
}

/* One attempt: -1 with EINTR when a signal came. */
static long ask_once(int fd, const char *prompt, char *line)
{
    struct sigaction action = {.sa_handler = hidden_on_signal}, old[CAUGHT];
    struct termios plain, hidden;
    sigset_t held, mask;
    if (tcgetattr(fd, &plain) < 0)
        return -1;
    hidden = plain;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    hidden.c_lflag |= ICANON | ISIG;
    hidden.c_iflag |= ICRNL;
    came = 0;
    sigemptyset(&held);
    for (size_t i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], &action, &old[i]);
        if (i < HELD)
            sigaddset(&held, caught[i]);
    }
    long len = -1;
    if (tcsetattr(fd, TCSAFLUSH, &hidden) == 0) {
        fd_write_all(fd, prompt, strlen(prompt));
        sigprocmask(SIG_BLOCK, &held, &mask);
        if (!came)
            len = read_line(fd, line, &mask);
        sigprocmask(SIG_SETMASK, &mask, NULL);
    }
    int saved = errno;
    fd_write_all(fd, "\n", 1);
    tcsetattr(fd, TCSAFLUSH, &plain);
    for (size_t i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &old[i], NULL);
    errno = came ? EINTR : saved; /* also for a signal that came with the last key */
    return came ? -1 : len;
}

long hidden_ask(const char *prompt, char *line, struct err *err)
{
    int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_USAGE, "no terminal to read a secret from; give it with --stdin");
    long len;
    while ((len = ask_once(fd, prompt, line)) < 0 && errno == EINTR) {
        int signo = came;
        if (signo != SIGTSTP && signo != SIGTTIN && signo != SIGTTOU && signo != 0) {
            fd_close(&fd);
            return err_set(err, ERR_CANCELLED, "no secret was given");
        }
        mem_wipe(line, HIDDEN_MAX);
        if (signo)
            raise(signo); /* stops here, and asks again when ue is continued */
    }
    if (len < 0)
        len = hidden_failed(err, "/dev/tty");
    fd_close(&fd);
    return len;
}

long hidden_read_from(int fd, const char *what, const sigset_t *mask, char *line, struct err *err)
{
    long len = read_line(fd, line, mask);
    return len < 0 ? hidden_failed(err, what) : len;
}

long hidden_read(char *line, struct err *err)
{
    long len;
    do
        len = read_line(STDIN_FILENO, line, NULL);
    while (len < 0 && errno == EINTR);
    return len < 0 ? hidden_failed(err, "standard input") : len;
}
