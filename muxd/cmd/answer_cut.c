/* answer_cut: owns the offsets of what an answer leaves out, by which read_output can fetch it
 * (from, to). */
#include "base/bug.h"
#include "base/utf8.h"
#include "cmd/answer.h"
#include "wire/text.h"

#define REPLACEMENT_BYTES 3 /* of U+FFFD, which replaces bytes that are not UTF-8 */

/* Bytes that the character at `at` takes in the text; *used: bytes that it takes in the raw
 * output. */
static size_t width_at(const struct answer_bytes *bytes, size_t at, size_t *used)
{
    int32_t rune;
    size_t n = utf8_decode(bytes->raw + at, bytes->size - at, &rune);
    *used = n ? n : bytes->size - at;
    return n && rune >= 0 ? n : REPLACEMENT_BYTES;
}

static size_t answer_cut_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t raw_width(const struct answer_bytes *bytes)
{
    size_t sum = 0, used;
    for (size_t at = 0; at < bytes->size; at += used) {
        used = utf8_ascii_run(bytes->raw + at, bytes->size - at);
        sum += used ? used : width_at(bytes, at, &used);
    }
    return sum;
}

static uint64_t absolute(const struct answer_bytes *bytes, size_t at)
{
    return bytes->from + at + (at >= bytes->gap_at ? bytes->omitted : 0);
}

/* text_truncate_middle keeps the characters that end within the first half of the budget and
 * those that begin within its last half. */
static void find_middle(const struct answer_bytes *bytes, size_t text_size, size_t budget,
                        size_t *head_end, size_t *tail_at)
{
    size_t left = budget / 2, tail_from = text_size - (budget - left), used;
    /* gap_line: bytes of the line that text_join puts into the gap */
    size_t raw = raw_width(bytes), gap_line = text_size - raw;
    size_t shown = 0;
    BUG_UNLESS(budget < text_size && raw <= text_size);
    *head_end = 0;
    *tail_at = bytes->size;
    for (size_t at = 0; at < bytes->size; at += used) {
        bool before = at < bytes->gap_at;
        size_t begins = shown + (before ? 0 : gap_line),
               end = before && bytes->gap_at < bytes->size ? bytes->gap_at : bytes->size;
        /* an ASCII run can be cut anywhere */
        size_t ascii = utf8_ascii_run(bytes->raw + at, end - at), width = used = ascii;
        if (ascii == 0)
            width = width_at(bytes, at, &used);
        if (before && ascii > 0 && begins < left)
            *head_end = at + answer_cut_least(ascii, left - begins);
        else if (before && begins + width <= left)
            *head_end = at + used;
        if (*tail_at == bytes->size && begins + ascii > tail_from)
            *tail_at = at + (begins < tail_from ? tail_from - begins : 0);
        else if (*tail_at == bytes->size && begins >= tail_from)
            *tail_at = at;
        shown += width;
    }
}

bool answer_cut(const struct answer_bytes *bytes, size_t text_size, size_t budget, uint64_t *from,
                uint64_t *to)
{
    bool gap = bytes->omitted > 0 && bytes->gap_at <= bytes->size;
    if (text_size <= budget && !gap)
        return false;
    size_t head_end = bytes->gap_at, tail_at = bytes->gap_at;
    if (text_size > budget) {
        find_middle(bytes, text_size, budget, &head_end, &tail_at);
        if (gap && bytes->gap_at < head_end)
            head_end = bytes->gap_at;
    }
    BUG_UNLESS(head_end <= bytes->size && tail_at <= bytes->size);
    *from = bytes->from + head_end;
    *to = absolute(bytes, tail_at);
    return *to > *from;
}
