/* frame: cuts the bytes of a stream into lines, with a cap on the line. One owner: the
 * connection. It takes no memory while nothing is unread. A line is borrowed from the buffer
 * into which it was read, until the next call with the same frame. */
#ifndef MUXD_WIRE_FRAME_H
#define MUXD_WIRE_FRAME_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

struct frame {
    char *data;      /* owned; NULL while nothing is unread */
    size_t len, cap; /* bytes in use, allocated */
    size_t start;    /* where the next line begins */
    size_t scanned;  /* there is no newline from start to here; start <= scanned <= len <= cap */
    size_t max_line; /* bytes that a line may have without its newline */
    bool skipping;   /* in the rest of a line that was too long and has been reported */
};

void frame_init(struct frame *frame, size_t max_line_bytes);
void frame_fini(struct frame *frame); /* safe on a zeroed one */
/* Room to read(2) into, at least 4 KiB; sets *size. Then call frame_filled with the number of bytes
 * that came (0 is fine). */
char *frame_room(struct frame *frame, size_t *size);
void frame_filled(struct frame *frame, size_t size);
void frame_feed(struct frame *frame, const void *data, size_t size); /* the same with a copy */
/* 1: *line and *len are set (without newline, never blank); 0: more bytes are needed;
 * ERR_TOO_LARGE: a line is over the cap. That is reported once, and *line and *len are what was
 * read of it; the rest of the line is dropped, and the next lines come as usual. Call it until it
 * returns 0. */
int frame_next(struct frame *frame, const char **line, size_t *len, struct err *err);
/* At end of file. 1: a line without a newline was left, borrowed as by frame_next; 0: nothing. */
int frame_eof(struct frame *frame, const char **line, size_t *len);
#endif
