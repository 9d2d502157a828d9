/* fuzz_utf8: decoding in one piece and in two must agree, and what comes out is well-formed. */
#include "base/bug.h"
#include "base/utf8.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* The slow way: one character at a time. */
static void decode_slowly(struct buf *out, const char *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        int32_t rune;
        size_t n = utf8_decode(data + at, size - at, &rune);
        BUG_UNLESS(n <= 4 && n <= size - at && (n > 0 || size - at < 4) && (n > 0 || rune == -1));
        char bytes[4];
        size_t length = utf8_encode(rune < 0 ? 0xFFFD : rune, bytes);
        BUG_UNLESS(length > 0 && (rune < 0 || (length == n && memcmp(bytes, data + at, n) == 0)));
        buf_append(out, bytes, length);
        at += n ? n : size - at;
    }
}

static bool same(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* A reader that carries an incomplete tail over to its next read sees what a reader of the whole sees. */
static void decode_in_two(struct buf *out, const char *data, size_t size)
{
    size_t cut = size ? (unsigned char)data[0] % (size + 1) : 0;
    size_t tail = utf8_incomplete_tail(data, cut);
    BUG_UNLESS(tail <= 3 && tail <= cut);
    utf8_append_lossy(out, data, cut - tail);
    utf8_append_lossy(out, data + cut - tail, size - cut + tail);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    const char *data = (const char *)input;
    struct buf lossy = BUF_INIT, slow = BUF_INIT, split = BUF_INIT, shown = BUF_INIT;
    BUG_UNLESS(utf8_append_lossy(&lossy, data, size));
    BUG_UNLESS(utf8_valid(lossy.data, lossy.len));
    BUG_UNLESS(lossy.len <= size * 3);
    if (utf8_valid(data, size))
        BUG_UNLESS(lossy.len == size && (size == 0 || memcmp(lossy.data, data, size) == 0));
    decode_slowly(&slow, data, size);
    decode_in_two(&split, data, size);
    BUG_UNLESS(same(&lossy, &slow) && same(&lossy, &split));
    utf8_append_escaped(&shown, data, size, false);
    BUG_UNLESS(utf8_valid(shown.data, shown.len));
    for (size_t i = 0; i < shown.len; i++)
        BUG_UNLESS((unsigned char)shown.data[i] >= 0x20 && shown.data[i] != 0x7F);
    buf_fini(&lossy);
    buf_fini(&slow);
    buf_fini(&split);
    buf_fini(&shown);
    return 0;
}
