/* journal_ring: owns the output bytes: the ring, what of it is saved to the head area, and the
 * views of both. */
#include "base/bug.h"
#include "journal/journal.h"
#include "journal/journal_map.h"
#include <string.h>

static uint64_t journal_ring_load(const _Atomic uint64_t *field)
{
    return atomic_load_explicit(field, memory_order_relaxed);
}

static void store(_Atomic uint64_t *field, uint64_t value)
{
    atomic_store_explicit(field, value, memory_order_release);
}

/* The head area holds the byte at offset o in place o % head_size: it gives up its oldest bytes
 * without moving the others. */
static void copy_to_area(const struct journal *journal, char *area, uint64_t from, uint64_t to)
{
    const struct journal_header *header = journal->header;
    while (from < to) {
        uint64_t at = from % header->head_size, size = header->head_size - at;
        if (size > to - from)
            size = to - from;
        memcpy(area + at, journal->ring + from % header->ring_size, size);
        from += size;
    }
}

/* Before the ring loses [tail, new_tail): saves of it what lies within head_size bytes of the
 * default reader's cursor. Once a byte behind the saved ones is gone, they stay until that reader
 * is past them. */
static void save_lost(struct journal *journal, uint64_t tail, uint64_t new_tail)
{
    struct journal_header *header = journal->header;
    uint64_t cursor = journal_ring_load(&header->readers[0].cursor),
             from = journal_ring_load(&header->saved_from),
             end = from + journal_ring_load(&header->saved_len);
    if (header->head_size == 0 || cursor >= new_tail)
        return;
    if (from == end || cursor >= end) {
        store(&header->saved_len, 0);
        from = end = cursor > tail ? cursor : tail;
        store(&header->saved_from, from);
    } else if (end != tail) {
        return;
    }
    BUG_UNLESS(end - from <= header->head_size);
    uint64_t stop = (cursor > from ? cursor : from) + header->head_size;
    if (stop > new_tail)
        stop = new_tail;
    char *area = stop > end ? journal_head_area(journal) : NULL;
    if (!area)
        return;
    /* First the beginning, then the length: journal_adopt.c repairs what a kill between them
     * leaves. */
    if (stop - from > header->head_size) {
        from = stop - header->head_size;
        store(&header->saved_from, from);
        store(&header->saved_len, end - from);
    }
    copy_to_area(journal, area, end, stop);
    store(&header->saved_len, stop - from);
}

/* `early` changes when all bytes are copied: a kill before leaves the early area in use. */
void journal_leave_early(struct journal *journal)
{
    struct journal_header *header = journal->header;
    if (!journal->early)
        return;
    BUG_UNLESS(journal_ring_load(&header->out_head) <= journal->early);
    char *ring = (char *)header + header->ring_at;
    memcpy(ring, journal->ring, journal_ring_load(&header->out_head));
    atomic_store_explicit(&header->early, 0, memory_order_release);
    journal->ring = ring;
    journal->early = 0;
}

bool journal_may_commit(const struct journal *journal, uint64_t size)
{
    return size <= journal->header->ring_size / 2 &&
           (!journal->early ||
            size <= journal->early - journal_ring_load(&journal->header->out_head));
}

char *journal_space(struct journal *journal, size_t want, size_t *size)
{
    struct journal_header *header = journal->header;
    uint64_t head = journal_ring_load(&header->out_head),
             tail = journal_ring_load(&header->out_tail);
    BUG_UNLESS(tail <= head && head - tail <= header->ring_size);
    if (journal->early && want > journal->early - head)
        journal_leave_early(journal);
    *size = want < header->ring_size / 2 ? want : header->ring_size / 2;
    uint64_t new_tail = head + *size > header->ring_size ? head + *size - header->ring_size : 0;
    if (new_tail > tail) {
        journal_keep_streams(journal, new_tail);
        save_lost(journal, tail, new_tail);
        store(&header->out_tail, new_tail);
    }
    return journal->ring + head % header->ring_size;
}

void journal_commit(struct journal *journal, size_t size, bool from_stderr)
{
    struct journal_header *header = journal->header;
    uint64_t head = journal_ring_load(&header->out_head);
    BUG_UNLESS(journal_may_commit(journal, size));
    if (size == 0)
        return;
    if (header->index_size)
        journal_index_note(journal, head, from_stderr);
    store(&header->out_head, head + size);
}

static const char *view_saved(const struct journal *journal, uint64_t from, uint64_t end,
                              size_t *size)
{
    const struct journal_header *header = journal->header;
    const char *area = journal_head_area(journal);
    uint64_t at = from % header->head_size, piece = header->head_size - at;
    *size = piece < end - from ? piece : end - from;
    return area ? area + at : NULL;
}

const char *journal_view(const struct journal *journal, uint64_t *from, size_t *size)
{
    const struct journal_header *header = journal->header;
    journal_need(journal);
    uint64_t head = journal_ring_load(&header->out_head),
             tail = journal_ring_load(&header->out_tail);
    uint64_t saved = journal_ring_load(&header->saved_from),
             saved_end = saved + journal_ring_load(&header->saved_len);
    if (saved_end > tail)
        saved_end = tail;
    if (saved < saved_end && *from < saved_end) {
        if (*from < saved)
            *from = saved;
        const char *piece = view_saved(journal, *from, saved_end, size);
        if (piece)
            return piece;
    }
    if (*from < tail)
        *from = tail;
    *size = *from < head ? head - *from : 0;
    return *size ? journal->ring + *from % header->ring_size : NULL;
}
