/* The two streams of a one-shot command: their shares, and what is left of each. */
#include "base/mem.h"
#include "cmd/oneshot.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <string.h>

static void expect_shares(uint64_t out, uint64_t err, uint64_t cap, uint64_t out_want, uint64_t err_want)
{
    uint64_t out_share, err_share;
    oneshot_shares(out, err, cap, &out_share, &err_share);
    assert_int_equal(out_share, out_want);
    assert_int_equal(err_share, err_want);
}

TEST(test_shares)
{
    expect_shares(0, 0, 9, 0, 0);
    expect_shares(4, 5, 9, 4, 5);
    expect_shares(100, 100, 9, 3, 6);
    expect_shares(100, 1, 9, 8, 1);
    expect_shares(1, 100, 9, 1, 8);
    expect_shares(100, 0, 9, 9, 0);
    expect_shares(0, 100, 9, 0, 9);
    expect_shares(100, 5, 9, 4, 5);
}

static struct journal *journal_of(void)
{
    struct journal *journal;
    struct err err;
    struct journal_make make = {.number = 1000, .name = "t", .ring_bytes = 4u << 20, .head_bytes = 512u << 10, .input_bytes = 4096, .cmd = "t", .cwd = "/"};
    assert_int_equal(journal_new(&journal, &make, &err), 0);
    return journal;
}

static void put(struct journal *journal, const char *data, size_t size, bool from_stderr)
{
    while (size > 0) {
        size_t room;
        char *at = journal_space(journal, size, &room);
        room = room < size ? room : size;
        memcpy(at, data, room);
        journal_commit(journal, room, from_stderr);
        data += room;
        size -= room;
    }
}

TEST(test_streams_apart)
{
    struct journal *journal = journal_of();
    struct buf text = BUF_INIT;
    put(journal, "a\n", 2, false);
    put(journal, "E\xff\n", 3, true);
    put(journal, "b\n", 2, false);
    assert_int_equal(oneshot_collect(journal, journal_head(journal), &text), 0);
    assert_string_equal(text.data, "a\nb\nE\xC3\xBF\n"); /* nothing in it is UTF-8: windows-1252 */
    buf_clear(&text);
    assert_int_equal(oneshot_collect(journal, 0, &text), 0);
    assert_int_equal(text.len, 0);
    buf_fini(&text);
    journal_free(journal);
}

/* Both ends of each stream stay, and all that does not is counted. */
TEST(test_too_much)
{
    struct journal *journal = journal_of();
    struct buf text = BUF_INIT;
    size_t size = 1u << 20;
    char *block = xmalloc(size);
    memset(block, 'o', size);
    memcpy(block, "first", 5);
    memcpy(block + size - 4, "last", 4);
    put(journal, block, size, false);
    memset(block, 'e', size);
    put(journal, block, size, true);
    assert_int_equal(oneshot_collect(journal, journal_head(journal), &text), size);
    assert_memory_equal(text.data, "first", 5);
    assert_non_null(strstr(text.data, "olaste"));
    assert_non_null(strstr(text.data, "\n... 699051 bytes omitted ...\n"));
    assert_non_null(strstr(text.data, "\n... 349525 bytes omitted ...\n"));
    free(block);
    buf_fini(&text);
    journal_free(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_streams_apart),
        cmocka_unit_test(test_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
