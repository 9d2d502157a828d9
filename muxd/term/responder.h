/* responder: the answers to what a program asks its terminal, where no terminal of a person answers. What is not known gets none,
 * as from any terminal. No fd, no clock. Sources: xterm ctlseqs, DEC STD 070, the kitty keyboard protocol. */
#ifndef MUXD_TERM_RESPONDER_H
#define MUXD_TERM_RESPONDER_H
#include "base/buf.h"
#include "term/scan.h"
#include <stdbool.h>
#include <stdint.h>

struct responder_facts {
    uint64_t modes; /* see modes.h, as they are where the query stands */
    /* The terminal's size, and where its cursor is there, from 1. Asked only when the answer needs them; false: not known, then
     * nothing is answered. */
    bool (*size)(void *arg, int *rows, int *cols);
    bool (*cursor)(void *arg, int *row, int *col);
    void *arg;
};

/* Appends the answer to seq; false: it asks nothing that we know, or the answer did not fit out (which is as before then). One
 * sequence may ask much: its answer is at most RESPONDER_MOST bytes. */
#define RESPONDER_MOST 8192
bool responder_answer(struct buf *out, const struct scan_seq *seq, const struct responder_facts *facts);
#endif
