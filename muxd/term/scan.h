/* scan: finds the escape sequences in a program's output. It copies nothing and keeps no state: the
 * caller gives an incomplete sequence again with more of the output behind it, so the boundaries of
 * reads make no difference. Control characters of 8 bits are text (UTF-8). wire/ecma48.h says what
 * bytes mean, for this and for wire/tokens.c. The state machine of tokens.c looks at each byte;
 * scan goes over all output of all terminals, shown or not, and therefore at the speed of
 * memchr(3). Sources: ECMA-48 5.4, 5.6; xterm ctlseqs; the VT500 parser of vt100.net for what ends
 * a sequence early. */
#ifndef MUXD_TERM_SCAN_H
#define MUXD_TERM_SCAN_H
#include <stdbool.h>
#include <stddef.h>

#define SCAN_CSI_MAX 256     /* bytes of a control sequence; a longer one is ignored */
/* bytes of a control string; of a longer one only the beginning is told */
#define SCAN_STRING_MAX 4096

enum scan_kind {
    SCAN_ESC,   /* ESC, intermediates, final; also SS2 and SS3 */
    SCAN_CSI,
    SCAN_OSC,
    SCAN_DCS,
    SCAN_STRING, /* SOS, PM, APC, ESC k */
    SCAN_LONG    /* one of more than SCAN_STRING_MAX bytes begins; its contents follow */
};

struct scan_seq {
    enum scan_kind kind;
    char prefix;      /* CSI: one of < = > ?, else 0 */
    char inter;       /* ESC, CSI: the intermediate, 0 none, 0177 several */
    char final;       /* ESC, CSI */
    bool bel;         /* OSC: ended by BEL instead of ST */
    const char *text; /* CSI: the parameters; strings: the contents. Borrowed from data */
    size_t len;
};

/* The next complete sequence of data from *at on; *at moves behind it. False: there is none; the
 * next call, with more data, begins at *at: at size, or at the beginning of an unfinished sequence,
 * less than SCAN_STRING_MAX before it. */
bool scan_next(const char *data, size_t size, size_t *at, struct scan_seq *seq);

/* Moves *at over text and over sequences that only draw: control sequences without a private prefix
 * or an intermediate that set colours, move the cursor or erase. They are most of what programs
 * send, and neither ask nor set anything. scan_next goes on at *at. */
void scan_past_drawing(const char *data, size_t size, size_t *at);

/* The byte ends a control string, or may do so (BEL). */
bool scan_ends_string(char byte);

/* Parameters of a CSI: at most max, each at most 65535, -1 for an empty one; subparameters (behind
 * a colon) are left out. */
size_t scan_params(const struct scan_seq *seq, int *values, size_t max);
#endif
