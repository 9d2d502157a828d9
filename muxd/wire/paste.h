/* paste: where a bracketed paste begins and ends in a stream of keys (xterm ctlseqs: CSI 200 ~ and
 * CSI 201 ~). What is between them is text and no key. */
#ifndef MUXD_WIRE_PASTE_H
#define MUXD_WIRE_PASTE_H
#include <stdbool.h>
#include <stddef.h>

#define PASTE_END "\033[201~"

struct paste {        /* zero it */
    bool open;        /* begun and not ended */
    unsigned matched; /* bytes of the next mark that have come */
};

/* Reads data up to and with the next mark, which sets open; returns the bytes read. A mark may come
 * in pieces. */
size_t paste_next(struct paste *paste, const char *data, size_t size);
void paste_feed(struct paste *paste, const char *data, size_t size); /* all of data */
#endif
