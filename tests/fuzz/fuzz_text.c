/* fuzz_text: truncation of any text by any budget stays well-formed, within its bounds, and keeps the ends. The first three
 * bytes choose the budget and its kind. */
#include "base/bug.h"
#include "base/utf8.h"
#include "wire/text.h"
#include <string.h>

enum { MARKER_MAX = 48, HEADER_MAX = 128 };

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void check_split(const char *text, size_t len, size_t begin, size_t end)
{
    struct text_split split = text_split(text, len, begin, end);
    BUG_UNLESS(split.head_len <= split.tail_at && split.tail_at <= len);
    BUG_UNLESS(split.head_len <= begin && (split.head_len + 4 > begin || split.head_len == len));
    BUG_UNLESS(len - split.tail_at <= end);
    BUG_UNLESS(utf8_valid(text, split.head_len) && utf8_valid(text + split.tail_at, len - split.tail_at));
    BUG_UNLESS(split.removed_chars <= split.tail_at - split.head_len);
    BUG_UNLESS((split.removed_chars == 0) == (split.tail_at == split.head_len));
}

static void check_truncation(const char *text, size_t len, size_t budget, bool tokens)
{
    struct buf plain = BUF_INIT, formatted = BUF_INIT, omitted = BUF_INIT;
    BUG_UNLESS(text_truncate_middle(&plain, text, len, budget, tokens));
    BUG_UNLESS(text_formatted(&formatted, text, len, budget, tokens));
    BUG_UNLESS(text_formatted_omitted(&omitted, text, len, 77, len + 77, budget, tokens));
    BUG_UNLESS(utf8_valid(plain.data, plain.len) && utf8_valid(formatted.data, formatted.len));
    BUG_UNLESS(utf8_valid(omitted.data, omitted.len));
    BUG_UNLESS(memmem(omitted.data, omitted.len, "... 77 bytes omitted ...", 24));
    if (len <= budget) {
        BUG_UNLESS(plain.len == len && formatted.len == len && (len == 0 || memcmp(plain.data, text, len) == 0));
    } else {
        BUG_UNLESS(plain.len <= budget + MARKER_MAX && formatted.len <= plain.len + HEADER_MAX);
        BUG_UNLESS(memcmp(formatted.data + formatted.len - plain.len, plain.data, plain.len) == 0);
        BUG_UNLESS(memcmp(formatted.data, "Warning: ", 9) == 0 && memcmp(omitted.data, "Warning: ", 9) == 0);
    }
    buf_fini(&plain);
    buf_fini(&formatted);
    buf_fini(&omitted);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    if (size < 3)
        return 0;
    bool tokens = input[0] & 1;
    size_t budget = (size_t)input[1] | (size_t)input[2] << 8;
    struct buf text = BUF_INIT;
    utf8_append_lossy(&text, (const char *)input + 3, size - 3);
    buf_reserve(&text, 1); /* empty text has an address too */
    check_split(text.data, text.len, input[1], input[2]);
    check_truncation(text.data, text.len, tokens ? text_token_budget(budget % 512) : budget, tokens);
    check_truncation(text.data, text.len, input[1] % 32, !tokens);
    buf_fini(&text);
    return 0;
}
