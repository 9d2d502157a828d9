/* readiness: when to look whether a session's program waits for input, and on what evidence. It
 * looks only while it is armed: soon after output pauses and after a write, then more and more
 * rarely. */
#ifndef MUXD_SESSION_READINESS_H
#define MUXD_SESSION_READINESS_H
#include "sys/loop.h"
#include <stdbool.h>
#include <sys/types.h>

enum evidence {
    EVIDENCE_NONE,
    /* raw mode, and nothing but its terminal can make it go on (or it left raw mode, came back and
     * printed) */
    EVIDENCE_LINE_EDITOR,
    EVIDENCE_LINE_READ, /* a plain read of a line */
    EVIDENCE_SECRET,    /* a read of a line that is not echoed */
    EVIDENCE_QUIET,     /* the kernel can't tell; it was silent for raw_quiet_ms */
    EVIDENCE_PROMPT,    /* it can't; the program sleeps, and shows a prompt that was learned */
    EVIDENCE_PATTERN,   /* ready_pattern of the config; never given by readiness itself */
    EVIDENCE_MARKS      /* the kernel can't tell; the program has marked its prompt */
};
enum waiting_for { WAITING_NONE, WAITING_LINE, WAITING_KEY, WAITING_SECRET };

enum shown {
    SHOWN_OTHER,  /* no prompt is known, or something else stands there */
    SHOWN_PROMPT, /* a prompt that is known, printed since the last write */
    SHOWN_BLANK   /* a prompt is known, and nothing stands there since the last write */
};

struct readiness_config {
    int raw_quiet_ms; /* [defaults] raw_quiet */
    bool confined;    /* the program runs in a sandbox: tty_watch_new */
    /* What stands in the last line, as far as prompts are known; with the arg of readiness_fn.
     * NULL: none is. */
    enum shown (*shows)(void *arg);
};

struct readiness;
/* Called from a timer of the loop; readiness is disarmed by then. May arm it again or free it. */
typedef void readiness_fn(void *arg, enum evidence evidence, enum waiting_for waiting_for);

/* master is borrowed and must stay open until readiness_free or readiness_leader_gone; leader: the
 * session's program. */
struct readiness *readiness_new(struct loop *loop, int master, pid_t leader,
                                const struct readiness_config *config, readiness_fn *fn, void *arg);
void readiness_free(struct readiness *readiness); /* NULL is fine */
/* fn is called once, as soon as the program waits for input, never from inside this call. While it
 * is armed already: starts over. */
void readiness_arm(struct readiness *readiness);
void readiness_disarm(struct readiness *readiness);
void readiness_mark(struct readiness *readiness);   /* just before each write to the master */
/* and that write had a key that sends a signal, as ^C */
void readiness_interrupt(struct readiness *readiness);
void readiness_output(struct readiness *readiness); /* output came */
/* the program says so in its output: tty_watch_editor */
void readiness_editor(struct readiness *readiness, bool reads);
/* Its output has ended with the mark of a prompt, or no longer does; a write ends it, too. Where
 * the kernel can't tell, that is enough. */
void readiness_prompted(struct readiness *readiness, bool prompted);
/* The answer that fn got holds, as nothing was written since: tty_watch_believed. */
void readiness_believe(struct readiness *readiness);
bool readiness_editor_began(const struct readiness *readiness); /* and nothing was written since */
/* While input waits in the session's own queue the program is not ready: fn is not called. */
void readiness_hold(struct readiness *readiness, bool held);
/* one look, now; NONE: it computes, or it can't be told */
enum waiting_for readiness_state(struct readiness *readiness);
/* never ready from now on; the master is no longer used */
void readiness_leader_gone(struct readiness *readiness);
/* "line", "key", "secret", or NULL for NONE */
const char *waiting_for_word(enum waiting_for waiting_for);
#endif
