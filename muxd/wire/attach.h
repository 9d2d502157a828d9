/* attach: the frames of a connection that shows a session: after the answer to `attach` the
 * connection carries these both ways, and no lines any more. One byte of type, four bytes of length
 * (little endian), the payload. */
#ifndef MUXD_WIRE_ATTACH_H
#define MUXD_WIRE_ATTACH_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

enum attach_type {
    /* from the client */
    ATTACH_INPUT = 'i', /* bytes that a person typed */
    /* the same behind eight bytes of a number that no other frame has; answered with ATTACH_TYPED.
     * Sent again after a restart of the daemon, it is typed only if it was not before */
    ATTACH_KEYS = 'y',
    ATTACH_RESIZE = 's', /* "ROWSxCOLS" of its terminal */
    /* everything anew: the terminal shows something else; answered with ATTACH_ANEW before the
     * drawing */
    ATTACH_REDRAW = 'r',
    ATTACH_TAKE = 't', /* takes the keyboard */
    ATTACH_GIVE = 'g', /* gives it back */
    /* what its terminal is (wire/outer.h): programs that ask theirs are answered with it while it
     * is typed into */
    ATTACH_TERMINAL = 'q',
    ATTACH_DETACH = 'd', /* it leaves */
    /* from the daemon */
    /* bytes for the terminal; one drawing at most, never cut inside a sequence */
    ATTACH_OUTPUT = 'o',
    ATTACH_TYPED = 'y',  /* the number of an ATTACH_KEYS: typed, or refused with a notice */
    ATTACH_ANEW = 'a',   /* the next drawing begins with an empty terminal */
    ATTACH_NOTICE = 'n', /* a line for the person, UTF-8 */
    ATTACH_STATUS = 'k', /* a JSON object: who has the keyboard now; unknown members are ignored */
    ATTACH_END = 'e'     /* a JSON object: what became of the session; the last frame */
};

/* The keys of wire/attach.def. */
struct attach_key {
    char key;         /* 0: the prefix key itself */
    const char *keys; /* as people read it; NULL ends the list */
    const char *help;
};
enum attach_key_id {
#define ATTACH_KEY(ident, ...) ATTACH_KEY_##ident,
#include "wire/attach.def"
    ATTACH_KEY_COUNT
};
extern const struct attach_key attach_keys[ATTACH_KEY_COUNT + 1]; /* after the prefix key */
extern const struct attach_key attach_view_keys[];                /* in the scrolled view */

#define ATTACH_HEADER 5
#define ATTACH_NUMBER 8 /* bytes, in the order that the client likes */
#define ATTACH_PAYLOAD_MAX (256u << 10)

/* size is at most ATTACH_PAYLOAD_MAX. False: out's max. */
bool attach_append(struct buf *out, enum attach_type type, const void *data, size_t size);
struct attach_frame {
    int type;         /* whatever came */
    const char *data; /* borrowed */
    size_t size;
};
/* The frame at the beginning of data. Bytes it takes; 0: more are needed; -1: longer than
 * ATTACH_PAYLOAD_MAX. */
long attach_next(const char *data, size_t size, struct attach_frame *frame);
#endif
