/* attach: the frames of a connection that shows a session: after the answer to `attach` the connection carries these both ways, and no
 * lines any more. One byte of type, four bytes of length (little endian), the payload. */
#ifndef MUXD_WIRE_ATTACH_H
#define MUXD_WIRE_ATTACH_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

enum attach_type {
    /* from the client */
    ATTACH_INPUT = 'i',  /* bytes that a person typed */
    ATTACH_RESIZE = 's', /* "ROWSxCOLS" of its terminal */
    ATTACH_REDRAW = 'r', /* everything anew: the terminal shows something else */
    ATTACH_DETACH = 'd', /* it leaves */
    /* from the daemon */
    ATTACH_OUTPUT = 'o', /* bytes for the terminal; one drawing at most, never cut inside a sequence */
    ATTACH_NOTICE = 'n', /* a line for the person, UTF-8 */
    ATTACH_END = 'e'     /* a JSON object: what became of the session; the last frame */
};

#define ATTACH_HEADER 5
#define ATTACH_PAYLOAD_MAX (256u << 10)

/* size is at most ATTACH_PAYLOAD_MAX. False: out's max. */
bool attach_append(struct buf *out, enum attach_type type, const void *data, size_t size);
struct attach_frame {
    int type;         /* whatever came */
    const char *data; /* borrowed */
    size_t size;
};
/* The frame at the beginning of data. Bytes it takes; 0: more are needed; -1: longer than ATTACH_PAYLOAD_MAX. */
long attach_next(const char *data, size_t size, struct attach_frame *frame);
#endif
