/* tty_limit: how long a thread sleeps at most before it goes on by itself, as its call says. A
 * program that has set itself an alarm may not be waiting for its terminal alone. */
#ifndef MUXD_SYS_TTY_LIMIT_H
#define MUXD_SYS_TTY_LIMIT_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum tty_call {
    TTY_CALL_OTHER,
    TTY_CALL_EVENTS, /* it waits in an epoll set, as event loops do */
    TTY_CALL_WOKEN   /* another thread, or a signal, has to wake it: futex, sigwait */
};

struct tty_limit {
    enum tty_call call;
    int64_t ns; /* from the moment of the call, or what is left of it; -1: none; -2: unknown */
};
enum { TTY_LIMIT_NONE = -1, TTY_LIMIT_UNKNOWN = -2 };
/* An alarm that is worth waiting for; later ones are taken for the program's housekeeping. */
enum { TTY_LIMIT_SOON_NS = 2000000000 };
bool tty_limit_is_soon(int64_t limit_ns); /* it has one, and so near */

/* Decodes a line of /proc/PID/task/TID/syscall (proc_pid_syscall(5)); reads the time from the
 * sleeper's memory. What is no such line gives OTHER and UNKNOWN. */
struct tty_limit tty_limit_of(pid_t tid, const char *line);
#endif
