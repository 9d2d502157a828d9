/* Marks are found whole, wherever reads have cut them; what has another nonce, or is no mark, is none; and taking them out leaves all else. */
#include "tests/lib/test.h"

#include "wire/semantic.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONCE "00112233445566778899aabbccddeeff"
#define OTHER "00112233445566778899aabbccddeefe"
#define MARK(kind, rest) "\033]133;" kind ";ue=" NONCE ";7" rest "\a"

struct found {
    struct buf text;
    uint64_t end; /* of the one before */
};

static void describe(void *arg, const struct semantic_mark *mark)
{
    struct found *found = arg;
    assert_true(mark->from >= found->end && mark->to > mark->from);
    found->end = mark->to;
    buf_printf(&found->text, "%c%llu@%llu-%llu<%.*s>", mark->kind, (unsigned long long)mark->level, (unsigned long long)mark->from,
               (unsigned long long)mark->to, (int)mark->size, mark->value);
}

/* In pieces of that many bytes, each in memory of its own. */
static char *scan(const char *data, size_t size, size_t piece)
{
    struct semantic semantic = {.nonce = NONCE};
    struct found found = {.text = BUF_INIT};
    for (size_t at = 0; at < size; at += piece) {
        size_t len = size - at < piece ? size - at : piece;
        char *copy = malloc(len);
        assert_non_null(copy);
        memcpy(copy, data + at, len);
        semantic_feed(&semantic, at, copy, len, describe, &found);
        free(copy);
        assert_true(semantic_settled(&semantic) <= at + len);
    }
    semantic_fini(&semantic);
    return buf_take(&found.text);
}

static void finds(const char *data, size_t size, const char *expected)
{
    static const size_t pieces[] = {1, 2, 3, 7, 1 << 20};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char *text = scan(data, size, pieces[i]);
        assert_string_equal(text, expected);
        free(text);
    }
}

TEST(finds_marks_in_pieces)
{
    static const char two[] = "x" MARK("A", ";e") "$ \033]633;D;ue=" NONCE ";12345;130\033\\y" MARK("B", "") "\033]133;I;ue;bash\a";
    finds(two, sizeof two - 1, "A7@1-49<e>D12345@51-106<130>B7@107-153<>I0@153-169<bash>");
}

TEST(takes_nothing_else_for_one)
{
    static const char *const others[] = {
        "\033]133;D;0\a",                              /* another integration's */
        "\033]133;D;ue=" OTHER ";7;0\a",               /* forged */
        "\033]133;D;ue=" NONCE "\a",                   /* without a level */
        "\033]133;D;ue=" NONCE ";\a",
        "\033]133;D;ue=" NONCE ";x7\a",
        "\033]133;D;ue=" NONCE ";99999999999999999999\a",
        "\033]133;Z;ue=" NONCE ";7\a",
        "\033]134;D;ue=" NONCE ";7\a",
        "\033P133;D;ue=" NONCE ";7\033\\",
        "\x9d" "133;D;ue=" NONCE ";7\x9c",             /* 8-bit: in UTF-8 these are parts of characters */
        "\033]133;D;ue=" NONCE ";7\x9c",
        "\033]133;E;ue=" NONCE ";7;a\nb\a",            /* a control ends it */
        "\033]133;D;ue=" NONCE ";7\033[m\a",
        "\033]133;D;\030ue=" NONCE ";7\a",
        "]133;D;ue=" NONCE ";7\a",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        finds(others[i], strlen(others[i]), "");
    /* what stands behind one that was never ended is seen */
    static const char half[] = "\033]133;D;ue=" NONCE "\033" MARK("D", ";0");
    finds(half, sizeof half - 1, "D7@44-92<0>");
}

TEST(forgets_what_is_too_long_or_missing)
{
    size_t size = (1 << 20) + 200;
    char *long_one = malloc(size);
    assert_non_null(long_one);
    memset(long_one, 'x', size);
    memcpy(long_one, "\033]133;E;ue=" NONCE ";7;", 46);
    memcpy(long_one + size - 60, MARK("D", ";1"), sizeof MARK("D", ";1") - 1);
    char *text = scan(long_one, size, 1 << 16);
    assert_string_equal(text, "D7@1048716-1048764<1>");
    free(text);
    free(long_one);

    struct semantic semantic = {.nonce = NONCE};
    struct found found = {.text = BUF_INIT};
    static const char mark[] = MARK("D", ";1");
    semantic_feed(&semantic, 0, mark, 20, describe, &found);
    assert_int_equal(semantic_settled(&semantic), 0);
    semantic_feed(&semantic, 21, mark + 21, sizeof mark - 1 - 21, describe, &found); /* a byte is missing */
    assert_int_equal(found.text.len, 0);
    semantic_feed(&semantic, 100, mark, sizeof mark - 1, describe, &found);
    assert_string_equal(found.text.data, "D7@100-148<1>");
    semantic_fini(&semantic);
    buf_fini(&found.text);
}

TEST(strips_its_own_only)
{
    struct buf text = BUF_INIT;
    buf_append_text(&text, MARK("A", "") "one\033]133;A\a" MARK("B", "") "two" MARK("C", "") "\033]133;D;ue=" OTHER ";7\a");
    assert_int_equal(semantic_strip(&text, NONCE), 0);
    assert_string_equal(text.data, "one\033]133;A\atwo\033]133;D;ue=" OTHER ";7\a");
    buf_clear(&text);
    buf_append_text(&text, "end" MARK("A", "") "\033]133;D;ue=" NONCE);
    assert_int_equal(semantic_strip(&text, NONCE), 43); /* may become one, and stays */
    assert_string_equal(text.data, "end\033]133;D;ue=" NONCE);
    buf_fini(&text);
}

TEST(values_come_back)
{
    struct buf out = BUF_INIT;
    static const char value[] = "a\\x0ab\\\\x0a;\\x3\\xzz\\";
    semantic_unescape(&out, value, sizeof value - 1);
    assert_string_equal(out.data, "a\nb\\x0a;\\x3\\xzz\\");
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_marks_in_pieces),     cmocka_unit_test(takes_nothing_else_for_one), cmocka_unit_test(forgets_what_is_too_long_or_missing),
        cmocka_unit_test(strips_its_own_only),       cmocka_unit_test(values_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
