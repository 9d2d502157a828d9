/* journal_index: owns the side index of pipe sessions: a ring of the beginnings of runs, each an
 * offset and a bit for the stream. A session that never wrote to stderr has no entry and no page of
 * it. */
#include "base/bug.h"
#include "journal/journal.h"
#include "journal/journal_map.h"

struct runs {
    const _Atomic uint64_t *entries;
    uint64_t slots, first, end; /* entries [first, end) are valid */
};

static uint64_t entry_at(const struct runs *runs, uint64_t i)
{
    return atomic_load_explicit(&runs->entries[i % runs->slots], memory_order_relaxed);
}

static uint64_t offset_of(uint64_t entry)
{
    return entry & ~JOURNAL_STDERR_BIT;
}

/* Before entry `count` is written: bytes whose stream only the oldest entries tell are kept, some
 * more at a time. */
static void keep_before(struct journal *journal, uint64_t count, uint64_t slots)
{
    struct runs runs = {.entries = journal->index, .slots = slots};
    uint64_t first = count + 1 > slots - 1 ? count + 1 - (slots - 1) : 0;
    if (first > 0 && journal_kept_end(journal) < offset_of(entry_at(&runs, first)))
        journal_keep_streams(journal, offset_of(entry_at(&runs, first + slots / 4)));
}

/* Reads one slot less than there are: the slot that is written next is never read, so a
 * half-written entry is never seen. */
static bool runs_init(struct runs *runs, const struct journal *journal)
{
    const struct journal_header *header = journal->header;
    runs->end = atomic_load_explicit(&header->index_head, memory_order_acquire);
    if (runs->end == 0 || !header->index_size)
        return false;
    runs->entries = journal_index(journal);
    runs->slots = header->index_size / sizeof *runs->entries;
    runs->first = runs->end > runs->slots - 1 ? runs->end - (runs->slots - 1) : 0;
    return runs->entries != NULL;
}

void journal_index_note(struct journal *journal, uint64_t at, bool is_stderr)
{
    struct journal_header *header = journal->header;
    uint64_t count = atomic_load_explicit(&header->index_head, memory_order_relaxed),
             fresh = at | (is_stderr ? JOURNAL_STDERR_BIT : 0);
    BUG_UNLESS(at == journal_head(journal) && at < JOURNAL_STDERR_BIT);
    if (count == 0 && !is_stderr)
        return;
    _Atomic uint64_t *entries = journal_index(journal);
    if (!entries)
        return;
    uint64_t slots = header->index_size / sizeof *entries;
    if (count > 0) {
        _Atomic uint64_t *last = &entries[(count - 1) % slots];
        if (((*last & JOURNAL_STDERR_BIT) != 0) == is_stderr)
            return;
        if (offset_of(*last) == at) { /* a predecessor died before it committed */
            atomic_store_explicit(last, fresh, memory_order_release);
            return;
        }
    }
    if (header->kept_size)
        keep_before(journal, count, slots);
    atomic_store_explicit(&entries[count % slots], fresh, memory_order_release);
    atomic_store_explicit(&header->index_head, count + 1, memory_order_release);
}

/* The first entry beyond offset `from`. The search ends whatever the entries hold. */
static uint64_t first_beyond(const struct runs *runs, uint64_t from)
{
    uint64_t low = runs->first, high = runs->end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (offset_of(entry_at(runs, middle)) <= from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void journal_streams(const struct journal *journal, uint64_t from, uint64_t to,
                     void (*fn)(void *arg, uint64_t from, uint64_t to, bool is_stderr), void *arg)
{
    struct runs runs;
    bool is_stderr = false;
    if (from >= to)
        return;
    journal_need(journal);
    if (runs_init(&runs, journal)) {
        uint64_t next = first_beyond(&runs, from);
        if (next > runs.first)
            is_stderr = entry_at(&runs, next - 1) & JOURNAL_STDERR_BIT;
        for (; next < runs.end && offset_of(entry_at(&runs, next)) < to; next++) {
            uint64_t entry = entry_at(&runs, next), at = offset_of(entry);
            bool stream = entry & JOURNAL_STDERR_BIT;
            if (stream == is_stderr || at < from)
                continue;
            if (at > from)
                fn(arg, from, at, is_stderr);
            from = at;
            is_stderr = stream;
        }
    }
    fn(arg, from, to, is_stderr);
}
