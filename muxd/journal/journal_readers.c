/* journal_readers: owns the readers' cursors and the memory of requests that were done. */
#include "base/bug.h"
#include "journal/journal.h"
#include <stdio.h>
#include <string.h>

#define FNV_OFFSET UINT64_C(14695981039346656037) /* FNV-1a, draft-eastlake-fnv, section 5 */
#define FNV_PRIME UINT64_C(1099511628211)

uint64_t journal_hash(const char *request_id)
{
    uint64_t hash = FNV_OFFSET;
    for (const unsigned char *p = (const unsigned char *)request_id; *p; p++)
        hash = (hash ^ *p) * FNV_PRIME;
    return hash ? hash : 1;
}

/* A name that is too long keeps its beginning and gets its hash, so that two long names never share
 * a cursor. */
static void fit_name(char out[JOURNAL_READER_NAME_MAX + 1], const char *name)
{
    if (strlen(name) <= JOURNAL_READER_NAME_MAX)
        memcpy(out, name, strlen(name) + 1);
    else
        snprintf(out, JOURNAL_READER_NAME_MAX + 1, "%.14s~%016llx", name,
                 (unsigned long long)journal_hash(name));
}

static struct journal_reader *journal_readers_use(struct journal_header *header,
                                                  struct journal_reader *reader)
{
    reader->used = ++header->uses;
    return reader;
}

/* The slot for a new reader: a free one while there are fewer than limit, else the least recently
 * used. */
static struct journal_reader *slot_for_new(struct journal_header *header, unsigned limit)
{
    struct journal_reader *free_slot = NULL, *oldest = NULL;
    unsigned count = 1;
    BUG_UNLESS(limit > 0);
    for (size_t i = 1; i < JOURNAL_READERS; i++) {
        struct journal_reader *reader = &header->readers[i];
        if (!reader->name[0]) {
            if (!free_slot)
                free_slot = reader;
            continue;
        }
        count++;
        if (!oldest || reader->used < oldest->used)
            oldest = reader;
    }
    return free_slot && (count < limit || !oldest) ? free_slot : oldest;
}

bool journal_reader_replaces(struct journal *journal, const char *name, unsigned limit,
                             char out[JOURNAL_READER_NAME_MAX + 1])
{
    struct journal_header *header = journal->header;
    char wanted[JOURNAL_READER_NAME_MAX + 1];
    if (!name || !*name)
        return false;
    fit_name(wanted, name);
    for (size_t i = 1; i < JOURNAL_READERS; i++)
        if (strcmp(header->readers[i].name, wanted) == 0)
            return false;
    memcpy(out, slot_for_new(header, limit)->name, JOURNAL_READER_NAME_MAX + 1);
    return out[0] != '\0';
}

struct journal_reader *journal_reader(struct journal *journal, const char *name, unsigned limit)
{
    struct journal_header *header = journal->header;
    char wanted[JOURNAL_READER_NAME_MAX + 1];
    if (!name || !*name)
        return journal_readers_use(header, &header->readers[0]);
    fit_name(wanted, name);
    for (size_t i = 1; i < JOURNAL_READERS; i++)
        if (strcmp(header->readers[i].name, wanted) == 0)
            return journal_readers_use(header, &header->readers[i]);
    struct journal_reader *reader = slot_for_new(header, limit);
    __atomic_store_n(&reader->name[0], '\0', __ATOMIC_SEQ_CST); /* free until its cursor is set */
    atomic_store_explicit(&reader->cursor, 0, memory_order_release);
    memcpy(reader->name + 1, wanted + 1, sizeof wanted - 1);
    __atomic_store_n(&reader->name[0], wanted[0], __ATOMIC_RELEASE);
    return journal_readers_use(header, reader);
}

void journal_reader_move(struct journal *journal, struct journal_reader *reader, uint64_t to)
{
    uint64_t head = journal_head(journal);
    size_t slot = (size_t)(reader - journal->header->readers);
    BUG_UNLESS(slot < JOURNAL_READERS);
    atomic_store_explicit(&reader->cursor, to < head ? to : head, memory_order_release);
}

bool journal_request_done(const struct journal *journal, uint64_t id_hash, uint64_t *input_end)
{
    const struct journal_header *header = journal->header;
    for (size_t i = 0; id_hash && i < JOURNAL_REQUESTS; i++) {
        const struct journal_request *request = &header->requests[i];
        if (request->id_hash != id_hash || request->input_end > header->in_head)
            continue;
        if (input_end)
            *input_end = request->input_end;
        return true;
    }
    return false;
}

void journal_request_note(struct journal *journal, uint64_t id_hash, uint64_t input_end)
{
    struct journal_header *header = journal->header;
    uint64_t count = atomic_load_explicit(&header->requests_head, memory_order_relaxed);
    struct journal_request *request = &header->requests[count % JOURNAL_REQUESTS];
    BUG_UNLESS(id_hash != 0 && input_end >= journal_in_head(journal));
    __atomic_store_n(&request->id_hash, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&request->input_end, input_end, __ATOMIC_SEQ_CST);
    __atomic_store_n(&request->id_hash, id_hash, __ATOMIC_RELEASE);
    atomic_store_explicit(&header->requests_head, count + 1, memory_order_release);
}
