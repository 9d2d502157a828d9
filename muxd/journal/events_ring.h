/* events_ring: the bounded ring of events: a memfd that outlives the worker, with records under
 * numbers that never go back. When it is full the oldest go. For parts/events. */
#ifndef MUXD_JOURNAL_EVENTS_RING_H
#define MUXD_JOURNAL_EVENTS_RING_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

#define EVENTS_NAME_ROOM 72
#define EVENTS_MISSED_UNKNOWN UINT64_MAX

/* as it lies in the ring, followed by its text; fixed, because a successor reads it */
struct event_record {
    /* bytes with the text and padding to a multiple of 8; EVENTS_FILLER: all bytes up to the ring's
     * end */
    uint32_t size;
    uint16_t type;
    uint16_t filled;
    uint32_t text_size, reserved;
    uint64_t seq, session, from, to; /* from, to: offsets of the output that the event is about */
    char name[EVENTS_NAME_ROOM];     /* of the session at that time */
};
#define EVENTS_FILLER 0xffff

struct events_cursor { /* zero it, then set seq to the first wanted */
    uint64_t seq, at;
};

struct events_ring;
/* bytes: of records, brought into 16 KiB to 1 GiB. 0 and *out is the caller's, or ERR_SYSTEM. */
int events_ring_new(struct events_ring **out, size_t bytes, struct err *err);
/* Takes over a predecessor's memfd. Broken records are dropped, and the numbers go on. ERR_SYSTEM:
 * it is no ring of events; fd stays the caller's. */
int events_ring_adopt(struct events_ring **out, int fd, struct err *err);
void events_ring_free(struct events_ring *ring);           /* NULL is fine */
int events_ring_fd(const struct events_ring *ring);        /* borrowed */
uint64_t events_ring_next(const struct events_ring *ring); /* the next record's number */
/* Numbers the record and returns the number. A text that is too large for the ring is left out. */
uint64_t events_ring_add(struct events_ring *ring, const struct event_record *record,
                         const char *text);
/* The next record and its text, both borrowed until the next add; NULL at the end. *missed: how
 * many numbers from cursor->seq on are gone; EVENTS_MISSED_UNKNOWN: an earlier daemon gave that
 * number, and all that this ring holds follows. */
const struct event_record *events_ring_read(const struct events_ring *ring,
                                            struct events_cursor *cursor, const char **text,
                                            uint64_t *missed);
/* Words that the owner keeps with the ring. */
enum events_word { EVENTS_WANTED, EVENTS_HANDED, EVENTS_OUTPUT_SINCE, EVENTS_WORDS = 8 };
uint64_t events_ring_word(const struct events_ring *ring, enum events_word which);
void events_ring_set_word(struct events_ring *ring, enum events_word which, uint64_t value);
#endif
