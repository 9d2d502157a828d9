/* tty_state: does the program behind this PTY wait for its input? Asked from the kernel, never
 * guessed from text (terminal modes and foreground group from the master, syscall, wchan,
 * schedstat). A look costs some 15 us and never blocks; it holds nothing open afterwards but what
 * the cache of the foreground group needs. */
#ifndef MUXD_SYS_TTY_STATE_H
#define MUXD_SYS_TTY_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum tty_wait {
    TTY_BUSY, /* it computes, or it can't be told yet */
    /* canonical mode off and asleep in a read, select, poll or epoll: waits for a key or an edited
     * line */
    TTY_KEY,
    TTY_LINE,   /* canonical, echoes: a plain line read */
    TTY_SECRET, /* canonical, no echo: a secret */
    /* hidden from us (set-id, other uid, Yama, no wchan): only silence can tell. See .why */
    TTY_UNKNOWN
};

struct tty_look { /* the result of one look */
    enum tty_wait wait;
    bool canonical, echo;
    /* TTY_KEY that is sure: it can go on only when the terminal has input (its call and descriptors
     * say so), or it left raw mode since the mark, came back and printed, or it has said itself
     * that its line editor reads. Without it the program may compute in raw mode: only silence can
     * tell. */
    bool line_editor;
    bool ran;                /* the foreground process has run since the mark, or is another one */
    bool needs_confirmation; /* settle_us > 0 */
    /* so long the look must stay the same: threads, others in the group at work, a wait with a time
     * limit */
    unsigned settle_us;
    bool typed_unread;       /* typed bytes still lie in the kernel */
    bool output_unread;      /* the program's output still lies in the master */
    pid_t foreground;        /* process group */
    pid_t reader;            /* the member of the group that waits, 0 unknown */
    uint64_t run_count;      /* of all its threads, to compare two looks */
    /* how long those at work had a processor so far: settle_us is of that time; 0: nobody works, or
     * not known */
    uint64_t others_cpu_ns;
    const char *why;         /* static text for TTY_UNKNOWN */
};

struct tty_watch; /* what is remembered about one PTY between looks: marks, cached group members */
struct tty_watch *tty_watch_new(int master, pid_t leader); /* master is borrowed */
void tty_watch_free(struct tty_watch *watch);              /* NULL is fine */
/* Before a write: notes run counts and modes, so that later looks can tell what happened since. */
void tty_watch_mark(struct tty_watch *watch);
/* what was written since the mark has a key that sends a signal */
void tty_watch_interrupt(struct tty_watch *watch);
void tty_watch_output(struct tty_watch *watch); /* output of the program was read */
/* The program has asked for bracketed paste, or ended it: line editors do so when they begin to
 * read a line and when they have it (readline, zle, fish, reline, prompt_toolkit, python's; xterm
 * ctlseqs, mode 2004). To be called in the order of the output. */
void tty_watch_editor(struct tty_watch *watch, bool reads);
bool tty_watch_editor_began(const struct tty_watch *watch); /* since the mark */
/* The last look is taken for an answer; and: nothing was found that speaks against it, so where its
 * reader slept is where this program waits for input. A mark in between takes the first back. */
void tty_watch_found(struct tty_watch *watch);
void tty_watch_believed(struct tty_watch *watch);
void tty_watch_look(struct tty_watch *watch, struct tty_look *look);
/* no more TIOCGPTPEER, everything is TTY_BUSY from now on */
void tty_watch_leader_gone(struct tty_watch *watch);
/* Tried once at start on an own PTY with an own child: "kernel", or "degraded (why)"; static text.
 * is_known (may be NULL) false: "unknown (why)", it could not be tried for a limit, and the next
 * call tries again. */
const char *tty_state_selftest(bool *is_known);
void tty_state_assume(const char *answer); /* what a predecessor's test has found; copied */
#endif
