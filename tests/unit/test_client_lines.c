/* client/lines, client/safe: what reaches a person's terminal of what a program wrote. */
#include "client/print/lines.h"
#include "client/print/safe.h"
#include "tests/lib/test.h"
#include <stdio.h>
#include <string.h>

static void on_line(void *arg, const char *text, size_t size)
{
    struct buf *out = arg;
    buf_append(out, text, size);
    buf_append_byte(out, '|');
}

/* In one feed, and byte by byte, which must make no difference. */
static void check(bool colors, const char *data, size_t size, const char *wanted)
{
    for (int way = 0; way < 2; way++) {
        struct buf out = BUF_INIT;
        struct lines lines = {.fn = on_line, .arg = &out, .colors = colors};
        if (way == 0)
            lines_feed(&lines, data, size);
        for (size_t i = 0; way == 1 && i < size; i++)
            lines_feed(&lines, data + i, 1);
        lines_end(&lines);
        assert_string_equal(out.data ? out.data : "", wanted);
        lines_fini(&lines);
        buf_fini(&out);
    }
}
#define LINES(data, wanted) check(false, data, sizeof(data) - 1, wanted)
#define COLORED(data, wanted) check(true, data, sizeof(data) - 1, wanted)

TEST(test_lines)
{
    LINES("a\r\nb\nc", "a|b|c|");
    LINES("\r\n\r\n", "||");
    LINES("10%\r20%\r100%\r\n", "100%|");
    LINES("abc\rX\n", "Xbc|");
    LINES("sh> lx\b\033[Ks\r\n", "sh> ls|");
    LINES("sh> ac\b\033[1@b\n", "sh> abc|");
    LINES("abcd\r\033[2Pxy\n", "xy|");
    LINES("\033[5Cx\n", "     x|");
    LINES("a\tb\n", "a\tb|");
    LINES("\xe4\xbd\xa0\xe5\xa5\xbd e\xcc\x81\n", "\xe4\xbd\xa0\xe5\xa5\xbd e\xcc\x81|");
    LINES("trailing   \033[m \n", "trailing|");
    LINES("one\033[2;1Htwo\033[10;5H\n", "one|two||");
}

TEST(test_nothing_dangerous)
{
    COLORED("\033]0;title\007a\033]52;c;aGk=\033\\b\033[6n\033[cc\033P+q\033\\d\n", "abcd|");
    COLORED("\033[31mred\033[m plain\n", "\033[0;31mred\033[m plain|");
    LINES("\033[31mred\033[m plain\n", "red plain|");
    COLORED("\xc2\x9b" "31m\xe2\x80\xaex\n", "31m\\xe2\\x80\\xaex|");
    COLORED("a\033[?1049hb\033[?1049l\007\n", "a|b||");
}

TEST(test_long_lines_come_in_pieces)
{
    struct buf out = BUF_INIT;
    struct lines lines = {.fn = on_line, .arg = &out};
    for (int i = 0; i < 3 * LINES_CELLS_MAX; i++)
        lines_feed(&lines, "x", 1);
    lines_feed(&lines, "\033[99999C\033[99999@\033[99999P\033[99999X", strlen("\033[99999C\033[99999@\033[99999P\033[99999X"));
    assert_true(lines.room <= 2 * LINES_CELLS_MAX + 2);
    assert_true(out.len >= 2 * LINES_CELLS_MAX);
    lines_fini(&lines);
    buf_fini(&out);
}

TEST(test_rest_is_told_once)
{
    struct buf out = BUF_INIT;
    struct lines lines = {.fn = on_line, .arg = &out};
    lines_feed(&lines, "sh> ", 4);
    assert_true(lines_has_rest(&lines));
    lines_emit_rest(&lines);
    assert_false(lines_has_rest(&lines));
    lines_emit_rest(&lines);
    lines_feed(&lines, "ls\r\n", 4);
    lines_feed(&lines, "done", 4);
    lines_emit_rest(&lines);
    lines_feed(&lines, "\r\nx\n", 4);
    assert_string_equal(out.data, "sh>|sh> ls|done|x|");
    lines_fini(&lines);
    buf_fini(&out);
}

static void check_safe(const char *data, size_t size, const char *wanted)
{
    struct buf out = BUF_INIT;
    struct safe safe = {0};
    for (size_t i = 0; i < size; i++)
        safe_feed(&safe, data + i, 1, &out);
    assert_string_equal(out.data ? out.data : "", wanted);
    buf_fini(&out);
}
#define SAFE(data, wanted) check_safe(data, sizeof(data) - 1, wanted)

TEST(test_safe)
{
    SAFE("a\033[2;3Hb\033[1;31mc\033[K\r\n", "a\033[2;3Hb\033[1;31mc\033[K\r\n");
    SAFE("\033]2;t\007\033]52;c;x\033\\\033[6n\033[c\033[>c\033[?6n\033[18t\033[5i\033P$qm\033\\\033_x\033\\.", ".");
    SAFE("\033[?1049;1000;2004;1h\033[?25l", "\033[?1049h\033[?25l");
    SAFE("\033[>4;2m\033[=1u\033[>1u\033[?u\033=\033>x", "x");
    SAFE("\033[3J\033[2J", "\033[2J");
    SAFE("\033[38:2:1:2:3m", "\033[38:2:1:2:3m");
    SAFE("\033[4 q\033(0\016\007", "\033[4 q\033(0\016");
    SAFE("\xc2\x9b" "6n\xff", "6n\xef\xbf\xbd");
    SAFE("\033[2;2;2;2;2T", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines), cmocka_unit_test(test_nothing_dangerous), cmocka_unit_test(test_long_lines_come_in_pieces),
        cmocka_unit_test(test_rest_is_told_once), cmocka_unit_test(test_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
