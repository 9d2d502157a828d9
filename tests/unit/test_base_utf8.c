/* utf8: Unicode 15 tables 3-7 to 3-11, cut characters, escaping and width. */
#include "base/utf8.h"
#include "tests/lib/test.h"
#include <string.h>

#define FFFD "\xEF\xBF\xBD"

static void expect_lossy(const char *in, size_t size, const char *want)
{
    struct buf out = BUF_INIT;
    assert_true(utf8_append_lossy(&out, in, size));
    assert_string_equal(out.data ? out.data : "", want);
    assert_true(utf8_valid(out.data, out.len));
    buf_fini(&out);
}
#define LOSSY(in, want) expect_lossy(in, sizeof in - 1, want)

TEST(replaces_maximal_subparts)
{
    /* Table 3-8: non-shortest forms. */
    LOSSY("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A");
    /* Table 3-9: surrogates. */
    LOSSY("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A");
    /* Table 3-10: other ill-formed sequences. */
    LOSSY("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B");
    /* Table 3-11: truncated sequences. */
    LOSSY("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", FFFD FFFD FFFD FFFD "A");
    /* The older example: 61 F1 80 80 E1 80 C2 62 80 63 80 BF 64. */
    LOSSY("a\xF1\x80\x80\xE1\x80\xC2" "b\x80" "c\x80\xBF" "d", "a" FFFD FFFD FFFD "b" FFFD "c" FFFD FFFD "d");
    LOSSY("", "");
    LOSSY("plain ascii that is longer than a word", "plain ascii that is longer than a word");
    LOSSY("end cut \xF0\x9F\x98", "end cut " FFFD);
    LOSSY("12345678\xC3\xA9\x80", "12345678\xC3\xA9" FFFD);
}

TEST(lossy_appends_all_or_nothing)
{
    struct buf out;
    buf_init(&out, 10);
    buf_append_text(&out, "12345");
    assert_false(utf8_append_lossy(&out, "abc\xFF", 4));
    assert_string_equal(out.data, "12345");
    assert_true(utf8_append_lossy(&out, "ab\xFF", 3));
    assert_string_equal(out.data, "12345ab" FFFD);
    buf_fini(&out);
}

