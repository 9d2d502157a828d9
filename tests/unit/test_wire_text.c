/* text: the worked examples of what models trained on the Codex shell tools read. */
#include "base/mem.h"
#include "base/utf8.h"
#include "tests/lib/test.h"
#include "wire/text.h"
#include <stdlib.h>
#include <string.h>

#define SMILE "\xF0\x9F\x98\x80"
#define FIVE SMILE SMILE SMILE SMILE SMILE
#define E "\xE2\x80\xA6"
#define LONG_LINE "this is an example of a long output that should be truncated"
#define TWO_LINES LONG_LINE "\nalso some other line"
#define TEN_SMILES FIVE FIVE "\nsecond line with text\n"
#define TOKENS_TEXT "token one token two token three token four token five"

TEST(truncates_the_worked_examples)
{
    static const struct {
        const char *text;
        size_t limit;
        bool tokens;
        unsigned original, lines;
        const char *want;
    } rows[] = {
        {"example output", 1, false, 4, 1, E "13 chars truncated" E "t"},
        {"example output", 1, true, 4, 1, "ex" E "3 tokens truncated" E "ut"},
        {LONG_LINE, 5, true, 15, 1, "this is an" E "10 tokens truncated" E " truncated"},
        {LONG_LINE, 30, false, 15, 1, "this is an exam" E "30 chars truncated" E "ld be truncated"},
        {TWO_LINES, 30, false, 21, 2, "this is an exam" E "51 chars truncated" E "some other line"},
        {TWO_LINES, 10, true, 21, 2, "this is an example o" E "11 tokens truncated" E "also some other line"},
        {TEN_SMILES, 20, false, 16, 2, SMILE SMILE E "21 chars truncated" E "with text\n"},
        {TEN_SMILES, 8, true, 16, 2, SMILE SMILE SMILE SMILE E "8 tokens truncated" E " line with text\n"},
        {"abcdef", 0, true, 2, 1, E "2 tokens truncated" E},
        {"abcdef", 0, false, 2, 1, E "6 chars truncated" E},
        {TOKENS_TEXT, 4, true, 14, 1, "token on" E "10 tokens truncated" E "ken five"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len = strlen(rows[i].text), budget = rows[i].tokens ? text_token_budget(rows[i].limit) : rows[i].limit;
        struct buf plain = BUF_INIT, formatted = BUF_INIT;
        assert_true(text_truncate_middle(&plain, rows[i].text, len, budget, rows[i].tokens));
        assert_string_equal(plain.data, rows[i].want);
        assert_true(text_formatted(&formatted, rows[i].text, len, budget, rows[i].tokens));
        char *want = xasprintf("Warning: truncated output (original token count: %u)\nTotal output lines: %u\n\n%s", rows[i].original,
                               rows[i].lines, rows[i].want);
        assert_string_equal(formatted.data, want);
        free(want);
        buf_fini(&plain);
        buf_fini(&formatted);
    }
}

TEST(leaves_what_fits)
{
    struct buf out = BUF_INIT;
    assert_true(text_formatted(&out, "abcdef", 6, 6, false));
    assert_true(text_truncate_middle(&out, "abcdef", 6, 8, true));
    assert_true(text_truncate_middle(&out, "", 0, 0, true));
    assert_true(text_formatted(&out, NULL, 0, 0, true));
    assert_string_equal(out.data, "abcdefabcdef");
    buf_fini(&out);
}

TEST(splits)
{
    static const struct {
        const char *text;
        size_t begin, end, removed;
        const char *head, *tail;
    } rows[] = {
        {"hello world", 5, 5, 1, "hello", "world"}, {"abc", 0, 0, 3, "", ""}, {"abcdef", 3, 0, 3, "abc", ""},
        {"abcdef", 0, 3, 3, "", "def"}, {"abcdef", 4, 4, 0, "abcd", "ef"}, {SMILE "abc" SMILE, 5, 5, 1, SMILE "a", "c" SMILE},
        {FIVE, 1, 1, 5, "", ""}, {FIVE, 7, 7, 3, SMILE, SMILE}, {FIVE, 8, 8, 1, SMILE SMILE, SMILE SMILE}, {"", 3, 3, 0, "", ""},
        {"abc", 9, 9, 0, "abc", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len = strlen(rows[i].text);
        struct text_split split = text_split(rows[i].text, len, rows[i].begin, rows[i].end);
        assert_int_equal(split.removed_chars, rows[i].removed);
        assert_int_equal(split.head_len, strlen(rows[i].head));
        assert_memory_equal(rows[i].text, rows[i].head, split.head_len);
        assert_string_equal(rows[i].text + split.tail_at, rows[i].tail);
    }
}

static void expect_answer(const struct text_answer *answer, const char *want)
{
    struct buf out = BUF_INIT;
    assert_true(text_answer(&out, answer));
    assert_string_equal(out.data, want);
    buf_fini(&out);
}

TEST(answers_in_the_order_of_lines)
{
    struct text_answer finished = {.chunk_id = "3fa91c", .wall_ns = 1200000, .has_exit_code = true, .has_original = true,
                                   .original_bytes = 6, .output = "hello\n", .output_len = 6, .max_tokens = 10000};
    expect_answer(&finished, "Chunk ID: 3fa91c\nWall time: 0.0012 seconds\nProcess exited with code 0\nOriginal token count: 2\n"
                             "Output:\nhello\n");
    struct text_answer running = {.chunk_id = "07be2d", .wall_ns = 250699999, .has_session = true, .session_id = 48213,
                                  .has_original = true, .max_tokens = 10000};
    expect_answer(&running, "Chunk ID: 07be2d\nWall time: 0.2507 seconds\nProcess running with session ID 48213\n"
                            "Original token count: 0\nOutput:\n");
    const char *patch = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nA uexec_apply.txt\n";
    struct text_answer patched = {.output = patch, .output_len = strlen(patch), .max_tokens = 10000};
    char *want = xasprintf("Wall time: 0.0000 seconds\nOutput:\n%s", patch);
    expect_answer(&patched, want);
    free(want);
    struct text_answer over = {.chunk_id = "abc123", .wall_ns = 1250000000, .has_exit_code = true, .has_original = true,
                               .original_bytes = 53, .output = TOKENS_TEXT, .output_len = 53, .max_tokens = 4};
    expect_answer(&over, "Chunk ID: abc123\nWall time: 1.2500 seconds\nProcess exited with code 0\nOriginal token count: 14\nOutput:\n"
                         "Warning: truncated output (original token count: 14)\nTotal output lines: 1\n\n"
                         "token on" E "10 tokens truncated" E "ken five");
}

TEST(rounds_the_wall_time)
{
    static const struct {
        int64_t ns;
        const char *want;
    } rows[] = {{0, "0.0000"}, {49999, "0.0000"}, {50000, "0.0001"}, {999949999, "0.9999"}, {999950000, "1.0000"},
                {INT64_C(3600000000000), "3600.0000"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct text_answer answer = {.wall_ns = rows[i].ns};
        char *want = xasprintf("Wall time: %s seconds\nOutput:\n", rows[i].want);
        expect_answer(&answer, want);
        free(want);
    }
}

TEST(truncates_999_lines)
{
    struct buf text = BUF_INIT, out = BUF_INIT, want = BUF_INIT;
    for (int i = 1; i <= 999; i++)
        buf_printf(&text, "EXEC-LINE-%04d xxxxxxxxxxxxxxxxxxxx\n", i);
    assert_int_equal(text.len, 35964);
    struct text_answer answer = {.chunk_id = "000000", .has_exit_code = true, .exit_code = 3, .has_original = true,
                                 .original_bytes = text.len, .output = text.data, .output_len = text.len, .max_tokens = 50};
    assert_true(text_answer(&out, &answer));
    buf_printf(&want, "Chunk ID: 000000\nWall time: 0.0000 seconds\nProcess exited with code 3\nOriginal token count: 8991\nOutput:\n"
                      "Warning: truncated output (original token count: 8991)\nTotal output lines: 999\n\n");
    buf_printf(&want, "EXEC-LINE-0001 xxxxxxxxxxxxxxxxxxxx\nEXEC-LINE-0002 xxxxxxxxxxxxxxxxxxxx\nEXEC-LINE-0003 xxxxxxxxxxxxx");
    buf_printf(&want, E "8941 tokens truncated" E);
    buf_printf(&want, "E-0997 xxxxxxxxxxxxxxxxxxxx\nEXEC-LINE-0998 xxxxxxxxxxxxxxxxxxxx\nEXEC-LINE-0999 xxxxxxxxxxxxxxxxxxxx\n");
    assert_string_equal(out.data, want.data);
    buf_fini(&text);
    buf_fini(&out);
    buf_fini(&want);
}

TEST(joins_head_and_tail)
{
    struct buf out = BUF_INIT;
    assert_true(text_join(&out, "01234", 5, "789ab", 5, 2));
    assert_string_equal(out.data, "01234\n... 2 bytes omitted ...\n789ab");
    buf_clear(&out);
    assert_true(text_join(&out, "01234", 5, "56789", 5, 0));
    assert_string_equal(out.data, "0123456789");
    buf_clear(&out);
    assert_true(text_join(&out, NULL, 0, NULL, 0, 7));
    assert_string_equal(out.data, "\n... 7 bytes omitted ...\n");
    buf_fini(&out);
}

static void expect_omitted(const char *text, uint64_t omitted, uint64_t original, size_t budget, const char *want)
{
    struct buf out = BUF_INIT;
    assert_true(text_formatted_omitted(&out, text, strlen(text), omitted, original, budget, true));
    assert_string_equal(out.data, want);
    buf_fini(&out);
}

TEST(tells_what_collection_lost)
{
    const char *text = "01234\n... 2 bytes omitted ...\n789ab";
    expect_omitted(text, 2, 12, 1000, text);
    expect_omitted("01234789ab", 2, 12, 1000, "... 2 bytes omitted ...\n01234789ab");
    expect_omitted("", 2, 2, 1000, "... 2 bytes omitted ...\n");
    /* The line was cut out: told above the empty line. */
    expect_omitted(text, 2, 12, 8,
                   "Warning: truncated output (original token count: 3)\n... 2 bytes omitted ...\n\n0123" E "7 tokens truncated" E "89ab");
    /* The line stays: not told twice. */
    const char *off_centre = "0\n... 2 bytes omitted ...\n0123456789012345678901234567890123456789012345678901234567890123456789";
    expect_omitted(off_centre, 2, 98, 64,
                   "Warning: truncated output (original token count: 25)\n\n0\n... 2 bytes omitted ...\n012345" E "8 tokens truncated" E
                   "89012345678901234567890123456789");
    expect_omitted("abcdef", 0, 6, 4,
                   "Warning: truncated output (original token count: 2)\nTotal output lines: 1\n\nab" E "1 tokens truncated" E "ef");
}

TEST(oneshot_counts_lines_when_they_change)
{
    struct text_oneshot answer = {.exit_code = 1, .wall_ns = 240000000, .output = "a\nb\nc\n", .output_len = 6, .budget_bytes = 100};
    struct buf out = BUF_INIT;
    assert_true(text_oneshot(&out, &answer));
    assert_string_equal(out.data, "Exit code: 1\nWall time: 0.2 seconds\nOutput:\na\nb\nc\n");
    buf_clear(&out);
    answer.budget_bytes = 2;
    answer.wall_ns = 1960000000;
    assert_true(text_oneshot(&out, &answer));
    assert_string_equal(out.data, "Exit code: 1\nWall time: 2 seconds\nTotal output lines: 3\nOutput:\na" E "4 chars truncated" E "\n");
    buf_clear(&out);
    answer = (struct text_oneshot){.output = "abcdef", .output_len = 6, .budget_bytes = 4, .tokens = true};
    assert_true(text_oneshot(&out, &answer));
    assert_string_equal(out.data, "Exit code: 0\nWall time: 0 seconds\nOutput:\nab" E "1 tokens truncated" E "ef");
    buf_fini(&out);
}

TEST(leaves_a_full_buffer_as_it_was)
{
    struct text_answer answer = {.chunk_id = "abc123", .has_original = true, .original_bytes = 99, .omitted_bytes = 46,
                                 .output = TOKENS_TEXT, .output_len = 53, .max_tokens = 4};
    struct buf whole = BUF_INIT;
    assert_true(text_answer(&whole, &answer));
    for (size_t max = 3; max <= whole.len + 3; max++) {
        struct buf out;
        buf_init(&out, max);
        buf_append_text(&out, "old");
        assert_int_equal(text_answer(&out, &answer), max == whole.len + 3);
        assert_string_equal(out.data + (max == whole.len + 3 ? 3 : 0), max == whole.len + 3 ? whole.data : "old");
        buf_fini(&out);
    }
    buf_fini(&whole);
}

TEST(counts)
{
    assert_int_equal(text_tokens(0), 0);
    assert_int_equal(text_tokens(1), 1);
    assert_int_equal(text_tokens(4), 1);
    assert_int_equal(text_tokens(5), 2);
    assert_true(text_tokens(UINT64_MAX) == UINT64_C(1) << 62);
    assert_int_equal(text_token_budget(50), 200);
    assert_true(text_token_budget(UINT64_MAX) == SIZE_MAX);
    assert_int_equal(text_lines("", 0), 0);
    assert_int_equal(text_lines("a", 1), 1);
    assert_int_equal(text_lines("a\n", 2), 1);
    assert_int_equal(text_lines("a\n\n", 3), 2);
    assert_int_equal(text_lines("\nb", 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncates_the_worked_examples), cmocka_unit_test(leaves_what_fits), cmocka_unit_test(splits),
        cmocka_unit_test(answers_in_the_order_of_lines), cmocka_unit_test(rounds_the_wall_time),
        cmocka_unit_test(truncates_999_lines), cmocka_unit_test(joins_head_and_tail), cmocka_unit_test(tells_what_collection_lost),
        cmocka_unit_test(oneshot_counts_lines_when_they_change), cmocka_unit_test(leaves_a_full_buffer_as_it_was),
        cmocka_unit_test(counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
