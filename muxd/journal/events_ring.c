/* events_ring: owns the memfd of the events. The order of writing makes each state true in which a
 * worker may die: it makes room, writes the record, moves the head, then sets the next number. */
#include "journal/events_ring.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/limit.h"
#include "base/mem.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING_MAGIC 0x7377656eU /* "news" */
#define RING_VERSION 1
#define HEADER_BYTES 4096
#define RING_MIN 16384
#define RING_MAX (1u << 30)
#define SALVAGE_STEP 1000 /* numbers skipped when the last one given is not known */

struct ring_header {
    uint32_t magic, version;
    uint64_t size;
    _Atomic uint64_t head, tail; /* absolute offsets of bytes; tail is always at a record */
    _Atomic uint64_t next;
    _Atomic uint64_t words[EVENTS_WORDS];
};

struct events_ring {
    int fd;
    struct ring_header *header;
    char *data;
};

static_assert(sizeof(struct event_record) == 120, "a successor of another build reads it");
static_assert(sizeof(struct ring_header) <= HEADER_BYTES, "the data begin behind it");

static int map(struct events_ring *ring, size_t size)
{
    char *base = mmap(NULL, HEADER_BYTES + size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (base == MAP_FAILED)
        return -1;
    ring->header = (struct ring_header *)(void *)base;
    ring->data = base + HEADER_BYTES;
    return 0;
}

static int events_ring_fail(struct events_ring *ring, struct err *err, const char *what)
{
    int error = errno;
    events_ring_free(ring);
    return limit_err(err, ERR_SYSTEM, LIMIT_SESSION, error, "no room for events: %s", what);
}

int events_ring_new(struct events_ring **out, size_t bytes, struct err *err)
{
    size_t size = (bytes < RING_MIN   ? RING_MIN
                   : bytes > RING_MAX ? RING_MAX
                                      : bytes) &
                  ~(size_t)(HEADER_BYTES - 1);
    struct events_ring *ring = xcalloc(1, sizeof *ring);
    ring->fd = memfd_create("muxd-events", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (ring->fd < 0 || ftruncate(ring->fd, (off_t)(HEADER_BYTES + size)) != 0 ||
        fcntl(ring->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return events_ring_fail(ring, err, "memfd_create");
    if (map(ring, size) < 0)
        return events_ring_fail(ring, err, "mmap");
    ring->header->version = RING_VERSION;
    ring->header->size = size;
    atomic_store(&ring->header->next, 1);
    __atomic_store_n(&ring->header->magic, RING_MAGIC, __ATOMIC_RELEASE);
    *out = ring;
    return 0;
}

static const struct event_record *record_at(const struct events_ring *ring, uint64_t at)
{
    return (const struct event_record *)(const void *)(ring->data + at % ring->header->size);
}

/* Bytes of the record or filler at `at`; 0: the bytes there are no record. */
static uint64_t span(const struct events_ring *ring, uint64_t at, uint64_t head)
{
    uint64_t to_end = ring->header->size - at % ring->header->size;
    const struct event_record *record = record_at(ring, at);
    uint64_t size = record->size;
    if (record->type == EVENTS_FILLER)
        return size == to_end && at + size <= head ? size : 0;
    bool sound = size >= sizeof *record && size % 8 == 0 && size <= to_end && at + size <= head &&
                 record->text_size <= size - sizeof *record &&
                 memchr(record->name, '\0', sizeof record->name);
    return sound ? size : 0;
}

/* Walks all records: the newest number in them gives the next one, in case the worker died just
 * before it wrote that. */
static void mend(struct events_ring *ring)
{
    struct ring_header *header = ring->header;
    uint64_t head = header->head, at = header->tail, next = header->next, last = 0;
    bool broken = head < at || head - at > header->size || head % 8 != 0 || at % 8 != 0 ||
                  next == 0 || next > INT64_MAX / 4 || head > INT64_MAX / 4;
    while (!broken && at < head) {
        uint64_t size = span(ring, at, head);
        const struct event_record *record = record_at(ring, at);
        /* a filler may be too short to have a number; behind it the mapping ends */
        bool filler = record->type == EVENTS_FILLER;
        broken = size == 0 || (!filler && (record->seq == 0 || record->seq > next ||
                                           (last && record->seq != last + 1)));
        last = filler || broken ? last : record->seq;
        at += size;
    }
    if (broken) {
        header->head = header->tail = 0;
        header->next = next == 0 || next > INT64_MAX / 4 ? SALVAGE_STEP : next + SALVAGE_STEP;
    } else if (last >= next) {
        header->next = last + 1;
    }
}

int events_ring_adopt(struct events_ring **out, int fd, struct err *err)
{
    struct stat st = {.st_size = 0};
    struct events_ring *ring = xcalloc(1, sizeof *ring);
    int seals = fcntl(fd, F_GET_SEALS);
    ring->fd = fd;
    bool fits = seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 &&
                st.st_size >= HEADER_BYTES + RING_MIN &&
                st.st_size <= HEADER_BYTES + (off_t)RING_MAX &&
                map(ring, (size_t)st.st_size - HEADER_BYTES) == 0;
    if (fits && ring->header->magic == RING_MAGIC && ring->header->version == RING_VERSION &&
        ring->header->size == (uint64_t)st.st_size - HEADER_BYTES) {
        mend(ring);
        *out = ring;
        return 0;
    }
    ring->fd = -1;
    if (ring->header)
        munmap(ring->header, (size_t)st.st_size);
    free(ring);
    return err_set(err, ERR_SYSTEM,
                   "the events of the previous worker can't be read; their numbers start at 1");
}

void events_ring_free(struct events_ring *ring)
{
    if (!ring)
        return;
    if (ring->header)
        munmap(ring->header, HEADER_BYTES + ring->header->size);
    fd_close(&ring->fd);
    free(ring);
}

int events_ring_fd(const struct events_ring *ring)
{
    return ring->fd;
}

uint64_t events_ring_next(const struct events_ring *ring)
{
    return ring->header->next;
}

static void events_ring_make_room(struct events_ring *ring, uint64_t bytes)
{
    struct ring_header *header = ring->header;
    BUG_UNLESS(bytes <= header->size && header->tail <= header->head);
    while (header->head + bytes - header->tail > header->size) {
        uint32_t size = record_at(ring, header->tail)->size;
        BUG_UNLESS(size > 0 && header->tail + size <= header->head);
        atomic_store(&header->tail, header->tail + size);
    }
}

uint64_t events_ring_add(struct events_ring *ring, const struct event_record *given,
                         const char *text)
{
    struct ring_header *header = ring->header;
    struct event_record record = *given;
    BUG_UNLESS(record.type != EVENTS_FILLER && memchr(record.name, '\0', sizeof record.name));
    if (sizeof record + record.text_size > header->size / 4)
        record.text_size = 0;
    record.size = (uint32_t)((sizeof record + record.text_size + 7) & ~(size_t)7);
    record.seq = header->next;
    uint64_t at = header->head, to_end = header->size - at % header->size;
    if (to_end < record.size) { /* a record never goes over the end */
        events_ring_make_room(ring, to_end);
        struct event_record *filler = (struct event_record *)(void *)(ring->data +
                                                                      at % header->size);
        filler->size = (uint32_t)to_end;
        filler->type = EVENTS_FILLER;
        at += to_end;
        atomic_store(&header->head, at);
    }
    events_ring_make_room(ring, record.size);
    char *to = ring->data + at % header->size;
    memcpy(to, &record, sizeof record);
    if (record.text_size > 0)
        memcpy(to + sizeof record, text, record.text_size);
    atomic_store(&header->head, at + record.size);
    atomic_store(&header->next, record.seq + 1);
    return record.seq;
}

const struct event_record *events_ring_read(const struct events_ring *ring,
                                            struct events_cursor *cursor, const char **text,
                                            uint64_t *missed)
{
    const struct ring_header *header = ring->header;
    uint64_t head = header->head, tail = header->tail;
    *missed = 0;
    if (cursor->at < tail || cursor->at > head)
        cursor->at = tail;
    /* an earlier daemon gave that number: give all that this ring holds */
    if (cursor->seq > header->next) {
        cursor->seq = 0;
        cursor->at = tail;
        *missed = EVENTS_MISSED_UNKNOWN;
    }
    while (cursor->at < head) {
        const struct event_record *record = record_at(ring, cursor->at);
        BUG_UNLESS(record->size > 0 && record->size <= head - cursor->at);
        cursor->at += record->size;
        if (record->type == EVENTS_FILLER || record->seq < cursor->seq)
            continue;
        if (cursor->seq > 0 && record->seq > cursor->seq)
            *missed = record->seq - cursor->seq;
        cursor->seq = record->seq + 1;
        *text = (const char *)(record + 1);
        return record;
    }
    return NULL;
}

uint64_t events_ring_word(const struct events_ring *ring, enum events_word which)
{
    return ring->header->words[which];
}

void events_ring_set_word(struct events_ring *ring, enum events_word which, uint64_t value)
{
    atomic_store(&ring->header->words[which], value);
}
