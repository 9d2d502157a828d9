/* journal_kept: owns the beginnings and ends of both streams of a pipe session, whatever the sizes.
 * Bytes come here when the ring or the index is about to lose them, in their order: the first
 * kept[0] + kept[1] bytes of output have been here, and each stream's area has its first kept_size
 * bytes, and its last ones in a small ring.
 *
 * One store of kept[] makes a piece count, when it has been copied. The ring of an area is larger
 * than what is read of it by one piece: a kill in the middle of a copy has overwritten only bytes
 * that nobody reads, and the successor copies the piece again. */
#include "base/bug.h"
#include "journal/journal.h"
#include "journal/journal_map.h"
#include <string.h>

#define PIECE_BYTES (64 * 1024)

static uint64_t journal_kept_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t end_ring_size(const struct journal *journal)
{
    return journal->header->kept_size + PIECE_BYTES;
}

uint64_t journal_kept_region(uint64_t kept_size)
{
    return kept_size ? 2 * (2 * kept_size + PIECE_BYTES) : 0;
}

uint64_t journal_kept_count(const struct journal *journal, bool is_stderr)
{
    return atomic_load_explicit(&journal->header->kept[is_stderr], memory_order_relaxed);
}

uint64_t journal_kept_end(const struct journal *journal)
{
    return journal_kept_count(journal, false) + journal_kept_count(journal, true);
}

static char *area_of(const struct journal *journal, bool is_stderr)
{
    char *areas = journal_kept_areas(journal);
    return areas ? areas + (is_stderr ? journal_kept_region(journal->header->kept_size) / 2 : 0)
                 : NULL;
}

static void keep_piece(struct journal *journal, char *area, const char *data, uint64_t size,
                       bool is_stderr)
{
    uint64_t at = journal_kept_count(journal, is_stderr), half = journal->header->kept_size,
             ring = end_ring_size(journal), place = at % ring,
             first = journal_kept_least(size, ring - place);
    if (at < half)
        memcpy(area + at, data, journal_kept_least(size, half - at));
    memcpy(area + half + place, data, first);
    memcpy(area + half, data + first, size - first);
    atomic_store_explicit(&journal->header->kept[is_stderr], at + size, memory_order_release);
}

static void keep_run(void *arg, uint64_t from, uint64_t to, bool is_stderr)
{
    struct journal *journal = arg;
    const struct journal_header *header = journal->header;
    char *area = header->kept_size ? area_of(journal, is_stderr) : NULL;
    while (area && from < to) {
        uint64_t size = journal_kept_least(to - from, PIECE_BYTES);
        keep_piece(journal, area, journal->ring + from % header->ring_size, size, is_stderr);
        from += size;
    }
    if (!area) /* no memory to map it: only the ring is left, as for other sessions */
        journal_kept_forget(journal->header);
}

void journal_keep_streams(struct journal *journal, uint64_t to)
{
    uint64_t from = journal_kept_end(journal);
    if (!journal->header->kept_size || from >= to)
        return;
    BUG_UNLESS(from >= journal_tail(journal) && to <= journal_head(journal));
    journal_streams(journal, from, to, keep_run, journal);
}

void journal_kept_forget(struct journal_header *header)
{
    header->kept_size = 0;
    atomic_store_explicit(&header->kept[0], 0, memory_order_relaxed);
    atomic_store_explicit(&header->kept[1], 0, memory_order_relaxed);
}

void journal_kept_copy(const struct journal *journal, bool is_stderr, uint64_t from, uint64_t to,
                       struct buf *out)
{
    uint64_t count = journal_kept_count(journal, is_stderr), half = journal->header->kept_size,
             ring = end_ring_size(journal);
    to = journal_kept_least(to, count);
    const char *area = from < to ? area_of(journal, is_stderr) : NULL;
    if (!area)
        return;
    if (from < half) {
        buf_append(out, area + from, journal_kept_least(to, half) - from);
        from = half;
    }
    if (count > half && from < count - half)
        from = count - half;
    while (from < to) {
        uint64_t place = from % ring, size = journal_kept_least(to - from, ring - place);
        buf_append(out, area + half + place, size);
        from += size;
    }
}
