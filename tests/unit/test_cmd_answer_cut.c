/* What an answer says it leaves out is what its text leaves out, whatever the bytes are. */
#include "base/buf.h"
#include "base/utf8.h"
#include "cmd/answer.h"
#include "tests/lib/test.h"
#include "wire/text.h"
#include <stdlib.h>
#include <string.h>

#define START 1000
#define SIZE_MOST 300
#define ROUNDS 20000
#define GAP_LINE 27

enum kind { LETTERS, CHARACTERS, ANY_BYTES, LETTERS_AND_BROKEN, KINDS };

static char byte_of(enum kind kind)
{
    static const char characters[] = "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80";
    int any = rand();
    switch (kind) {
    case LETTERS: return (char)('a' + any % 26);
    case CHARACTERS: return any % 8 ? 'a' : characters[any / 8 % (int)(sizeof characters - 1)];
    case ANY_BYTES: return (char)any;
    default: return any % 40 ? 'x' : (char)(0x80 | any);
    }
}

static size_t text_of(const char *raw, size_t size)
{
    struct buf text = BUF_INIT;
    assert_true(utf8_append_lossy(&text, raw, size));
    size_t len = text.len;
    buf_fini(&text);
    return len;
}

static void check(const char *raw, size_t size, size_t budget)
{
    struct buf text = BUF_INIT;
    uint64_t from, to;
    assert_true(utf8_append_lossy(&text, raw, size));
    struct answer_bytes bytes = {.raw = raw, .size = size, .from = START, .gap_at = SIZE_MAX};
    if (answer_cut(&bytes, text.len, budget, &from, &to)) {
        struct text_split split = text_split(text.data, text.len, budget / 2, budget - budget / 2);
        assert_in_range(from, START, START + size);
        assert_in_range(to, from, START + size);
        assert_int_equal(text_of(raw, from - START), split.head_len);
        assert_int_equal(text_of(raw + (to - START), size - (to - START)), text.len - split.tail_at);
    } else {
        assert_true(text.len <= budget);
    }
    buf_fini(&text);
}

TEST(test_as_the_text)
{
    char raw[SIZE_MOST];
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = (size_t)rand() % sizeof raw + 1;
        for (size_t i = 0; i < size; i++)
            raw[i] = byte_of((enum kind)(round % KINDS));
        check(raw, size, (size_t)rand() % (size + 5));
    }
}

/* Bytes that nobody has any more lie in the middle of what is left out, and are named with it. */
TEST(test_with_a_gap)
{
    static const char raw[] = "abcdefghijklmnopqrstuvwxyz";
    struct answer_bytes bytes = {.raw = raw, .size = 26, .from = START, .omitted = 500, .gap_at = 13};
    uint64_t from, to;
    assert_true(answer_cut(&bytes, 26 + GAP_LINE, 100, &from, &to));
    assert_int_equal(from, START + 13);
    assert_int_equal(to, START + 13 + 500);
    assert_true(answer_cut(&bytes, 26 + GAP_LINE, 10, &from, &to));
    assert_int_equal(from, START + 5);
    assert_int_equal(to, START + 500 + 21);
    bytes.gap_at = 3; /* the half before the gap is larger than what there is */
    assert_true(answer_cut(&bytes, 26 + GAP_LINE, 10, &from, &to));
    assert_int_equal(from, START + 3);
    assert_int_equal(to, START + 500 + 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_the_text),
        cmocka_unit_test(test_with_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
