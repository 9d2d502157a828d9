/* responder: the replies to a program's queries of its terminal. An unknown query gets no reply, as
 * from any terminal. No fd, no clock. Sources: xterm ctlseqs, DEC STD 070, the kitty keyboard
 * protocol. */
#ifndef MUXD_TERM_RESPONDER_H
#define MUXD_TERM_RESPONDER_H
#include "base/buf.h"
#include "term/colours.h"
#include "term/scan.h"
#include "wire/profile.h"
#include <stdbool.h>
#include <stdint.h>

struct responder_facts {
    uint64_t modes;            /* modes.h; as they are at the query's place in the output */
    bool scheme_told;          /* ?2031 is set */
    /* the terminal of the person who types; NULL, and for what it doesn't tell: defaults */
    const struct profile *profile;
    const struct colours *colours; /* those that the program has set; NULL: none */
    /* The terminal's size and its cursor, from 1. Called only when the reply needs them; false: not
     * known, and there is no reply. */
    bool (*size)(void *arg, int *rows, int *cols);
    bool (*cell)(void *arg, int *height, int *width); /* in pixels */
    bool (*cursor)(void *arg, int *row, int *col);
    int (*mode)(void *arg, int mode); /* screen_report; NULL: the modes tell */
    void *arg;
};

/* Appends the reply to seq. False, and out is unchanged: seq is no known query, or the reply does
 * not fit out. A sequence may ask for much: its reply has at most RESPONDER_MOST bytes. */
#define RESPONDER_MOST 8192
bool responder_answer(struct buf *out, const struct scan_seq *seq,
                      const struct responder_facts *facts);
/* The reply to ?996, also sent when the scheme changes. */
bool responder_report_scheme(struct buf *out, enum profile_scheme scheme);
#endif
