/* fuzz_scan: however the output is cut, the same sequences are found, the same modes follow, the same answers are given, within their
 * bounds, and no answer has a control character that was not ours. */
#include "base/bug.h"
#include "term/modes.h"
#include "term/responder.h"
#include "term/scan.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

struct result {
    uint64_t modes, count;
    struct buf answers;
};

static bool fact(void *arg, int *first, int *second)
{
    (void)arg;
    *first = 1000;
    *second = 1000;
    return true;
}

static size_t feed(struct result *result, const char *data, size_t size)
{
    struct scan_seq seq;
    size_t at = 0, before = 0, past = 0;
    scan_past_drawing(data, size, &past);
    while (scan_next(data, size, &at, &seq)) {
        struct responder_facts facts = {.modes = result->modes, .size = fact, .cursor = fact};
        size_t len = result->answers.len;
        BUG_UNLESS(at > before && at <= size);
        BUG_UNLESS(!seq.text || (seq.text >= data + before && seq.text + seq.len <= data + at));
        bool passed = at <= past;
        before = at;
        result->count++;
        if (!modes_apply(&result->modes, &seq) && !responder_answer(&result->answers, &seq, &facts))
            BUG_UNLESS(result->answers.len == len);
        else
            BUG_UNLESS(!passed); /* what may be passed over asks and switches nothing */
        past = passed ? past : at;
        if (!passed)
            scan_past_drawing(data, size, &past);
        BUG_UNLESS(result->answers.len - len <= RESPONDER_MOST);
    }
    BUG_UNLESS(at >= before && at <= size && size - at < SCAN_STRING_MAX);
    return at;
}

static void feed_in_pieces(struct result *result, const char *data, size_t size, size_t piece)
{
    size_t from = 0;
    for (size_t to = 0; to < size;) {
        to = to + piece < size ? to + piece : size;
        char *copy = malloc(to - from + 1); /* of its own, so that a read beyond the end is seen */
        BUG_UNLESS(copy);
        memcpy(copy, data + from, to - from);
        from += feed(result, copy, to - from);
        free(copy);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    if (size == 0)
        return 0;
    size_t piece = 1 + input[0];
    const char *data = (const char *)input + 1;
    struct result whole = {.answers = BUF_INIT}, split = {.answers = BUF_INIT};
    size--;
    feed(&whole, data, size);
    feed_in_pieces(&split, data, size, piece);
    BUG_UNLESS(whole.modes == split.modes && whole.count == split.count && whole.answers.len == split.answers.len);
    BUG_UNLESS(whole.answers.len == 0 || memcmp(whole.answers.data, split.answers.data, whole.answers.len) == 0);
    for (size_t i = 0; i < whole.answers.len; i++) {
        unsigned char byte = (unsigned char)whole.answers.data[i];
        BUG_UNLESS(byte == 033 || byte == 7 || (byte >= 0x20 && byte < 0x7f));
    }
    buf_fini(&whole.answers);
    buf_fini(&split.answers);
    return 0;
}
