/* learned: the prompt of a program of which the kernel can't tell whether it waits for input: after
 * waits have ended by silence with the same bytes behind the last line end, these are enough. */
#ifndef MUXD_SESSION_LEARNED_H
#define MUXD_SESSION_LEARNED_H
#include "session/readiness.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct session;

#define LEARNED_BYTES 256 /* of a prompt, at most */

struct learned { /* zeroed: nothing */
    char prompt[LEARNED_BYTES];
    size_t size;      /* of the prompt that was seen last; 0: none */
    unsigned seen;    /* how often in a row */
    pid_t foreground; /* the process group that has printed it; another one has another prompt */
    unsigned mark;    /* the write whose answer was counted last: each counts once */
    unsigned enters;  /* line ends typed since the program was last ready */
    uint64_t told_at; /* what was printed when it was taken for ready; 0: it was not, or has been
                       * typed into since */
};

/* This was given to the program. */
void learned_typed(struct session *session, const char *data, size_t size);
/* A wait has ended by silence. */
void learned_silence(struct session *session);
/* The program waits for input, whatever that was known by. */
void learned_ready(struct session *session);
/* SHOWN_PROMPT: the prompt that was learned, and only one line was typed since the program was last
 * ready. */
enum shown learned_shows(struct session *session);
/* It was taken for ready. */
void learned_told(struct session *session);
/* Output has come: behind a prompt that was enough it shows that this one is none. */
void learned_output(struct session *session);
#endif
