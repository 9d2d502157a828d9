/* Keys that are meant for ue, and the lines of a session's history: drawing, searching. */
#include "tests/lib/test.h"

#include "client/attach/history.h"
#include "client/terminal/fit.h"
#include "client/terminal/overlay.h"
#include <string.h>

static void key_is(const char *typed, size_t used, int32_t expected)
{
    int32_t key = 0;
    assert_int_equal(overlay_key_next(typed, strlen(typed), &key), used);
    if (used > 0)
        assert_int_equal(key, expected);
}

TEST(test_keys)
{
    key_is("q", 1, 'q');
    key_is("\033", 1, 033);
    key_is("\033\033", 2, 033);
    key_is("\033[A", 3, OVERLAY_UP);
    key_is("\033OB", 3, OVERLAY_DOWN);
    key_is("\033[5~x", 4, OVERLAY_PAGE_UP);
    key_is("\033[6;5~", 6, OVERLAY_PAGE_DOWN);
    key_is("\033[1~", 4, OVERLAY_HOME);
    key_is("\033[<64;10;20M", 12, OVERLAY_WHEEL_UP);
    key_is("\033[<65;10;20m", 12, OVERLAY_WHEEL_DOWN);
    key_is("\033[<0;1;1M", 9, OVERLAY_OTHER);
    key_is("\303\251", 2, 0xe9);
    key_is("\377", 1, OVERLAY_OTHER);
}

TEST(test_keys_in_part)
{
    key_is("\033[", 0, 0);
    key_is("\033[1;5", 0, 0);
    key_is("\033O", 0, 0);
    key_is("\303", 0, 0);
    key_is("\033[1111111111111111111111111111111111111111", 32, OVERLAY_OTHER);
}

static void draws(const char *text, int left, int cols, const char *words, bool chosen, const char *expected)
{
    struct history history;
    struct buf out = BUF_INIT;
    history_init(&history, text, strlen(text));
    history_draw(&history, 0, left, cols, words, chosen, &out);
    assert_string_equal(out.data, expected);
    buf_fini(&out);
    history_fini(&history);
}

TEST(test_drawing)
{
    draws("abc\n", 0, 10, NULL, false, "\033[m\033[Kabc\033[m");
    draws("abcdef\n", 1, 3, NULL, false, "\033[m\033[Kbcd\033[m");
    draws("a\344\275\240b\n", 0, 2, NULL, false, "\033[m\033[Ka\033[m");
    draws("a\302\233b\n", 0, 9, NULL, false, "\033[m\033[Ka b\033[m");
    draws("xabcx\n", 0, 10, "abc", false, "\033[m\033[Kx\033[7mabc\033[27mx\033[m");
    draws("xa\033[31mbcx\n", 0, 10, "abc", false, "\033[m\033[Kx\033[7ma\033[31m\033[7mbc\033[27mx\033[m");
    draws("ab\n", 0, 10, NULL, true, "\033[0;7m\033[K\033[m\033[7mab\033[m");
    draws("", 0, 10, "a", false, "\033[m\033[K\033[m");
}

static void line_is(const char *text, int cols, const char *style, const char *expected)
{
    struct buf out = BUF_INIT;
    overlay_line(&out, 2, cols, style, text, strlen(text));
    buf_append_byte(&out, 0);
    assert_string_equal(out.data, expected);
    buf_fini(&out);
}

TEST(test_a_full_line_keeps_its_last_character)
{
    /* ESC [ K behind it would erase that: the cursor waits on it to wrap */
    line_is("abc", 3, "", "\033[3;1H\033[m\033[Kabc\033[m");
    line_is("abcd", 3, "\033[7m", "\033[3;1H\033[m\033[7m\033[Kabc\033[m");
    line_is("a\344\275\240b", 2, "", "\033[3;1H\033[m\033[Ka\033[m");
}

static void words_are(const char *text, int cols, const char *const rows[])
{
    size_t at = 0, size = strlen(text);
    for (; *rows; rows++) {
        size_t part = fit_words(text + at, size - at, cols);
        assert_int_equal(part, strlen(*rows));
        assert_memory_equal(text + at, *rows, part);
        at += part;
    }
    assert_int_equal(at, size);
}

TEST(test_wrapping)
{
    words_are("one two three", 7, (const char *const[]){"one two ", "three", NULL});
    words_are("one two three", 6, (const char *const[]){"one ", "two ", "three", NULL});
    words_are("  one   two", 5, (const char *const[]){"  one   ", "two", NULL});
    words_are("  longer than", 4, (const char *const[]){"  lo", "nger ", "than", NULL});
    words_are("\344\275\240\344\275\240 x", 3, (const char *const[]){"\344\275\240", "\344\275\240 ", "x", NULL});
    words_are("\344\275\240\344\275\240", 1, (const char *const[]){"\344\275\240", "\344\275\240", NULL});
    words_are("", 3, (const char *const[]){"", NULL});
    assert_int_equal(fit_line("one\ntwo", 7, 20), 3);
    assert_int_equal(fit_line("\ntwo", 4, 20), 0);
    assert_int_equal(fit_line("a\344\275", 3, 20), 3);
    static const char *const texts[] = {"a long one", "short", "none", NULL};
    assert_string_equal(fit_one(texts, 10), "a long one");
    assert_string_equal(fit_one(texts, 9), "short");
    assert_string_equal(fit_one(texts, 2), "none");
}

TEST(test_searching)
{
    static const char text[] = "one\ntwo\n\033[1mTh\033[mree\nfour one";
    struct history history;
    history_init(&history, text, strlen(text));
    assert_int_equal(history.count, 4);
    assert_int_equal(history_find(&history, 0, "one", false), 3);
    assert_int_equal(history_find(&history, 3, "one", false), 0);
    assert_int_equal(history_find(&history, 0, "one", true), 3);
    assert_int_equal(history_find(&history, 1, "two", true), 1);
    assert_int_equal(history_find(&history, 0, "three", false), 2);
    assert_int_equal(history_find(&history, 0, "tHree", false), -1);
    assert_int_equal(history_find(&history, 0, "Three", false), 2);
    assert_int_equal(history_match("aXbx", 4, "x", 2), 3);
    history_fini(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys), cmocka_unit_test(test_keys_in_part), cmocka_unit_test(test_drawing),
                                       cmocka_unit_test(test_a_full_line_keeps_its_last_character), cmocka_unit_test(test_wrapping),
                                       cmocka_unit_test(test_searching)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
