/* buf: growth, caps, and the promises about the contents after each call. */
#include "base/buf.h"
#include "base/mem.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <string.h>

TEST(appends_and_ends_with_nul)
{
    struct buf buf = BUF_INIT;
    assert_null(buf.data);
    assert_true(buf_append(&buf, NULL, 0));
    assert_true(buf_append_text(&buf, "hello"));
    assert_true(buf_append_byte(&buf, ' '));
    assert_true(buf_printf(&buf, "%s %d", "world", 42));
    assert_int_equal(buf.len, 14);
    assert_string_equal(buf.data, "hello world 42");
    buf_consume(&buf, 6);
    assert_string_equal(buf.data, "world 42");
    buf_truncate(&buf, 5);
    assert_string_equal(buf.data, "world");
    buf_clear(&buf);
    assert_int_equal(buf.len, 0);
    assert_string_equal(buf.data, "");
    buf_fini(&buf);
    buf_fini(&buf);
    assert_null(buf.data);
}

TEST(refuses_what_goes_over_max)
{
    struct buf buf;
    buf_init(&buf, 8);
    assert_true(buf_append_text(&buf, "1234567"));
    assert_false(buf_append_text(&buf, "89"));
    assert_string_equal(buf.data, "1234567");
    assert_false(buf_printf(&buf, "%s", "89"));
    assert_string_equal(buf.data, "1234567");
    assert_int_equal(buf.len, 7);
    assert_true(buf_append_byte(&buf, '8'));
    assert_false(buf_append_byte(&buf, '9'));
    assert_true(buf_append(&buf, "x", 0));
    assert_null(buf_reserve(&buf, 1));
    assert_null(buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.cap <= 9);
    buf_fini(&buf);
    struct buf whole = BUF_INIT;
    assert_null(buf_reserve(&whole, SIZE_MAX));
    buf_fini(&whole);
}

TEST(formats_longer_than_the_room)
{
    struct buf buf = BUF_INIT;
    for (int i = 0; i < 1000; i++)
        assert_true(buf_printf(&buf, "%04d;", i));
    assert_int_equal(buf.len, 5000);
    assert_memory_equal(buf.data, "0000;0001;", 10);
    assert_string_equal(buf.data + 4995, "0999;");
    char *large = xmalloc(20001);
    memset(large, 'x', 20000);
    large[20000] = 0;
    assert_true(buf_printf(&buf, "%s", large));
    assert_int_equal(buf.len, 25000);
    assert_string_equal(buf.data + 5000, large);
    free(large);
    buf_fini(&buf);
}

TEST(reserves_and_commits)
{
    struct buf buf = BUF_INIT;
    char *room = buf_reserve(&buf, 100);
    assert_non_null(room);
    assert_int_equal(buf.len, 0);
    memset(room, 'a', 100);
    buf_commit(&buf, 3);
    assert_string_equal(buf.data, "aaa");
    buf_fini(&buf);
}

TEST(takes)
{
    struct buf buf = BUF_INIT;
    char *nothing = buf_take(&buf);
    assert_string_equal(nothing, "");
    free(nothing);
    buf_append_text(&buf, "mine");
    char *text = buf_take(&buf);
    assert_string_equal(text, "mine");
    assert_null(buf.data);
    assert_int_equal(buf.len, 0);
    free(text);
    buf_append_text(&buf, "again");
    assert_string_equal(buf.data, "again");
    buf_fini(&buf);
}

TEST(wipes)
{
    struct buf buf;
    buf_init_wiping(&buf, 0);
    buf_append_text(&buf, "secret");
    buf_consume(&buf, 2);
    assert_string_equal(buf.data, "cret");
    assert_memory_equal(buf.data + 4, "\0\0\0", 3);
    buf_truncate(&buf, 2);
    assert_memory_equal(buf.data, "cr\0\0\0\0", 6);
    buf_clear(&buf);
    assert_memory_equal(buf.data, "\0\0\0\0\0\0", 6);
    for (int i = 0; i < 1000; i++)
        buf_append_byte(&buf, (char)('a' + i % 26));
    assert_int_equal(buf.len, 1000);
    assert_memory_equal(buf.data, "abcdef", 6);
    buf_fini(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_and_ends_with_nul), cmocka_unit_test(refuses_what_goes_over_max),
        cmocka_unit_test(formats_longer_than_the_room), cmocka_unit_test(reserves_and_commits),
        cmocka_unit_test(takes), cmocka_unit_test(wipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
