/* Foreign bytes as a person would read them: no control comes out, pieces make no difference, and the
 * cost has bounds. The first byte chooses the terminal, the second where something is typed. */
#include "base/bug.h"
#include "base/utf8.h"
#include "term/plain.h"
#include <stdint.h>
#include <string.h>

struct split {
    const char *data;
    size_t size, before, typed_at;
    int rows, cols;
};

static void feed(struct plain *plain, const char *data, size_t size, size_t piece)
{
    for (size_t at = 0; at < size; at += piece)
        plain_feed(plain, data + at, size - at < piece ? size - at : piece);
}

static struct buf read_it(const struct split *split, size_t piece)
{
    struct buf out = BUF_INIT;
    struct plain *plain = plain_new(split->rows, split->cols);
    size_t at = split->typed_at;
    feed(plain, split->data, split->before, piece);
    plain_begin(plain);
    feed(plain, split->data + split->before, at - split->before, piece);
    plain_typed(plain, split->data + at, split->size - at < 12 ? split->size - at : 12);
    feed(plain, split->data + at, split->size - at, piece);
    plain_take(plain, &out);
    plain_free(plain);
    return out;
}

static void check_text(const struct buf *out)
{
    BUG_UNLESS(out->len == 0 || utf8_valid(out->data, out->len));
    BUG_UNLESS(out->len <= 4u << 20);
    for (size_t i = 0; i < out->len; i++) {
        unsigned char byte = (unsigned char)out->data[i];
        BUG_UNLESS(byte >= ' ' || byte == '\n' || byte == '\t');
        BUG_UNLESS(byte != 0x7f);
        BUG_UNLESS(byte != 0xc2 || (unsigned char)out->data[i + 1] >= 0xa0); /* C1 */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int sizes[][2] = {{24, 80}, {3, 7}, {1, 1}, {24, 0}};
    if (size < 2)
        return 0;
    struct split split = {.data = (const char *)data + 2, .size = size - 2};
    split.rows = sizes[data[0] % 4][0];
    split.cols = sizes[data[0] % 4][1];
    split.typed_at = split.size * data[1] / 256;
    split.before = split.typed_at / 2;
    struct buf whole = read_it(&split, split.size ? split.size : 1), pieces = read_it(&split, 3);
    check_text(&whole);
    BUG_UNLESS(whole.len == pieces.len &&
               (whole.len == 0 || memcmp(whole.data, pieces.data, whole.len) == 0));
    buf_fini(&whole);
    buf_fini(&pieces);
    return 0;
}
