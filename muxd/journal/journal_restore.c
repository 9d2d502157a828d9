/* journal_restore.c owns the filling of a journal with output of long ago, which a file has kept. */
#include "base/bug.h"
#include "base/fdio.h"
#include "journal/journal.h"
#include "journal/journal_map.h"
#include <errno.h>

void journal_restore(struct journal *journal, uint64_t saved_from, uint64_t saved_size, uint64_t from, uint64_t to)
{
    struct journal_header *header = journal->header;
    BUG_UNLESS(from <= to && to - from <= header->ring_size && saved_size <= header->head_size && saved_from + saved_size <= from);
    if (journal->early && to > journal->early)
        journal_leave_early(journal);
    atomic_store(&header->out_tail, from);
    atomic_store(&header->saved_from, saved_size ? saved_from : 0);
    atomic_store(&header->saved_len, saved_size);
    atomic_store(&header->out_head, to);
}

static int read_whole(int fd, char *to, uint64_t at, uint64_t size)
{
    ssize_t n = fd_pread_all(fd, to, size, (off_t)at);
    return n < 0 ? -errno : (uint64_t)n < size ? -EIO : 0;
}

int journal_put_back(struct journal *journal, int fd, uint64_t at, uint64_t from, uint64_t size, bool saved)
{
    const struct journal_header *header = journal->header;
    char *region = !saved ? journal->ring : size ? journal_head_area(journal) : NULL;
    uint64_t region_size = saved ? header->head_size : header->ring_size;
    if (size == 0)
        return 0;
    if (!region)
        return -ENOMEM;
    uint64_t place = from % region_size, first = region_size - place < size ? region_size - place : size;
    int error = read_whole(fd, region + place, at, first);
    return error ? error : read_whole(fd, region, at + first, size - first);
}

void journal_lose(struct journal *journal)
{
    atomic_store(&journal->header->saved_len, 0);
    atomic_store(&journal->header->out_tail, journal_head(journal));
}
