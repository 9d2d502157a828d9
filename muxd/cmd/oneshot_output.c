/* oneshot_output: owns the split of a pipe session's output into its two streams, each within
 * its share. */
#include "base/bug.h"
#include "base/utf8.h"
#include "cmd/oneshot.h"
#include "wire/text.h"

struct part { /* one stream */
    uint64_t size, seen; /* bytes of the stream in all, and those passed so far */
    uint64_t head_share, tail_share;
    struct buf head, tail;
};

struct split {
    const struct journal *journal;
    struct part parts[2]; /* standard output, standard error */
};

static uint64_t oneshot_output_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void oneshot_shares(uint64_t out_size, uint64_t err_size, uint64_t cap, uint64_t *out_share,
                    uint64_t *err_share)
{
    *out_share = out_size;
    *err_share = err_size;
    if (out_size + err_size <= cap)
        return;
    *out_share = oneshot_output_least(out_size, cap / 3);
    *err_share = oneshot_output_least(err_size, cap - *out_share);
    *out_share += oneshot_output_least(cap - *out_share - *err_share, out_size - *out_share);
    BUG_UNLESS(*out_share + *err_share <= cap);
}

static void oneshot_output_measure(void *arg, uint64_t from, uint64_t to, bool is_stderr)
{
    struct split *split = arg;
    split->parts[is_stderr].size += to - from;
}

/* Copies what [from, to) of the journal has of [begin, end) of the stream. */
static void copy(struct split *split, struct part *part, uint64_t from, uint64_t to, uint64_t begin,
                 uint64_t end, struct buf *into)
{
    uint64_t skip = begin > part->seen ? begin - part->seen : 0,
             room = end > part->seen ? end - part->seen : 0;
    if (to - from > room)
        to = from + room;
    from += skip;
    while (from < to) {
        size_t size;
        /* moves `from` past bytes that the journal has dropped */
        const char *view = journal_view(split->journal, &from, &size);
        if (!view || from >= to)
            return;
        size = (size_t)oneshot_output_least(size, to - from);
        buf_append(into, view, size);
        from += size;
    }
}

static void oneshot_output_take(void *arg, uint64_t from, uint64_t to, bool is_stderr)
{
    struct split *split = arg;
    struct part *part = &split->parts[is_stderr];
    copy(split, part, from, to, 0, part->head_share, &part->head);
    copy(split, part, from, to, part->size - part->tail_share, part->size, &part->tail);
    part->seen += to - from;
    BUG_UNLESS(part->seen <= part->size);
}

static void set_share(struct part *part, uint64_t share)
{
    part->head_share = part->size <= share ? part->size : share / 2;
    part->tail_share = part->size <= share ? 0 : share - share / 2;
}

static uint64_t append_part(struct part *part, struct buf *text)
{
    BUG_UNLESS(part->head.len + part->tail.len <= part->size);
    struct buf joined = BUF_INIT;
    uint64_t missing = part->size - part->head.len - part->tail.len;
    const char *head = part->head.data ? part->head.data : "",
               *tail = part->tail.data ? part->tail.data : "";
    text_join(&joined, head, part->head.len, tail, part->tail.len, missing);
    utf8_append_lossy(text, joined.data ? joined.data : "", joined.len);
    buf_fini(&joined);
    buf_fini(&part->head);
    buf_fini(&part->tail);
    return missing;
}

uint64_t oneshot_collect(const struct journal *journal, uint64_t to, struct buf *text)
{
    struct split split = {
        .journal = journal,
        .parts = {{.head = BUF_INIT, .tail = BUF_INIT}, {.head = BUF_INIT, .tail = BUF_INIT}}};
    uint64_t out_share, err_share;
    journal_streams(journal, 0, to, oneshot_output_measure, &split);
    oneshot_shares(split.parts[0].size, split.parts[1].size, ONESHOT_CAP, &out_share, &err_share);
    set_share(&split.parts[0], out_share);
    set_share(&split.parts[1], err_share);
    journal_streams(journal, 0, to, oneshot_output_take, &split);
    uint64_t missing = append_part(&split.parts[0], text);
    return missing + append_part(&split.parts[1], text);
}
