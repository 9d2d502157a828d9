/* tty_state: does the program behind this PTY wait for its input? The kernel tells; it is never
 * guessed from text (terminal modes and foreground group from the master, syscall, wchan,
 * schedstat). A look costs some 15 us and never blocks. Afterwards only the cache of the foreground
 * group holds descriptors. */
#ifndef MUXD_SYS_TTY_STATE_H
#define MUXD_SYS_TTY_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum tty_wait {
    TTY_BUSY, /* it computes, or this can't be told yet */
    /* not canonical, and asleep in a read, select, poll or epoll: waits for a key or an edited
     * line */
    TTY_KEY,
    TTY_LINE,   /* canonical, with echo: reads a plain line */
    TTY_SECRET, /* canonical, without echo: reads a secret */
    /* hidden from us (set-id, another uid, Yama, no wchan): only silence can tell. See .why */
    TTY_UNKNOWN
};

struct tty_look { /* the result of one look */
    enum tty_wait wait;
    bool canonical, echo;
    /* TTY_KEY that is sure: the program can go on only when the terminal has input (its call and
     * descriptors say so); or only time can, too, and it has left raw mode since the mark, come
     * back and printed; or it says that its line editor reads. Else it may compute in raw mode:
     * only silence can tell. */
    bool line_editor;
    bool ran;                /* the foreground process has run since the mark, or is another one */
    bool needs_confirmation; /* settle_us > 0 */
    /* the look must stay the same this long: there are threads, other members at work, or a wait
     * with a time limit */
    unsigned settle_us;
    bool typed_unread;       /* typed bytes still lie in the kernel */
    bool output_unread;      /* the program's output still lies in the master */
    pid_t foreground;        /* process group */
    pid_t reader;            /* the member of the group that waits; 0: unknown */
    uint64_t run_count;      /* of all threads of the group, to compare two looks */
    /* Of a reader that also waits for other things: time after which it goes on by itself, as
     * tty_limit has it. */
    int64_t limit_ns;
    bool others_work;        /* members other than the reader; settle_us counts in their time */
    uint64_t others_cpu_ns;  /* processor time so far of all members but the reader */
    int64_t listed_ns;       /* when the members were listed: sums of two lists say nothing */
    const char *why;         /* static text for TTY_UNKNOWN */
};

struct tty_watch; /* what is remembered about one PTY between looks: marks, cached group members */
/* master is borrowed; confined: the leader is in a sandbox, or holds its program in one */
struct tty_watch *tty_watch_new(int master, pid_t leader, bool confined);
void tty_watch_free(struct tty_watch *watch);              /* NULL is fine */
/* To be called before a write: notes run counts and modes, so that later looks can tell what
 * happened since. */
void tty_watch_mark(struct tty_watch *watch);
/* a key that sends a signal was written since the mark */
void tty_watch_interrupt(struct tty_watch *watch);
void tty_watch_output(struct tty_watch *watch); /* output of the program was read */
/* The program has asked for bracketed paste, or ended it: line editors do so when they begin to
 * read a line and when they have it (readline, zle, fish, reline, prompt_toolkit, python's; xterm
 * ctlseqs, mode 2004). To be called in the order of the output. */
void tty_watch_editor(struct tty_watch *watch, bool reads);
bool tty_watch_editor_began(const struct tty_watch *watch); /* since the mark */
/* found: the last look is taken as the answer. believed: nothing has contradicted it, so the place
 * where its reader slept is one where this program waits for input. A mark in between takes found
 * back. */
void tty_watch_found(struct tty_watch *watch);
void tty_watch_believed(struct tty_watch *watch);
void tty_watch_look(struct tty_watch *watch, struct tty_look *look);
/* no TIOCGPTPEER any more; every look is TTY_BUSY from now on */
void tty_watch_leader_gone(struct tty_watch *watch);
/* Tried once at start, on a PTY and a child of our own: "kernel" or "degraded (why)"; static text.
 * *is_known (may be NULL) false: "unknown (why)", a limit prevented the test, and the next call
 * tries again. */
const char *tty_state_selftest(bool *is_known);
void tty_state_assume(const char *answer); /* the result of a predecessor's test; copied */
#endif
