/* news_ring: the bounded ring of events: a memfd that outlives the worker, with records under
 * numbers that never go back. When it is full the oldest go. For parts/events. */
#ifndef MUXD_JOURNAL_NEWS_RING_H
#define MUXD_JOURNAL_NEWS_RING_H
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

#define NEWS_NAME_ROOM 72
#define NEWS_MISSED_UNKNOWN UINT64_MAX

/* as it lies in the ring, followed by its text; fixed, because a successor reads it */
struct news_record {
    /* bytes with the text and padding to a multiple of 8; NEWS_FILLER: all bytes up to the ring's
     * end */
    uint32_t size;
    uint16_t type;
    uint16_t filled;
    uint32_t text_size, reserved;
    uint64_t seq, session, from, to; /* from, to: offsets of the output that the event is about */
    char name[NEWS_NAME_ROOM];       /* of the session at that time */
};
#define NEWS_FILLER 0xffff

struct news_cursor { /* zero it, then set seq to the first wanted */
    uint64_t seq, at;
};

struct news_ring;
/* bytes: of records, brought into 16 KiB to 1 GiB. 0 and *out is the caller's, or ERR_SYSTEM. */
int news_ring_new(struct news_ring **out, size_t bytes, struct err *err);
/* Takes over a predecessor's memfd. Broken records are dropped, and the numbers go on. ERR_SYSTEM:
 * it is no ring of events; fd stays the caller's. */
int news_ring_adopt(struct news_ring **out, int fd, struct err *err);
void news_ring_free(struct news_ring *ring); /* NULL is fine */
int news_ring_fd(const struct news_ring *ring); /* borrowed */
uint64_t news_ring_next(const struct news_ring *ring); /* the next record's number */
/* Numbers the record and returns the number. A text that is too large for the ring is left out. */
uint64_t news_ring_add(struct news_ring *ring, const struct news_record *record, const char *text);
/* The next record and its text, both borrowed until the next add; NULL at the end. *missed: how
 * many numbers from cursor->seq on are gone; NEWS_MISSED_UNKNOWN: an earlier daemon gave that
 * number, and all that this ring holds follows. */
const struct news_record *news_ring_read(const struct news_ring *ring, struct news_cursor *cursor,
                                         const char **text, uint64_t *missed);
/* Words that the owner keeps with the ring. */
enum news_word { NEWS_WANTED, NEWS_HANDED, NEWS_OUTPUT_SINCE, NEWS_WORDS = 8 };
uint64_t news_ring_word(const struct news_ring *ring, enum news_word which);
void news_ring_set_word(struct news_ring *ring, enum news_word which, uint64_t value);
#endif
