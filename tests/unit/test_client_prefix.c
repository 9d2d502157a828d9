/* The keys behind the prefix key, in the three encodings of keyboards. */
#include "tests/lib/test.h"

#include "client/attach/prefix.h"
#include <string.h>

static void check(const char *typed, const char *passed, enum prefix_command expected)
{
    struct prefix prefix = {.key = PREFIX_DEFAULT};
    struct buf out = BUF_INIT;
    enum prefix_command command;
    size_t used = prefix_take(&prefix, typed, strlen(typed), &out, &command);
    assert_int_equal(used, strlen(typed));
    assert_string_equal(out.data ? out.data : "", passed);
    assert_int_equal(command, expected);
    buf_fini(&out);
}

TEST(test_plain)
{
    check("abc\033[A\r", "abc\033[A\r", PREFIX_NONE);
    check("ab\034d", "ab", PREFIX_DETACH);
    check("\034r", "", PREFIX_REDRAW);
    check("\034z", "", PREFIX_SUSPEND);
    check("\034?", "", PREFIX_HELP);
    check("\034[", "", PREFIX_SCROLL);
    check("\034l", "", PREFIX_LIST);
    check("\034t", "", PREFIX_TAKE);
    check("\034g", "", PREFIX_GIVE);
    check("\034x", "", PREFIX_HELP);
    check("a\034\034d", "a\034d", PREFIX_NONE);
}

TEST(test_other_keyboards)
{
    check("\033[92;5ud", "", PREFIX_DETACH);
    check("\033[92;5u\033[92;5:3u\033[100u", "", PREFIX_DETACH);
    check("\033[57442;5u\033[92;5:1u\033[57442;5:3u\033[100;1:1u", "\033[57442;5u", PREFIX_DETACH);
    check("\033[92::92;69:1;92ur", "", PREFIX_REDRAW);
    check("\033[27;5;92~d", "", PREFIX_DETACH);
    check("\033[92;5u\033[92;5u", "\033[92;5u", PREFIX_NONE);
    check("\033[92;6ud", "", PREFIX_DETACH);
    check("\033[99;5u\033[3~", "\033[99;5u\033[3~", PREFIX_NONE);
    check("\033[92;7u", "\033[92;7u", PREFIX_NONE);
    check("\033[", "\033[", PREFIX_NONE);
    check("\033[99999999999999999999;5u", "\033[99999999999999999999;5u", PREFIX_NONE);
}

TEST(test_in_pieces)
{
    struct prefix prefix = {.key = PREFIX_DEFAULT};
    struct buf out = BUF_INIT;
    enum prefix_command command;
    prefix_take(&prefix, "a\034", 2, &out, &command);
    assert_int_equal(command, PREFIX_NONE);
    assert_int_equal(prefix_take(&prefix, "dabc", 4, &out, &command), 1);
    assert_int_equal(command, PREFIX_DETACH);
    assert_string_equal(out.data, "a");
    buf_fini(&out);
}

TEST(test_names)
{
    unsigned char key = 0;
    assert_true(prefix_parse("C-a", &key) && key == 1);
    assert_true(prefix_parse("^]", &key) && key == 0x1d);
    assert_true(prefix_parse("C-\\", &key) && key == 0x1c);
    assert_false(prefix_parse("C-i", &key) || prefix_parse("C-m", &key) || prefix_parse("C-[", &key) || prefix_parse("x", &key));
    assert_false(prefix_parse("", &key) || prefix_parse("C-", &key) || prefix_parse("C-aa", &key) || prefix_parse("C-1", &key));
}

/* Pasted text has no keys of ours, wherever a read ends. */
TEST(test_pasted)
{
    static const char typed[] = "a\033[200~x\034d\033[201\034\033[201~b\034d";
    for (size_t first = 1; first < sizeof typed - 1; first++) {
        struct prefix prefix = {.key = PREFIX_DEFAULT, .pastes = true};
        struct buf out = BUF_INIT;
        enum prefix_command command;
        size_t used = prefix_take(&prefix, typed, first, &out, &command);
        assert_int_equal(used, first);
        assert_int_equal(command, PREFIX_NONE);
        used += prefix_take(&prefix, typed + used, sizeof typed - 1 - used, &out, &command);
        assert_int_equal(used, sizeof typed - 1);
        assert_int_equal(command, PREFIX_DETACH);
        assert_string_equal(out.data, "a\033[200~x\034d\033[201\034\033[201~b");
        buf_fini(&out);
    }
    check("\033[200~x\034d", "\033[200~x", PREFIX_DETACH); /* the terminal marks no pastes */
}

/* The program is gone in the middle of a paste: the next key counts again. */
TEST(test_mode_ends_in_a_paste)
{
    struct prefix prefix = {.key = PREFIX_DEFAULT, .pastes = true};
    struct buf out = BUF_INIT;
    enum prefix_command command;
    prefix_take(&prefix, "\033[200~x", 7, &out, &command);
    assert_true(prefix.paste.open);
    prefix.pastes = false;
    assert_int_equal(prefix_take(&prefix, "\034d", 2, &out, &command), 2);
    assert_int_equal(command, PREFIX_DETACH);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain), cmocka_unit_test(test_other_keyboards), cmocka_unit_test(test_in_pieces),
                                       cmocka_unit_test(test_names), cmocka_unit_test(test_pasted), cmocka_unit_test(test_mode_ends_in_a_paste)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
