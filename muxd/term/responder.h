/* responder: the answers to what a program asks its terminal. What is not known gets none, as from
 * any terminal. No fd, no clock. Sources: xterm ctlseqs, DEC STD 070, the kitty keyboard
 * protocol. */
#ifndef MUXD_TERM_RESPONDER_H
#define MUXD_TERM_RESPONDER_H
#include "base/buf.h"
#include "term/scan.h"
#include "wire/outer.h"
#include <stdbool.h>
#include <stdint.h>

struct responder_facts {
    uint64_t modes;            /* see modes.h, as they are where the query stands */
    bool scheme_told;          /* ?2031 is set */
    /* the terminal of who types; NULL: nobody's. What it doesn't say is as for nobody */
    const struct outer *outer;
    /* The terminal's size, and where its cursor is there, from 1. Asked only when the answer needs
     * them; false: not known, then nothing is answered. */
    bool (*size)(void *arg, int *rows, int *cols);
    bool (*cell)(void *arg, int *height, int *width); /* in pixels */
    bool (*cursor)(void *arg, int *row, int *col);
    void *arg;
};

/* Appends the answer to seq; false: it asks nothing that we know, or the answer did not fit out
 * (which is as before then). One sequence may ask much: its answer is at most RESPONDER_MOST
 * bytes. */
#define RESPONDER_MOST 8192
bool responder_answer(struct buf *out, const struct scan_seq *seq,
                      const struct responder_facts *facts);
/* The answer to ?996, which also tells of a change. */
bool responder_report_scheme(struct buf *out, enum outer_scheme scheme);
#endif
