/* unmarked: a session's output as its programs meant it: without the marks that muxd had them write
 * (wire/semantic.h), so that a pattern sees what a person would. Indexes count the bytes that are
 * left, offsets all bytes of the output. */
#ifndef MUXD_SESSION_UNMARKED_H
#define MUXD_SESSION_UNMARKED_H
#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

struct session;

struct unmarked { /* zeroed: nothing was looked at */
    const char *data; /* borrowed until the next look, or the end of the turn */
    size_t size;      /* of data */
    uint64_t base;    /* the offset of its first byte */
    size_t raw;       /* bytes of the output that it was made of */
    bool last;        /* they go up to the head */
    bool ended;       /* no byte will follow them */
    struct buf text;  /* owned; empty where there was no mark */
    struct unmarked_cut *cuts; /* owned */
    size_t count, room;
};

/* Looks at the output from that offset on, or from where the journal has it. A mark that is not
 * complete is left for the next look. False: there is nothing. */
bool unmarked_look(struct unmarked *unmarked, struct session *session, uint64_t from);
/* The offset of the byte with this index; of the end of data: of the byte that will follow. */
uint64_t unmarked_offset(const struct unmarked *unmarked, size_t index);
/* The offset behind the byte before this index. */
uint64_t unmarked_end(const struct unmarked *unmarked, size_t index);
/* The index of the first byte at that offset or behind it. */
size_t unmarked_index(const struct unmarked *unmarked, uint64_t offset);
void unmarked_fini(struct unmarked *unmarked);
#endif
