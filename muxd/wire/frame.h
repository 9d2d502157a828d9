/* frame: bytes of a stream into lines, with a cap on the line. One owner: the connection. It costs
 * no memory while nothing is unread. A line is lent out of the buffer it was read into and holds
 * until the next call with the same frame. */
#ifndef MUXD_WIRE_FRAME_H
#define MUXD_WIRE_FRAME_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

struct frame {
    char *data;      /* owned; NULL while nothing is unread */
    size_t len, cap; /* bytes in use, allocated */
    size_t start;    /* where the next line begins */
    size_t scanned;  /* no newline before this one, from the start of data */
    size_t max_line; /* bytes a line may have, its newline not counted */
    bool skipping;   /* in the rest of a line that was too long and has been reported */
};

void frame_init(struct frame *frame, size_t max_line_bytes); /* of a line without its newline */
void frame_fini(struct frame *frame); /* safe on a zeroed one */
/* Room to read(2) into, at least 4 KiB; *size is set. Then tell with frame_filled how many bytes
 * came (0 is fine). */
char *frame_room(struct frame *frame, size_t *size);
void frame_filled(struct frame *frame, size_t size);
void frame_feed(struct frame *frame, const void *data, size_t size); /* the same with a copy */
/* 1: *line and *len are set (without newline, never blank); 0: more bytes are needed;
 * ERR_TOO_LARGE: a line went over the cap: told once, the rest of that line is dropped, the lines
 * behind it come as ever. Call it until it returns 0. */
int frame_next(struct frame *frame, const char **line, size_t *len, struct err *err);
/* At end of file: 1 when an unterminated line was left, lent as by frame_next; 0: nothing. */
int frame_eof(struct frame *frame, const char **line, size_t *len);
#endif
