/* base64: the examples of RFC 4648, every length there and back, and what is no base64. */
#include "tests/lib/test.h"
#include "wire/base64.h"
#include <string.h>

TEST(test_examples)
{
    static const char *const pairs[][2] = {{"", ""},         {"f", "Zg=="},         {"fo", "Zm8="},        {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct buf out = BUF_INIT;
        assert_true(buf_append_text(&out, ">"));
        assert_true(base64_encode(&out, pairs[i][0], strlen(pairs[i][0])));
        assert_string_equal(out.data + 1, pairs[i][1]);
        buf_truncate(&out, 1);
        assert_true(base64_decode(&out, pairs[i][1], strlen(pairs[i][1])));
        assert_string_equal(out.data + 1, pairs[i][0]);
        buf_fini(&out);
    }
}

TEST(test_every_length)
{
    unsigned char data[300];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (unsigned char)(i * 167);
    for (size_t len = 0; len <= sizeof(data); len++) {
        struct buf text = BUF_INIT, back = BUF_INIT;
        assert_true(base64_encode(&text, data, len));
        assert_true(base64_decode(&back, text.data, text.len));
        assert_int_equal(back.len, len);
        if (len > 0)
            assert_memory_equal(back.data, data, len);
        buf_fini(&text);
        buf_fini(&back);
    }
}

TEST(test_refuses)
{
    static const char *const wrong[] = {"Z",    "Zg",   "Zg=",      "Zg==Zg==", "=",    "====", "Z===", "Zh==", "Zm9=",
                                        "Zm 9", "Zm9v\n", "Zm9-", "Zm9_",     "Zg=a", "\xff\xff\xff\xff"};
    struct buf out = BUF_INIT;
    assert_true(buf_append_text(&out, "kept"));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (base64_decode(&out, wrong[i], strlen(wrong[i])))
            fail_msg("'%s' was taken", wrong[i]);
        assert_int_equal(out.len, 4);
    }
    buf_fini(&out);
}

TEST(test_cap)
{
    struct buf out;
    buf_init(&out, 7);
    assert_false(base64_encode(&out, "abcd", 4));
    assert_int_equal(out.len, 0);
    assert_true(base64_encode(&out, "abc", 3));
    assert_false(base64_decode(&out, "YWJjZA==", 8));
    assert_int_equal(out.len, 4);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
