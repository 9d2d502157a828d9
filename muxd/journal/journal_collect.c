/* journal_collect: owns what a reader gets of a stretch of output: all of it, or its beginning and
 * its end, half the cap each, and the count of the bytes between (CODEX.md 7). */
#include "base/bug.h"
#include "journal/journal.h"

struct stretch { /* the reader gets [from, head_end) and [tail_from, to) */
    uint64_t head_end, tail_from;
};

static void journal_collect_append(const struct journal *journal, uint64_t from, uint64_t to,
                                   struct buf *out)
{
    while (from < to) {
        size_t size = 0;
        uint64_t at = from;
        const char *data = journal_view(journal, &at, &size);
        BUG_UNLESS(data && at == from);
        if (size > to - from)
            size = to - from;
        BUG_UNLESS(buf_append(out, data, size)); /* the caller has room for cap bytes */
        from += size;
    }
}

/* The end of the unbroken run that begins at `from`, `to` at most; `from` itself when that byte is
 * gone. */
static uint64_t run_end(const struct journal *journal, uint64_t from, uint64_t to)
{
    while (from < to) {
        size_t size = 0;
        uint64_t at = from;
        if (!journal_view(journal, &at, &size) || at != from)
            return from;
        from += size < to - from ? size : to - from;
    }
    return from;
}

/* The beginning of the last unbroken run before `to`, `from` at least. There are few runs: the
 * saved bytes and the ring. */
static uint64_t last_run(const struct journal *journal, uint64_t from, uint64_t to)
{
    uint64_t start = from;
    for (uint64_t at = from; at < to;) {
        size_t size = 0;
        uint64_t next = at;
        if (!journal_view(journal, &next, &size) || next >= to)
            return to;
        if (next != at)
            start = next;
        at = next + size;
    }
    return start;
}

static uint64_t journal_collect_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct stretch choose(const struct journal *journal, uint64_t from, uint64_t to,
                             uint64_t cap)
{
    uint64_t head = run_end(journal, from, to) - from, last = last_run(journal, from, to),
             tail = to - last;
    if (head == to - from && head <= cap)
        return (struct stretch){to, to};
    /* what one side doesn't fill goes to the other */
    uint64_t head_share = cap / 2, tail_share = cap - head_share;
    if (tail < tail_share)
        head_share = cap - tail;
    if (head < cap / 2)
        tail_share = cap - head;
    return (struct stretch){from + journal_collect_least(head, head_share),
                            to - journal_collect_least(tail, tail_share)};
}

void journal_collect(const struct journal *journal, uint64_t from, uint64_t to, size_t cap,
                     struct buf *out, uint64_t *omitted, size_t *gap_at)
{
    uint64_t head = journal_head(journal);
    *omitted = 0;
    *gap_at = SIZE_MAX;
    if (to > head)
        to = head;
    if (from >= to)
        return;
    struct stretch give = choose(journal, from, to, cap);
    BUG_UNLESS(from <= give.head_end && give.head_end <= give.tail_from && give.tail_from <= to);
    journal_collect_append(journal, from, give.head_end, out);
    if (give.tail_from > give.head_end) {
        *omitted = give.tail_from - give.head_end;
        *gap_at = out->len;
    }
    journal_collect_append(journal, give.tail_from, to, out);
}
