/* tty_wait: what a blocked system call waits for, and whether one terminal is the only thing that
 * can end it. */
#ifndef MUXD_SYS_TTY_WAIT_H
#define MUXD_SYS_TTY_WAIT_H
#include "sys/tty_thread.h"
#include <stddef.h>
#include <sys/types.h>

enum tty_wait_source {
    TTY_SOURCE_NONE,    /* closed, or hidden from us */
    TTY_SOURCE_TTY,     /* the terminal */
    TTY_SOURCE_NEUTRAL, /* a pipe, eventfd, signalfd and the like: how a program wakes itself */
    TTY_SOURCE_OTHER,   /* a local socket, another terminal, a device */
    TTY_SOURCE_REMOTE   /* a socket that may lead to another machine */
};
enum tty_wait_source tty_wait_source(pid_t tid, int fd, dev_t slave);

enum tty_wait_place { TTY_PLACE_NONE, TTY_PLACE_READ, TTY_PLACE_POLL, TTY_PLACE_ELSEWHERE };
enum tty_wait_place tty_wait_place(const char *wchan); /* NONE: "0" or empty, running or hidden */

/* Copies from the memory of a process that we may trace; false: it can't be read. */
bool tty_wait_memory(pid_t tid, unsigned long at, void *data, size_t size);
/* Decodes a line of /proc/PID/task/TID/syscall (proc_pid_syscall(5)); reads the sleeper's poll set
 * from its memory. */
enum tty_sleep tty_wait_decode(pid_t tid, const char *line, dev_t slave);
#endif