TEST(decodes_table_3_7)
{
    static const struct {
        const char *bytes;
        size_t length;
        int32_t rune;
    } rows[] = {
        {"A", 1, 0x41},          {"\x7F", 1, 0x7F},          {"\x80", 1, -1},          {"\xC1\xBF", 1, -1},
        {"\xC2\x80", 2, 0x80},   {"\xDF\xBF", 2, 0x7FF},     {"\xC2\x41", 1, -1},      {"\xC2", 0, -1},
        {"\xE0\x9F\xBF", 1, -1}, {"\xE0\xA0\x80", 3, 0x800}, {"\xED\x9F\xBF", 3, 0xD7FF}, {"\xED\xA0\x80", 1, -1},
        {"\xEE\x80\x80", 3, 0xE000}, {"\xEF\xBF\xBF", 3, 0xFFFF}, {"\xE1\x80", 0, -1}, {"\xE1\x80\x41", 2, -1},
        {"\xF0\x8F\xBF\xBF", 1, -1}, {"\xF0\x90\x80\x80", 4, 0x10000}, {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF},
        {"\xF4\x90\x80\x80", 1, -1}, {"\xF1\x80\x80", 0, -1}, {"\xF1\x80\x80\xC0", 3, -1}, {"\xF5", 1, -1}, {"\xFF", 1, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int32_t rune = 0;
        assert_int_equal(utf8_decode(rows[i].bytes, strlen(rows[i].bytes), &rune), rows[i].length);
        assert_int_equal(rune, rows[i].rune);
    }
}

TEST(encodes_what_it_decodes)
{
    for (int32_t rune = 0; rune <= 0x110000; rune++) {
        char bytes[4];
        size_t n = utf8_encode(rune, bytes);
        bool character = rune <= 0x10FFFF && !(rune >= 0xD800 && rune <= 0xDFFF);
        if (character != (n > 0))
            fail_msg("U+%04X takes %zu bytes", (unsigned)rune, n);
        int32_t back = rune;
        if (n > 0 && (utf8_decode(bytes, n, &back) != n || back != rune || !utf8_valid(bytes, n)))
            fail_msg("U+%04X comes back as U+%04X", (unsigned)rune, (unsigned)back);
    }
    char bytes[4];
    assert_int_equal(utf8_encode(-1, bytes), 0);
}

TEST(appends_characters_only)
{
    struct buf out;
    buf_init(&out, 8);
    assert_true(utf8_append_rune(&out, 'a'));
    assert_true(utf8_append_rune(&out, 0x20ac));
    assert_false(utf8_append_rune(&out, 0xd800));
    assert_false(utf8_append_rune(&out, -1));
    assert_true(utf8_append_rune(&out, 0x1f600));
    assert_false(utf8_append_rune(&out, 'b'));
    assert_string_equal(out.data, "a\xe2\x82\xac\xf0\x9f\x98\x80");
    buf_fini(&out);
}

TEST(validates_at_every_offset_of_a_word)
{
    char text[40];
    for (size_t at = 0; at < sizeof text; at++) {
        memset(text, 'x', sizeof text);
        assert_true(utf8_valid(text, sizeof text));
        text[at] = (char)0x80;
        assert_false(utf8_valid(text, sizeof text));
        text[at] = (char)0xC3;
        assert_false(utf8_valid(text, sizeof text));
        if (at + 1 < sizeof text) {
            text[at + 1] = (char)0xA9;
            assert_true(utf8_valid(text, sizeof text));
            assert_false(utf8_valid(text, at + 1));
        }
    }
    assert_true(utf8_valid(NULL, 0));
}

TEST(knows_the_tail_that_may_be_completed)
{
    static const struct {
        const char *bytes;
        size_t tail;
    } rows[] = {
        {"", 0}, {"a", 0}, {"a\xC3", 1}, {"a\xC3\xA9", 0}, {"\xE2\x82", 2}, {"\xE2\x82\xAC", 0}, {"\xF0\x9F\x98", 3},
        {"\xF0\x9F\x98\x80", 0}, {"\xF0", 1}, {"\x80", 0}, {"\x80\x80\x80", 0}, {"\xFF", 0}, {"\xC0", 0}, {"\xE0\x80", 0},
        {"\xED\xA0", 0}, {"\xF4\x90", 0}, {"a\xE2\x82" "b", 0}, {"\xC3\xC3", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(utf8_incomplete_tail(rows[i].bytes, strlen(rows[i].bytes)), rows[i].tail);
}

TEST(knows_boundaries)
{
    const char *text = "a\xC3\xA9" "b";
    const bool want[] = {true, true, false, true, true, true};
    for (size_t at = 0; at < 6; at++)
        assert_int_equal(utf8_is_boundary(text, 4, at), want[at]);
}

TEST(cuts_at_boundaries)
{
    const char *text = "a\xC3\xA9\xE2\x82\xAC";
    const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6};
    for (size_t max = 0; max < 8; max++)
        assert_int_equal(utf8_cut(text, 6, max), want[max]);
    assert_int_equal(utf8_cut("\x80\x80\x80", 3, 2), 0); /* no character at all: nothing */
    assert_int_equal(utf8_cut(NULL, 0, 5), 0);
    assert_int_equal(utf8_count(text, 6), 3);
}

static void expect_escaped(const char *in, size_t size, bool keep_newlines, const char *want)
{
    struct buf out = BUF_INIT;
    utf8_append_escaped(&out, in, size, keep_newlines);
    assert_string_equal(out.data ? out.data : "", want);
    buf_fini(&out);
}

TEST(escapes_what_a_terminal_obeys)
{
    expect_escaped("a\tb\nc", 5, true, "a\tb\nc");
    expect_escaped("a\tb\nc\r", 6, false, "a\\x09b\\x0ac\\x0d");
    expect_escaped("\x1b]0;x\x07", 6, true, "\\x1b]0;x\\x07");
    expect_escaped("\0\x7F", 2, true, "\\x00\\x7f");
    expect_escaped("\xC2\x9B" "31m", 5, true, "\\xc2\\x9b31m");
    expect_escaped("\xC2\xA0\xC3\xA9", 4, true, "\xC2\xA0\xC3\xA9");
    expect_escaped("\xFF\xE2\x82", 3, true, "\\xff\\xe2\\x82");
    expect_escaped("\xE2\x80\xAE" "txt", 6, true, "\\xe2\\x80\\xaetxt");
}

TEST(escaping_ends_whole_at_the_cap)
{
    struct buf out;
    buf_init(&out, 4);
    utf8_append_escaped(&out, "ab\xC3\xA9\xC3\xA9", 6, true);
    assert_string_equal(out.data, "ab\xC3\xA9");
    buf_fini(&out);
}

TEST(knows_columns)
{
    static const struct {
        int32_t rune;
        int width;
    } rows[] = {
        {0, 0}, {'\n', 0}, {0x1B, 0}, {' ', 1}, {'a', 1}, {0x7F, 0}, {0x9B, 0}, {0xA0, 1}, {0xAD, 1}, {0xE9, 1}, {0x300, 0}, {0x36F, 0},
        {0x370, 1}, {0x5D0, 1}, {0x600, 1}, {0x64B, 0}, {0x1100, 2}, {0x1160, 0}, {0x200B, 0}, {0x200D, 0}, {0x2026, 1}, {0x20AC, 1},
        {0x2500, 1}, {0x231A, 2}, {0x3000, 2}, {0x303F, 1}, {0x3042, 2}, {0x4E2D, 2}, {0xAC00, 2}, {0xFE0F, 0}, {0xFEFF, 0},
        {0xFF01, 2}, {0xFF61, 1}, {0xFFFD, 1}, {0x1F600, 2}, {0x1F1E6, 1}, {0x20000, 2}, {0x3FFFD, 2}, {0xE0100, 0}, {0x10FFFF, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (utf8_width(rows[i].rune) != rows[i].width)
            fail_msg("U+%04X: %d columns, not %d", (unsigned)rows[i].rune, utf8_width(rows[i].rune), rows[i].width);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_maximal_subparts), cmocka_unit_test(lossy_appends_all_or_nothing),
        cmocka_unit_test(decodes_table_3_7), cmocka_unit_test(encodes_what_it_decodes), cmocka_unit_test(appends_characters_only),
        cmocka_unit_test(validates_at_every_offset_of_a_word), cmocka_unit_test(knows_the_tail_that_may_be_completed),
        cmocka_unit_test(knows_boundaries), cmocka_unit_test(cuts_at_boundaries), cmocka_unit_test(escapes_what_a_terminal_obeys),
        cmocka_unit_test(escaping_ends_whole_at_the_cap), cmocka_unit_test(knows_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
