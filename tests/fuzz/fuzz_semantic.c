/* fuzz_semantic: however the output is cut, the same marks are found, in order and within the bytes, and taking them out takes nothing
 * else. The first byte says how long the pieces are. */
#include "base/bug.h"
#include "wire/semantic.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define NONCE "00000000000000000000000000000000"

struct result {
    struct buf marks;
    uint64_t end, bytes;
};

static void on_mark(void *arg, const struct semantic_mark *mark)
{
    struct result *result = arg;
    BUG_UNLESS(mark->from >= result->end && mark->to > mark->from && mark->size <= SEMANTIC_MAX && mark->value);
    BUG_UNLESS(mark->to - mark->from >= mark->size + 8);
    result->end = mark->to;
    result->bytes += mark->to - mark->from;
    buf_append(&result->marks, &mark->from, sizeof mark->from);
    buf_append_byte(&result->marks, mark->kind);
    buf_append(&result->marks, mark->value, mark->size);
}

static void feed(struct result *result, const char *data, size_t size, size_t piece)
{
    struct semantic semantic = {.nonce = NONCE};
    for (size_t at = 0; at < size; at += piece) {
        size_t len = size - at < piece ? size - at : piece;
        char *copy = malloc(len); /* of its own, so that a read beyond the end is seen */
        BUG_UNLESS(copy);
        memcpy(copy, data + at, len);
        semantic_feed(&semantic, at, copy, len, on_mark, result);
        free(copy);
        BUG_UNLESS(semantic_settled(&semantic) <= at + len && semantic_settled(&semantic) >= result->end);
    }
    semantic_fini(&semantic);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    struct result whole = {.marks = BUF_INIT}, cut = {.marks = BUF_INIT};
    struct buf text = BUF_INIT, value = BUF_INIT;
    if (size < 2)
        return 0;
    const char *data = (const char *)input + 1;
    feed(&whole, data, size - 1, size - 1);
    feed(&cut, data, size - 1, 1 + input[0] % 31);
    BUG_UNLESS(whole.marks.len == cut.marks.len && (cut.marks.len == 0 || memcmp(whole.marks.data, cut.marks.data, cut.marks.len) == 0));
    buf_append(&text, data, size - 1);
    size_t open = semantic_strip(&text, NONCE);
    BUG_UNLESS(open <= text.len && text.len + whole.bytes == size - 1);
    semantic_unescape(&value, data, size - 1);
    BUG_UNLESS(value.len <= size - 1);
    buf_fini(&text);
    buf_fini(&value);
    buf_fini(&whole.marks);
    buf_fini(&cut.marks);
    return 0;
}
