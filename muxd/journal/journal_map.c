/* journal_map: owns the layout and the mappings of a journal's memfd. */
#include "journal/journal_map.h"
#include "base/bug.h"
#include "base/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t journal_page_size(void)
{
    static uint64_t page;
    if (!page)
        page = (uint64_t)sysconf(_SC_PAGESIZE);
    return page;
}

uint64_t journal_round(uint64_t size)
{
    uint64_t page = journal_page_size();
    return (size + page - 1) / page * page;
}

struct journal_layout journal_lay_out(const struct journal_header *header)
{
    struct journal_layout layout = {.strings_at = sizeof *header};
    layout.early_at = layout.strings_at + header->strings_size;
    layout.ring_at = journal_round(layout.early_at);
    layout.early_size = layout.ring_at - layout.early_at;
    layout.head_at = layout.ring_at + header->ring_size;
    layout.input_at = layout.head_at + header->head_size;
    layout.index_at = layout.input_at + header->input_size;
    layout.log_at = layout.index_at + header->index_size;
    layout.total_size = layout.log_at + header->log_size;
    return layout;
}

static void *map_at(void *where, uint64_t size, int fd, uint64_t at)
{
    return mmap(where, size, PROT_READ | PROT_WRITE, MAP_SHARED | (where ? MAP_FIXED : 0), fd,
                (off_t)at);
}

/* Maps `lead` bytes before the region once and the region twice, in a row. */
static char *map_twice(int fd, uint64_t lead, uint64_t at, uint64_t size)
{
    uint64_t whole = lead + 2 * size;
    char *base = map_at(NULL, whole, fd, at - lead); /* also reserves the place of the second one */
    if (base == MAP_FAILED)
        return NULL;
    const char *again = map_at(base + lead + size, size, fd, at);
    if (again == MAP_FAILED) {
        int saved = errno;
        munmap(base, whole);
        errno = saved;
        return NULL;
    }
    return base;
}

int journal_map(struct journal *journal, const struct journal_layout *layout, uint64_t ring_size,
                bool early)
{
    BUG_UNLESS(journal->fd >= 0 && (!early || layout->early_size >= JOURNAL_EARLY_MIN));
    char *base = map_twice(journal->fd, layout->ring_at, layout->ring_at, ring_size);
    if (!base)
        return -errno;
    journal->header = (struct journal_header *)(void *)base;
    journal->strings = base + layout->strings_at;
    journal->ring = base + (early ? layout->early_at : layout->ring_at);
    journal->early = early ? (uint32_t)layout->early_size : 0;
    return 0;
}

void journal_unmap(struct journal *journal)
{
    const struct journal_header *header = journal->header;
    if (!header)
        return;
    if (journal->head_area)
        munmap(journal->head_area, header->head_size);
    if (journal->input)
        munmap(journal->input, 2 * header->input_size);
    if (journal->kept)
        munmap(journal->kept, header->input_size);
    if (journal->index)
        munmap(journal->index, header->index_size);
    if (journal->log)
        munmap(journal->log, header->log_size);
    munmap(journal->header, header->ring_at + 2 * header->ring_size);
    journal->header = NULL;
}

static void *no_mapping(const char *what)
{
    static bool told;
    if (!told)
        log_error("'%s': can't map this part of a journal: %s; raise vm.max_map_count or end some "
                  "sessions",
                  what, strerror(errno));
    told = true;
    return NULL;
}

/* The lazy mappings are a cache beside the contents, so a const journal gets them too. */
static struct journal *writable(const struct journal *journal)
{
    union { const struct journal *from; struct journal *to; } cast = {.from = journal};
    return cast.to;
}

char *journal_head_area(const struct journal *journal)
{
    const struct journal_header *header = journal->header;
    if (!journal->head_area && header->head_size) {
        void *area = map_at(NULL, header->head_size, journal->fd, header->head_at);
        if (area == MAP_FAILED)
            return no_mapping("head area");
        writable(journal)->head_area = area;
    }
    return journal->head_area;
}

char *journal_input_area(const struct journal *journal)
{
    const struct journal_header *header = journal->header;
    if (!journal->input && header->input_size) {
        char *area = map_twice(journal->fd, 0, header->input_at, header->input_size);
        if (!area)
            return no_mapping("input queue");
        writable(journal)->input = area;
    }
    return journal->input;
}

char *journal_kept_areas(const struct journal *journal)
{
    const struct journal_header *header = journal->header;
    if (!journal->kept && header->kept_size) {
        void *areas = map_at(NULL, header->input_size, journal->fd, header->input_at);
        if (areas == MAP_FAILED)
            return no_mapping("ends of both streams");
        writable(journal)->kept = areas;
    }
    return journal->kept;
}

_Atomic uint64_t *journal_index(const struct journal *journal)
{
    const struct journal_header *header = journal->header;
    if (!journal->index && header->index_size) {
        void *area = map_at(NULL, header->index_size, journal->fd, header->index_at);
        if (area == MAP_FAILED)
            return no_mapping("index of streams");
        writable(journal)->index = area;
    }
    return journal->index;
}

void *journal_log_area(const struct journal *journal, size_t *size)
{
    const struct journal_header *header = journal->header;
    *size = header->log_size;
    if (!journal->log && header->log_size) {
        void *area = map_at(NULL, header->log_size, journal->fd, header->log_at);
        if (area == MAP_FAILED)
            return no_mapping("input log");
        writable(journal)->log = area;
    }
    return journal->log;
}

void journal_punch(const struct journal *journal, uint64_t at, uint64_t size)
{
    int rc;
    BUG_UNLESS(at % journal_page_size() == 0 && at + size <= journal->header->total_size);
    do
        rc = fallocate(journal->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
                       (off_t)size);
    while (rc != 0 && errno == EINTR);
    if (rc != 0)
        log_warn("session %llu: can't give memory of its journal back: %s",
                 (unsigned long long)journal->header->number, strerror(errno));
}
