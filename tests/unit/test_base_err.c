/* err: the table of errors and the making of texts. */
#include "base/err.h"
#include "base/utf8.h"
#include "tests/lib/test.h"
#include <string.h>

TEST(every_row_is_whole_and_unlike_the_others)
{
    for (int code = -1; code > -ERR_COUNT_; code--) {
        assert_true(strlen(err_name(code)) > 0);
        assert_true(strlen(err_help(code)) > 0);
        assert_int_equal(err_by_name(err_name(code)), code);
        assert_true(err_exit_status(code) > 0 && err_exit_status(code) < 256);
        assert_true(err_rpc(code) < 0);
        for (int other = code - 1; other > -ERR_COUNT_; other--)
            if (err_rpc(code) <= -32000 && err_rpc(code) > -32600)
                assert_int_not_equal(err_rpc(code), err_rpc(other));
    }
}

TEST(knows_codes_by_name)
{
    assert_string_equal(err_name(ERR_NO_SUCH_SESSION), "no_such_session");
    assert_int_equal(err_exit_status(ERR_NO_SUCH_SESSION), 127);
    assert_int_equal(err_rpc(ERR_PARSE), -32700);
    assert_int_equal(err_by_name("denied"), ERR_DENIED);
    assert_int_equal(err_by_name("from a newer daemon"), ERR_INTERNAL);
    assert_int_equal(err_by_name("none"), ERR_INTERNAL);
    assert_int_equal(err_exit_status(0), 0);
}

TEST(sets_and_prefixes)
{
    struct err err = {0};
    assert_int_equal(err_set(&err, ERR_SPAWN, "'%s' is no program", "x"), ERR_SPAWN);
    assert_int_equal(err.code, ERR_SPAWN);
    assert_string_equal(err.text, "'x' is no program");
    err_prefix(&err, "session %d", 1000);
    assert_string_equal(err.text, "session 1000: 'x' is no program");
    assert_int_equal(err_set(&err, ERR_CONFIG, "line 3: %s", err.text), ERR_CONFIG); /* its own text as an argument */
    assert_string_equal(err.text, "line 3: session 1000: 'x' is no program");
    assert_int_equal(err_set(NULL, ERR_LIMIT, "nobody listens"), ERR_LIMIT);
    err_prefix(NULL, "nobody");
}

TEST(cuts_at_a_character)
{
    char text[2048];
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xC3\xA9", 2);
    text[sizeof text - 2] = 0;
    for (int shift = 0; shift < 3; shift++) {
        struct err err = {0};
        err_set(&err, ERR_SYSTEM, "%.*s%s", shift, "ab", text);
        size_t len = strlen(err.text);
        assert_true(len >= sizeof err.text - 2 && len < sizeof err.text);
        assert_true(utf8_valid(err.text, len));
        err_prefix(&err, "x");
        assert_true(utf8_valid(err.text, strlen(err.text)));
        err_prefix(&err, "%s", text);
        assert_true(utf8_valid(err.text, strlen(err.text)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole_and_unlike_the_others), cmocka_unit_test(knows_codes_by_name),
        cmocka_unit_test(sets_and_prefixes), cmocka_unit_test(cuts_at_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
