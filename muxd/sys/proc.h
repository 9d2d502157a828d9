/* proc: what /proc tells about other processes, and signals that can't hit the wrong one. proc(5),
 * pidfd_open(2). */
#ifndef MUXD_SYS_PROC_H
#define MUXD_SYS_PROC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat { /* from /proc/PID/stat */
    pid_t pid, ppid, pgrp, session, tpgid;
    int tty_nr;
    char state; /* R S D T t Z … */
    uint64_t start_ticks; /* with pid, identifies a process for ever */
    int threads;
    char comm[32];
};
bool proc_stat(pid_t pid, struct proc_stat *out); /* false: gone or hidden */
/* the contents of a stat file, of a process or a thread */
bool proc_stat_parse(const char *text, struct proc_stat *out);
/* What a process uses: processor time with that of the children it has waited for, and memory that
 * is its own (no files, nothing shared). */
struct proc_usage {
    uint64_t cpu_ms, memory_bytes;
};
bool proc_usage(pid_t pid, struct proc_usage *out); /* false: gone or hidden */
/* Calls fn for every pid in /proc until it returns false: cheap, no file of the process is read.
 * False: /proc can't be opened. */
bool proc_each_pid(bool (*fn)(void *arg, pid_t pid), void *arg);
bool proc_shows_all(void); /* /proc is that of our own pid namespace, and hides no process */
pid_t proc_max_pid(void);  /* no process has a higher number */
/* Calls fn for every child of a process until it returns false; reads one file for each thread.
 * False: the kernel doesn't tell (CONFIG_PROC_CHILDREN). Exact only while no child is reaped
 * meanwhile. */
bool proc_children(pid_t pid, bool (*fn)(void *arg, pid_t pid), void *arg);
/* It is the first process of a pid namespace below ours. False: it is not, or can't be told. */
bool proc_begins_namespace(pid_t pid);
/* Calls fn for every process until it returns false. One pass over /proc, unordered; not for hot
 * paths. */
void proc_each(bool (*fn)(void *arg, const struct proc_stat *stat), void *arg);
/* The pid that was given out last in our pid namespace: ns_last_pid (proc_sys_kernel(5)), else
 * proc_loadavg(5); 0: unknown. Any thread. The file that it reads stays open. */
pid_t proc_last_pid(void);
int proc_open(const char *path, int flags); /* open(2), read-only and close-on-exec */
/* True: since the last call in this thread, a file could not be opened because no descriptor was
 * left. */
bool proc_was_blind(void);
bool proc_hides_others(void); /* /proc shows our own user's processes only (hidepid, proc(5)) */
/* the whole process; a first thread that has ended is a zombie while other threads run */
bool proc_is_dead(const struct proc_stat *stat);
/* a process, not a thread, that has not ended; true also when that can't be told */
bool proc_lives(pid_t pid);
/* Its command line, else its name; printable ASCII. size: at least 33. */
void proc_command(pid_t pid, char *out, size_t size);
int proc_pidfd(pid_t pid); /* pidfd_open(2); -1 with errno */
int proc_signal(int pidfd, int signo); /* pidfd_send_signal(2); 0 or -errno */
/* Signals a group, only while the leader's pidfd proves that the number is not reused; refuses
 * pgrp <= 1. 0 or -errno. */
int proc_signal_group(int leader_pidfd, pid_t pgrp, int signo);
#endif
