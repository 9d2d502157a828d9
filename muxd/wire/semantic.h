/* semantic: the marks by which shells and REPLs tell where a prompt, an input line and a command's
 * output begin and end: OSC 133 (semantic prompts) and OSC 633, as muxd has them written. Bytes in,
 * marks out, split over any number of pieces. A mark counts only with the nonce of its session:
 *
 *     ESC ] 133|633 ; KIND ; ue=NONCE ; LEVEL [; VALUE] BEL|ESC \
 *
 * A prompt begins, A, and ends, B (e as VALUE of A: there is no C; m: a line that is not complete
 * stays in the editor without a mark); P: a prompt for more input has ended; C: output begins; D: a
 * command has ended, and VALUE is its status; E: VALUE is the command line; W: VALUE is the
 * directory, both with `\\` and `\xHH` for what could end the mark. LEVEL tells programs apart that
 * run one inside of another. C0 controls, or too many bytes, end what began like a mark; 8-bit
 * controls are never the beginning of one. No fd, no clock. */
#ifndef MUXD_WIRE_SEMANTIC_H
#define MUXD_WIRE_SEMANTIC_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEMANTIC_NONCE 32  /* hex digits */
#define SEMANTIC_MAX 16384 /* bytes of a mark; a longer one is none */
/* What a shell says that has read the line by which it was asked: OSC 133 ; I ; ue ; VALUE. It has
 * no nonce, as the line could be seen. */
#define SEMANTIC_ASKED 'I'

struct semantic_mark {
    char kind;         /* A B C D E P W, or SEMANTIC_ASKED */
    uint64_t from, to; /* where it stands in the output */
    uint64_t level;    /* 0: of SEMANTIC_ASKED */
    const char *value; /* borrowed during the call; never NULL */
    size_t size;
};

struct semantic { /* zeroed, with a nonce: at the beginning */
    char nonce[SEMANTIC_NONCE + 1];
    enum { SEMANTIC_GROUND, SEMANTIC_ESCAPE, SEMANTIC_STRING, SEMANTIC_STRING_ESCAPE } state;
    uint64_t at;     /* of the next byte */
    uint64_t from;   /* of the ESC of what may be a mark */
    struct buf kept; /* owned; semantic_fini */
};
typedef void semantic_fn(void *arg, const struct semantic_mark *mark);

/* The bytes at offset `at`; bytes that are missing before it end what began. */
void semantic_feed(struct semantic *semantic, uint64_t at, const char *data, size_t size,
                   semantic_fn *fn, void *arg);
/* Where the bytes begin that may become a mark; the offset of the next byte: nowhere. */
uint64_t semantic_settled(const struct semantic *semantic);
void semantic_fini(struct semantic *semantic);
/* Takes the marks of that nonce out of the text, and what SEMANTIC_ASKED says. Returns how many
 * bytes at its end may become a mark; they stay. */
size_t semantic_strip(struct buf *text, const char *nonce);
/* A value as it was before it was made fit for a mark. */
void semantic_unescape(struct buf *out, const char *value, size_t size);
#endif
