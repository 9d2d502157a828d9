/* Patterns on bytes that keep coming. */
#include "tests/lib/test.h"

#include "base/clock.h"
#include "sys/pattern.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pattern *compiled(const char *text)
{
    struct err err = {0};
    struct pattern *pattern = pattern_new(text, strlen(text), &err);
    if (!pattern)
        fail_msg("%s", err.text);
    return pattern;
}

/* Feeds data in pieces of `step` bytes; "from-to" of the match and after how many bytes, or "none". */
static const char *feed(const char *text, const char *data, size_t size, size_t step, bool ended)
{
    static char said[64];
    struct pattern *pattern = compiled(text);
    struct pattern_search search = {0};
    size_t from, to;
    snprintf(said, sizeof said, "none");
    for (size_t have = step < size ? step : size;; have = have + step < size ? have + step : size) {
        enum pattern_result result;
        while ((result = pattern_search(pattern, &search, data, have, ended && have == size, &from, &to)) == PATTERN_MORE)
            ;
        if (result == PATTERN_MATCH)
            snprintf(said, sizeof said, "%zu-%zu@%zu", from, to, have);
        else if (result == PATTERN_COSTLY)
            snprintf(said, sizeof said, "costly");
        if (result != PATTERN_NONE || have == size)
            break;
    }
    pattern_free(pattern);
    return said;
}

#define FEED(text, data, step, ended) feed(text, data, sizeof(data) - 1, step, ended)

TEST(test_found_across_pieces)
{
    assert_string_equal(FEED("needle", "hay needle hay", 1, false), "4-10@10");
    assert_string_equal(FEED("needle", "hay needle hay", 7, false), "4-10@14");
    assert_string_equal(FEED("needle", "hay needl", 2, false), "none");
    assert_string_equal(FEED("a.*z", "1a2\n3a4z", 1, false), "5-8@8");
    assert_string_equal(FEED("(?s)a.*z", "1a2\n3a4z", 1, false), "1-8@8");
    assert_string_equal(FEED("\"[^\"]*\"|bar", "x\"12bar", 1, false), "4-7@7"); /* a later match although an earlier one is open */
    assert_string_equal(FEED("(?<=ab)c", "abababc", 1, false), "6-7@7");
    assert_string_equal(FEED("x\\Ky", "axy", 1, false), "2-3@3");
}

TEST(test_lines_and_ends)
{
    assert_string_equal(FEED("^>>> ", "1\r\n>>> ", 1, false), "3-7@7");
    assert_string_equal(FEED("^>>> ", "1 >>> ", 1, false), "none");
    assert_string_equal(FEED("one$", "one\r\ntwo", 8, false), "0-3@8");
    assert_string_equal(FEED("\\$ $", "user$ ", 1, false), "4-6@6");
    assert_string_equal(FEED("foo\\z", "a foo", 5, true), "2-5@5");
}

TEST(test_utf8_and_binary)
{
    assert_string_equal(FEED("é", "caf\xc3\xa9", 1, false), "3-5@5");
    assert_string_equal(FEED("caf.", "caf\xc3\xa9", 1, false), "0-5@5");
    assert_string_equal(FEED("end", "\xff\xfe\xc3 end", 1, false), "4-7@7");
    assert_string_equal(FEED("end", "\0\0end", 1, false), "2-5@5");
    assert_string_equal(FEED("f.d", "f\xff" "d fad", 1, false), "4-7@7");
}

TEST(test_errors)
{
    struct err err = {0};
    assert_null(pattern_new("(", 1, &err));
    assert_int_equal(err.code, ERR_PATTERN);
    assert_non_null(strstr(err.text, "'('"));
    assert_non_null(strstr(err.text, "at byte 1"));
    assert_null(pattern_new("", 0, &err));
    assert_null(pattern_new("a\xff", 2, &err));
    assert_null(pattern_new("\\C", 2, &err));
    char *big = malloc(PATTERN_TEXT_MAX + 1);
    memset(big, 'a', PATTERN_TEXT_MAX + 1);
    assert_null(pattern_new(big, PATTERN_TEXT_MAX + 1, &err));
    free(big);
    pattern_free(NULL);
}

TEST(test_cache)
{
    struct pattern *one = compiled("same"), *two = compiled("same"), *many[40];
    char text[16];
    assert_ptr_equal(one, two);
    assert_string_equal(pattern_text(one), "same");
    pattern_free(two);
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "p%d", i);
        many[i] = compiled(text);
    }
    for (int i = 0; i < 40; i++)
        pattern_free(many[i]);
    assert_ptr_equal(compiled("same"), one); /* in use all the time */
    pattern_free(one);
    pattern_free(one);
}

TEST(test_costly_is_bounded)
{
    enum { SIZE = 200000, VAST = 20 * SIZE }; /* at a thousand steps a start: far over the limit on any machine */
    char *data = malloc(VAST);
    int64_t begin = clock_mono_ms();
    memset(data, 'a', VAST);
    assert_string_equal(feed("(a+)+\\d\\z", data, SIZE, SIZE, true), "costly");
    assert_string_equal(feed("(a|aa)+\\d", data, 2000, 2000, true), "costly");
    assert_string_equal(feed("(?:a|b){1,1000}\\d", data, VAST, VAST, true), "costly"); /* no start of it is, all together are */
    print_message("two costly patterns refused within %lld ms\n", (long long)(clock_mono_ms() - begin));
    free(data);
}

/* Each call is short however much there is to search. */
TEST(test_large_data_in_turns)
{
    enum { SIZE = 8 << 20 };
    char *data = malloc(SIZE);
    struct pattern *pattern = compiled("[a-y]+z\\b.{3}END");
    struct pattern_search search = {0};
    size_t from, to, calls = 0;
    enum pattern_result result;
    for (size_t i = 0; i < SIZE; i++)
        data[i] = i % 61 == 60 ? '\n' : (char)('a' + i % 25);
    memcpy(data + SIZE - 20, "\nabcz...END\n", 12);
    do {
        result = pattern_search(pattern, &search, data, SIZE, false, &from, &to);
        calls++;
    } while (result == PATTERN_MORE);
    assert_int_equal(result, PATTERN_MATCH);
    assert_int_equal(from, SIZE - 19);
    assert_int_equal(to, SIZE - 9);
    assert_true(calls > 1);
    pattern_free(pattern);
    free(data);
}

TEST(test_shift)
{
    struct pattern *pattern = compiled("abc");
    struct pattern_search search = {0};
    size_t from, to;
    assert_int_equal(pattern_search(pattern, &search, "xxxxab", 6, false, &from, &to), PATTERN_NONE);
    assert_int_equal(search.at, 4);
    pattern_search_shift(&search, 3);
    assert_int_equal(pattern_search(pattern, &search, "xabc", 4, false, &from, &to), PATTERN_MATCH);
    assert_int_equal(from, 1);
    pattern_search_shift(&search, 100);
    pattern_free(pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_across_pieces), cmocka_unit_test(test_lines_and_ends),      cmocka_unit_test(test_utf8_and_binary),
        cmocka_unit_test(test_errors),              cmocka_unit_test(test_cache),               cmocka_unit_test(test_costly_is_bounded),
        cmocka_unit_test(test_large_data_in_turns), cmocka_unit_test(test_shift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
