/* What a terminal answers, whole and cut anywhere; and that no key is taken for an answer. */
#include "tests/lib/test.h"

#include "client/terminal/reply.h"
#include <string.h>

/* Whole with keys behind it, and each beginning of it. */
static void is_reply(struct profile *profile, const char *text, enum reply expected)
{
    char data[REPLY_MAX * 2];
    size_t used, size = strlen(text);
    struct profile other = {0};
    for (size_t cut = 1; cut < size; cut++)
        assert_int_equal(reply_take(&other, text, cut, &used), REPLY_PART);
    memcpy(data, text, size);
    memcpy(data + size, "abc", 3);
    assert_int_equal(reply_take(profile, data, size + 3, &used), expected);
    assert_int_equal(used, size);
}

TEST(test_replies)
{
    struct profile profile = {0};
    is_reply(&profile, "\033]11;rgb:ff/80/0\033\\", REPLY_FACT);
    is_reply(&profile, "\033]10;rgb:1/2/3\007", REPLY_FACT);
    is_reply(&profile, "\033]12;rgb:1/2/3\007", REPLY_FACT);
    is_reply(&profile, "\033]4;15;rgb:ffff/0000/1234\007", REPLY_FACT);
    is_reply(&profile, "\033]4;99;rgb:ffff/0000/1234\007", REPLY_FACT); /* nobody asked, but no key */
    is_reply(&profile, "\033]11;red\007", REPLY_FACT);
    is_reply(&profile, "\033[6;20;10t", REPLY_FACT);
    is_reply(&profile, "\033[?997;2n", REPLY_SCHEME);
    is_reply(&profile, "\033[?62;22c", REPLY_LAST);
    is_reply(&profile, "\033[?6c", REPLY_LAST);
    is_reply(&profile, "\033[?64;1;2;6;9;15;16;17;18;21;22;28c", REPLY_LAST);
    assert_int_equal(profile.known, 7u << PROFILE_FOREGROUND | 1u << 15);
    assert_int_equal(profile.colours[PROFILE_BACKGROUND][0], 0xffff);
    assert_int_equal(profile.colours[15][2], 0x1234);
    assert_int_equal(profile.scheme, PROFILE_LIGHT);
    assert_int_equal(profile.cell_height, 20);
    assert_int_equal(profile.cell_width, 10);
    is_reply(&profile, "\033[6;99999;10t", REPLY_FACT);
    assert_int_equal(profile.cell_height, 20);
}

TEST(test_keys)
{
    static const char *const keys[] = {
        "\033[A", "\033OA", "\033[6~", "\033[6;5~", "\033[1;5C", "\033[200~", "\033[97;5u", "\033[6;5u",
        "\033[27;5;99~", "\033[<0;1;2M", "\033[I", "\033x", "\033\033", "\033[Z", "\033]x", "\033[M !!",
        "\033[99;5:3u", "\033]9;x\007", "\033]110;x\007", "\033]11x", "\033]11;a\001", "\033]4;1:x\007",
        "\033[4;1;1t", "\033[?997;3n", "\033[?1;2n", "\033[?c", "\033[?u", "\033[6;1;2;3t", "\033[6;1t",
        "\033[13;2:3u"
    };
    struct profile profile = {0};
    size_t used;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(reply_take(&profile, keys[i], strlen(keys[i]), &used), REPLY_NONE);
    assert_int_equal(profile.known, 0);
    assert_int_equal(profile.scheme, PROFILE_SCHEME_UNKNOWN);
}

TEST(test_endless)
{
    struct profile profile = {0};
    char data[REPLY_MAX * 4];
    size_t used;
    memset(data, '1', sizeof data);
    memcpy(data, "\033]11;", 5);
    assert_int_equal(reply_take(&profile, data, REPLY_MAX - 1, &used), REPLY_PART);
    for (size_t size = REPLY_MAX; size <= sizeof data; size++)
        assert_int_equal(reply_take(&profile, data, size, &used), REPLY_NONE);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = i % 2 ? ';' : '1';
    memcpy(data, "\033[?1", 4);
    assert_int_equal(reply_take(&profile, data, REPLY_MAX - 1, &used), REPLY_PART);
    assert_int_equal(reply_take(&profile, data, REPLY_MAX, &used), REPLY_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replies), cmocka_unit_test(test_keys), cmocka_unit_test(test_endless)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
