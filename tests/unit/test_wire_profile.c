/* What a person's terminal is: colours in the words of terminals, JSON there and back, and what makes no sense is left out. */
#include "tests/lib/test.h"

#include "wire/profile.h"
#include <string.h>

static void is_colour(const char *text, int red, int green, int blue)
{
    uint16_t colour[3] = {0};
    assert_true(profile_parse_colour(text, strlen(text), colour));
    assert_int_equal(colour[0], red);
    assert_int_equal(colour[1], green);
    assert_int_equal(colour[2], blue);
}

TEST(test_colours)
{
    static const char *const wrong[] = {"", "rgb:", "rgb:1/2", "rgb:1/2/", "rgb:1/2/3/4", "rgb:12345/1/1", "rgb:g/1/1", "rgba:1/2/3",
                                        "#112233", "rgb:1/2/3 ", "rgba:1/2/3/", "red", "rgb:1//3"};
    uint16_t colour[3] = {7, 7, 7};
    is_colour("rgb:0/8/f", 0, 8 * 0x1111, 0xffff);
    is_colour("rgb:00/80/ff", 0, 0x8080, 0xffff);
    is_colour("rgb:000/fff/7ff", 0, 0xffff, 0x7ff * 65535 / 0xfff);
    is_colour("rgb:1234/ABCD/ffff", 0x1234, 0xabcd, 0xffff);
    is_colour("rgba:11/22/33/ff", 0x1111, 0x2222, 0x3333);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(profile_parse_colour(wrong[i], strlen(wrong[i]), colour));
    assert_int_equal(colour[0], 7);
}

TEST(test_there_and_back)
{
    struct profile profile = {.known = 1u << PROFILE_BACKGROUND | 1u << 3 | 1u << 15, .scheme = PROFILE_LIGHT, .cell_height = 20,
                          .cell_width = 9}, back;
    struct buf text = BUF_INIT;
    profile.colours[PROFILE_BACKGROUND][1] = 0x1234;
    profile.colours[3][0] = 0xffff;
    profile.colours[15][2] = 1;
    profile_print(&text, &profile);
    assert_true(profile_parse(&back, text.data, text.len));
    assert_true(profile_equal(&profile, &back));
    back.colours[3][0] = 0;
    assert_false(profile_equal(&profile, &back));
    buf_clear(&text);
    profile = (struct profile){0};
    profile_print(&text, &profile);
    assert_true(profile_parse(&back, text.data, text.len));
    assert_true(profile_equal(&profile, &back));
    buf_fini(&text);
}

TEST(test_nonsense)
{
    static const char *const none[] = {"", "[]", "null", "{", "x"};
    static const char odd[] = "{\"background\":7,\"cursor\":\"red\",\"palette\":{\"0\":\"rgb:1/1/1\"},"
                              "\"scheme\":\"grey\",\"cell\":[1e9,3],\"new\":1}";
    struct profile profile, nothing = {0};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(profile_parse(&profile, none[i], strlen(none[i])));
    assert_true(profile_parse(&profile, odd, strlen(odd)));
    assert_true(profile_equal(&profile, &nothing));
}

TEST(test_scheme)
{
    struct profile profile = {0};
    assert_int_equal(profile_scheme(NULL), PROFILE_DARK);
    assert_int_equal(profile_scheme(&profile), PROFILE_DARK);
    profile.known = 1u << PROFILE_BACKGROUND;
    assert_int_equal(profile_scheme(&profile), PROFILE_DARK);
    memset(profile.colours[PROFILE_BACKGROUND], 0xf0, sizeof profile.colours[0]);
    assert_int_equal(profile_scheme(&profile), PROFILE_LIGHT);
    profile.scheme = PROFILE_DARK; /* its own word counts */
    assert_int_equal(profile_scheme(&profile), PROFILE_DARK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_colours), cmocka_unit_test(test_there_and_back),
                                       cmocka_unit_test(test_nonsense), cmocka_unit_test(test_scheme)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
