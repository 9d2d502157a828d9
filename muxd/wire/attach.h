/* attach: the frames of a connection that shows a session. After the answer to `attach` the
 * connection carries frames in both directions, and no more lines. A frame is one byte of type,
 * four bytes of length (little endian) and the payload. */
#ifndef MUXD_WIRE_ATTACH_H
#define MUXD_WIRE_ATTACH_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

/* Stands in the text of a notice for the client's prefix key, which only the client knows. */
#define ATTACH_PREFIX '\020'
enum attach_type {
    /* from the client */
    ATTACH_INPUT = 'i', /* bytes that a person typed */
    /* typed bytes behind a number of eight bytes that no other frame has; answered with
     * ATTACH_TYPED. When the client sends the frame again after a restart of the daemon, the daemon
     * types it only if it has not been typed before */
    ATTACH_KEYS = 'y',
    ATTACH_RESIZE = 's', /* "ROWSxCOLS" of its terminal */
    /* asks for a complete drawing, since its terminal shows something else; answered with
     * ATTACH_ANEW before the drawing */
    ATTACH_REDRAW = 'r',
    ATTACH_TAKE = 't', /* takes the keyboard */
    ATTACH_GIVE = 'g', /* gives the keyboard back */
    /* the profile of its terminal (wire/profile.h), with which the daemon replies to the queries of
     * programs while this terminal is typed on */
    ATTACH_TERMINAL = 'q',
    ATTACH_DETACH = 'd', /* it leaves */
    /* from the daemon */
    /* bytes for the terminal; at most one drawing, never cut inside a sequence */
    ATTACH_OUTPUT = 'o',
    ATTACH_TYPED = 'y',  /* the number of an ATTACH_KEYS that was typed, or refused with a notice */
    ATTACH_ANEW = 'a',   /* the next drawing begins with an empty terminal */
    ATTACH_NOTICE = 'n', /* a line for the person, UTF-8; ATTACH_PREFIX is the prefix key */
    /* a JSON object: the keyboard's holder now; notice_row: the row of the terminal, from 1, where
     * the next notice covers nothing that matters; prompt_first, prompt_last: the rows of the
     * cursor's line, which no notice may cover. Ignore unknown members */
    ATTACH_STATUS = 'k',
    ATTACH_END = 'e'     /* a JSON object: how the session ended; the last frame */
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
#define ATTACH_NUMBER 8 /* bytes of the number, in an order of the client's choice */
#define ATTACH_PAYLOAD_MAX (256u << 10)

/* size: at most ATTACH_PAYLOAD_MAX. False: it doesn't fit below out's max. */
bool attach_append(struct buf *out, enum attach_type type, const void *data, size_t size);
struct attach_frame {
    int type;         /* as it came, perhaps unknown */
    const char *data; /* borrowed */
    size_t size;
};
/* Reads the frame at the beginning of data. Returns the bytes that it takes; 0: more bytes are
 * needed; -1: it is longer than ATTACH_PAYLOAD_MAX. */
long attach_next(const char *data, size_t size, struct attach_frame *frame);
#endif
