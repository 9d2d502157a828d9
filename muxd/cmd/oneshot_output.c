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

/* What went before the output of which the ring and the index still tell. */
static void take_kept(struct split *split, bool is_stderr)
{
    struct part *part = &split->parts[is_stderr];
    journal_kept_copy(split->journal, is_stderr, 0, part->head_share, &part->head);
    journal_kept_copy(split->journal, is_stderr, part->size - part->tail_share, part->size,
                      &part->tail);
    part->seen = journal_kept_count(split->journal, is_stderr);
}

/* Whether bytes beyond ASCII are characters of UTF-8, at least some of them. */
static bool has_characters(const char *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        int32_t rune = -1;
        size_t size = utf8_decode(bytes + at, len - at, &rune);
        if (size > 1 && rune >= 0x80)
            return true;
        at += size > 0 ? size : 1;
    }
    return false;
}

/* Output without any character of UTF-8 is that of an older program: it is read as windows-1252,
 * which has latin-1 in it. */
static void append_western(struct buf *text, const char *bytes, size_t len)
{
    static const uint16_t high[32] = {
        0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
        0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};
    for (size_t at = 0; at < len; at++) {
        unsigned char byte = (unsigned char)bytes[at];
        utf8_append_rune(text, byte >= 0x80 && byte < 0xa0 ? high[byte - 0x80] : byte);
    }
}

static uint64_t append_part(struct part *part, struct buf *text)
{
    BUG_UNLESS(part->head.len + part->tail.len <= part->size);
    struct buf joined = BUF_INIT;
    uint64_t missing = part->size - part->head.len - part->tail.len;
    const char *head = part->head.data ? part->head.data : "",
               *tail = part->tail.data ? part->tail.data : "";
    text_join(&joined, head, part->head.len, tail, part->tail.len, missing);
    if (has_characters(head, part->head.len) || has_characters(tail, part->tail.len))
        utf8_append_lossy(text, joined.data ? joined.data : "", joined.len);
    else
        append_western(text, joined.data ? joined.data : "", joined.len);
    buf_fini(&joined);
    buf_fini(&part->head);
    buf_fini(&part->tail);
    return missing;
}

static void oneshot_output_part(struct part *part, const struct journal *journal, bool is_stderr)
{
    *part = (struct part){.head = BUF_INIT, .tail = BUF_INIT};
    part->size = journal_kept_count(journal, is_stderr);
}

uint64_t oneshot_collect(const struct journal *journal, uint64_t to, struct buf *text)
{
    struct split split = {.journal = journal};
    uint64_t out_share, err_share, from = journal_kept_end(journal);
    oneshot_output_part(&split.parts[0], journal, false);
    oneshot_output_part(&split.parts[1], journal, true);
    journal_streams(journal, from, to, oneshot_output_measure, &split);
    oneshot_shares(split.parts[0].size, split.parts[1].size, ONESHOT_CAP, &out_share, &err_share);
    set_share(&split.parts[0], out_share);
    set_share(&split.parts[1], err_share);
    take_kept(&split, false);
    take_kept(&split, true);
    journal_streams(journal, from, to, oneshot_output_take, &split);
    uint64_t missing = append_part(&split.parts[0], text);
    return missing + append_part(&split.parts[1], text);
}
