/* tty_thread: where one thread sleeps, as seen from one terminal. /proc/PID/task/TID/syscall
 * tells; the descriptors of a select, poll or epoll are looked up in the sleeper. Where that
 * file is closed to us, wchan tells less. */
#ifndef MUXD_SYS_TTY_THREAD_H
#define MUXD_SYS_TTY_THREAD_H
#include "sys/tty_limit.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum tty_sleep {
    TTY_SLEEP_GONE,      /* the thread has ended */
    TTY_SLEEP_RUNNING,   /* on a processor, or about to be */
    TTY_SLEEP_ELSEWHERE, /* asleep, but not for this terminal */
    TTY_SLEEP_HIDDEN,    /* asleep, and the kernel won't tell where */
    /* waits for this terminal and for another machine perhaps, or this can't be told */
    TTY_SLEEP_REMOTE,
    TTY_SLEEP_MIXED, /* waits for this terminal and for other things of this machine */
    TTY_SLEEP_TIMED, /* waits for this terminal and for a time, for nothing else */
    /* can go on only when this terminal has input: a read, or a select or poll of it alone without
     * a time limit */
    TTY_SLEEP_ONLY
};

struct tty_thread {
    pid_t pid, tid;
    int where_fd, sched_fd; /* owned; -1: not open */
    bool by_wchan;          /* where_fd is wchan, not syscall */
    enum tty_sleep sleep;
    uint64_t runs;          /* how often it has got a processor */
    uint64_t cpu_ns;        /* how long it has had one in all; 0: unknown */
    char where[208];        /* the text of where_fd, to compare two looks */
};

void tty_thread_init(struct tty_thread *thread, pid_t pid, pid_t tid); /* opens nothing yet */
/* the next look opens the files again */
void tty_thread_close(struct tty_thread *thread);
bool tty_thread_is_open(const struct tty_thread *thread);
/* Fills in sleep, runs and where. slave: device number of the terminal, which must be the thread's
 * controlling one. */
void tty_thread_look(struct tty_thread *thread, dev_t slave);
/* Looks again without decoding: true when it has neither run nor moved since. */
bool tty_thread_unchanged(struct tty_thread *thread);
/* R S D T … of proc_pid_stat(5); 0: unknown */
char tty_thread_state(const struct tty_thread *thread);
/* Stands for the call in which the thread sleeps, where it was made, and its near time limit. Two
 * looks with the same place found the thread at the same point of its program, at the same depth.
 * 0: unknown. */
uint64_t tty_thread_place(const struct tty_thread *thread);
/* of the call in which it sleeps; UNKNOWN too where the kernel hides the call */
struct tty_limit tty_thread_limit(const struct tty_thread *thread);
bool tty_thread_count_runs(struct tty_thread *thread); /* reads runs only; false: it is gone */
#endif
