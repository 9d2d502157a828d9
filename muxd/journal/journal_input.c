/* journal_input: owns the input queue: what was accepted and is not typed yet. */
#include "base/bug.h"
#include "base/mem.h"
#include "journal/journal.h"
#include "journal/journal_map.h"
#include <string.h>

static size_t queued(const struct journal *journal)
{
    return journal_in_head(journal) - journal_in_tail(journal);
}

size_t journal_input_free(const struct journal *journal)
{
    return journal->header->kept_size ? 0 : journal->header->input_size - queued(journal);
}

bool journal_input_append(struct journal *journal, const void *data, size_t size)
{
    struct journal_header *header = journal->header;
    uint64_t head = journal_in_head(journal);
    BUG_UNLESS(queued(journal) <= header->input_size);
    if (size > journal_input_free(journal))
        return false;
    if (size == 0)
        return true;
    char *area = journal_input_area(journal);
    if (!area)
        return false;
    memcpy(area + head % header->input_size, data, size);
    atomic_store_explicit(&header->in_head, head + size, memory_order_release);
    return true;
}

const char *journal_input_view(const struct journal *journal, size_t *size)
{
    const char *area = queued(journal) ? journal_input_area(journal) : NULL;
    *size = area ? queued(journal) : 0;
    return area ? area + journal_in_tail(journal) % journal->header->input_size : NULL;
}

static void give_back(struct journal *journal)
{
    const struct journal_header *header = journal->header;
    journal_punch(journal, header->input_at, header->input_size);
    journal->input_kept = journal_in_tail(journal);
}

void journal_input_typed(struct journal *journal, size_t size, bool wipe)
{
    struct journal_header *header = journal->header;
    uint64_t tail = journal_in_tail(journal), page = journal_page_size();
    BUG_UNLESS(size <= queued(journal));
    if (size == 0)
        return;
    atomic_store_explicit(&header->in_tail, tail + size, memory_order_release);
    /* After the advance: a kill between the two must not make the successor type zeros. */
    char *area = wipe ? journal_input_area(journal) : NULL;
    if (area)
        mem_wipe(area + tail % header->input_size, size);
    /* Punching a hole for each typed key would cost more than the typing. */
    if (queued(journal) == 0 && (tail + size) / page != journal->input_kept / page)
        give_back(journal);
}

void journal_trim(struct journal *journal)
{
    if (journal->input && queued(journal) == 0 && journal_in_tail(journal) != journal->input_kept)
        give_back(journal);
}

void journal_input_drop(struct journal *journal)
{
    if (queued(journal) == 0)
        return;
    atomic_store_explicit(&journal->header->in_tail, journal_in_head(journal),
                          memory_order_release);
    give_back(journal);
}
