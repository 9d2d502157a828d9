/* Sequences are found whole, wherever reads have cut them, and nothing else is taken for one. */
#include "tests/lib/test.h"

#include "base/buf.h"
#include "term/modes.h"
#include "term/scan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line for each sequence: kind, prefix, intermediate, final, text, how it ended. */
static void describe(struct buf *out, const struct scan_seq *seq)
{
    static const char kinds[] = "ECODSL";
    char inter = seq->inter == 0177 ? '*' : seq->inter;
    buf_printf(out, "%c%c%c%c%c<%.*s>\n", kinds[seq->kind], seq->prefix ? seq->prefix : '-', inter ? inter : '-',
               seq->final ? seq->final : '-', seq->bel ? 'b' : '-', (int)seq->len, seq->text ? seq->text : "");
}

static size_t scan_all(struct buf *out, const char *data, size_t size)
{
    struct scan_seq seq;
    size_t at = 0;
    while (scan_next(data, size, &at, &seq))
        describe(out, &seq);
    assert_true(at <= size);
    return at;
}

static bool draws(const struct scan_seq *seq)
{
    return seq->kind == SCAN_CSI && !seq->prefix && !seq->inter && ((seq->final >= '@' && seq->final <= 'X') || seq->final == 'm');
}

/* What is passed over on the fast way is drawing and text, and nothing else comes out of it but with them. */
static void scan_past(const char *data, size_t size)
{
    struct buf all = BUF_INIT, rest = BUF_INIT;
    struct scan_seq seq;
    size_t at = 0, past = 0;
    while (scan_next(data, size, &at, &seq))
        if (!draws(&seq))
            describe(&all, &seq);
    for (scan_past_drawing(data, size, &past); scan_next(data, size, &past, &seq); scan_past_drawing(data, size, &past))
        if (!draws(&seq)) /* those with control characters in the middle are left to the slow way */
            describe(&rest, &seq);
    assert_int_equal(past, at);
    assert_string_equal(rest.data ? rest.data : "", all.data ? all.data : "");
    buf_fini(&all);
    buf_fini(&rest);
}

/* As reads would bring it: what is unfinished is given again, from an exact copy so that sanitizers see the edges. */
static void scan_in_pieces(struct buf *out, const char *data, size_t size, size_t first, size_t step)
{
    size_t from = 0;
    for (size_t to = first;; to = to + step < size ? to + step : size) {
        char *copy = malloc(to - from + 1);
        assert_non_null(copy);
        memcpy(copy, data + from, to - from);
        size_t at = scan_all(out, copy, to - from);
        scan_past(copy, to - from);
        free(copy);
        assert_true(to - from - at < SCAN_STRING_MAX);
        from += at;
        if (to == size)
            break;
    }
}

static void expect(const char *data, size_t size, const char *what)
{
    struct buf whole = BUF_INIT;
    scan_all(&whole, data, size);
    assert_string_equal(whole.data ? whole.data : "", what);
    for (size_t first = 0; first <= size; first += size > 1000 ? 97 : 1) {
        struct buf split = BUF_INIT;
        scan_in_pieces(&split, data, size, first, size);
        assert_string_equal(split.data ? split.data : "", what);
        buf_fini(&split);
    }
    struct buf bytes = BUF_INIT;
    scan_in_pieces(&bytes, data, size, 0, size > 1000 ? 61 : 1);
    assert_string_equal(bytes.data ? bytes.data : "", what);
    buf_fini(&bytes);
    buf_fini(&whole);
}
#define EXPECT(data, what) expect(data, sizeof(data) - 1, what)

TEST(drawing_is_passed_over)
{
    static const char text[] = "a\033[1;38:5:208mb\033[2J\033[H\033[mc\033[31";
    size_t at = 0;
    scan_past_drawing(text, sizeof text - 1, &at);
    assert_int_equal(at, sizeof text - 1 - strlen("\033[31")); /* more of it may come */
    static const char *const others[] = {"\033[c", "\033[6n", "\033[>4m", "\033[?m", "\033[18t", "\033[4$p", "\033[ q", "\033c", "\033[1\rm"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        at = 0;
        scan_past_drawing(others[i], strlen(others[i]), &at);
        assert_int_equal(at, 0);
    }
}

TEST(every_kind)
{
    EXPECT("plain text\r\n", "");
    EXPECT("a\033[cb", "C--c-<>\n");
    EXPECT("\033[?1049;25h", "C?-h-<1049;25>\n");
    EXPECT("\033[?2026$p\033[4$p", "C?$p-<2026>\nC-$p-<4>\n");
    EXPECT("\033[2 q\033[!p", "C- q-<2>\nC-!p-<>\n");
    EXPECT("\033c\033=\033>\033Z", "E--c-<>\nE--=-<>\nE-->-<>\nE--Z-<>\n");
    EXPECT("\033(B\033#8\033 F\033%/G", "E-(B-<>\nE-#8-<>\nE- F-<>\nE-*G-<>\n");
    EXPECT("\033]11;?\007\033]10;?\033\\", "O---b<11;?>\nO----<10;?>\n");
    EXPECT("\033P+q544e\033\\x\033P$qm\033\\", "D----<+q544e>\nD----<$qm>\n");
    EXPECT("\033_Gi=1;AAAA\033\\\033^pm\033\\\033Xsos\033\\", "S----<Gi=1;AAAA>\nS----<pm>\nS----<sos>\n");
    EXPECT("\033]0;t\303\274tel \234 here\007", "O---b<0;t\303\274tel \234 here>\n");
    EXPECT("\033Pwith \007 bell\033\\", "D----<with \007 bell>\n");
    EXPECT("\033[38:2::1:2:3m", "C--m-<38:2::1:2:3>\n");
    EXPECT("\033Nx\033Oy", "E--N-<>\nE--O-<>\n");
}

TEST(what_is_broken_is_none)
{
    EXPECT("\033", "");
    EXPECT("\033[12;", "");
    EXPECT("\033]no end", "");
    EXPECT("\033[1\030c\033[2\032c", "");
    EXPECT("\033[\033[5n", "C--n-<5>\n");
    EXPECT("\033\033[5n", "C--n-<5>\n");
    EXPECT("\033]11;?\033[5n", "C--n-<5>\n");
    EXPECT("\033]11;\030?\007\033[5n", "C--n-<5>\n");
    EXPECT("\033P+q\033\033\\\033[c", "E--\\-<>\nC--c-<>\n");
    EXPECT("\033[1\n2c", "C--c-<1\n2>\n");
    EXPECT("\033[1?c\033[c", "C--c-<>\n");
    EXPECT("\033[1$2c\033[c", "C--c-<>\n");
    EXPECT("\033[\303\274c\033[c", "C--c-<>\n");
    EXPECT("\233c\0335n", "E--5-<>\n");
    EXPECT("\033\177[c", "");
}

TEST(too_long_is_none_however_it_is_cut)
{
    static const size_t near[] = {SCAN_STRING_MAX - 9, SCAN_STRING_MAX - 5, SCAN_STRING_MAX - 4, SCAN_STRING_MAX - 3, SCAN_STRING_MAX - 2,
                                  SCAN_STRING_MAX - 1, SCAN_STRING_MAX, SCAN_STRING_MAX + 7, 3 * SCAN_STRING_MAX};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        struct buf data = BUF_INIT, what = BUF_INIT;
        struct scan_seq seq = {.kind = SCAN_DCS, .len = near[i]};
        buf_append_text(&data, "\033P");
        memset(buf_reserve(&data, near[i]), 'x', near[i]);
        buf_commit(&data, near[i]);
        seq.text = data.data + 2;
        if (near[i] + 4 <= SCAN_STRING_MAX)
            describe(&what, &seq);
        else
            buf_append_text(&what, "L----<>\nE--\\-<>\n"); /* that it begins, and its end alone, which does nothing */
        buf_append_text(&data, "\033\\\033[5n");
        buf_append_text(&what, "C--n-<5>\n");
        expect(data.data, data.len, what.data);
        buf_fini(&data);
        buf_fini(&what);
    }
    char csi[SCAN_CSI_MAX + 16];
    for (size_t size = SCAN_CSI_MAX - 2; size < SCAN_CSI_MAX + 3; size++) {
        struct buf what = BUF_INIT;
        memset(csi, '1', sizeof csi);
        memcpy(csi, "\033[", 2);
        memcpy(csi + size - 1, "c\033[5n", 5);
        if (size <= SCAN_CSI_MAX)
            buf_printf(&what, "C--c-<%.*s>\n", (int)size - 3, csi + 2);
        buf_append_text(&what, "C--n-<5>\n");
        expect(csi, size + 4, what.data);
        buf_fini(&what);
    }
}

TEST(parameters)
{
    static const struct { const char *text; size_t count; int values[4]; } cases[] = {
        {"", 0, {0}}, {"0", 1, {0}}, {"12;3", 2, {12, 3}}, {";5", 2, {-1, 5}}, {"5;", 2, {5, -1}}, {";", 2, {-1, -1}},
        {"1;2;3;4;5", 4, {1, 2, 3, 4}},
        {"99999999999", 1, {65535}}, {"4:3;7", 2, {4, 7}}, {"1\n2", 1, {12}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scan_seq seq = {.kind = SCAN_CSI, .text = cases[i].text, .len = strlen(cases[i].text)};
        int values[4];
        assert_int_equal(scan_params(&seq, values, 4), cases[i].count);
        for (size_t j = 0; j < cases[i].count; j++)
            assert_int_equal(values[j], cases[i].values[j]);
    }
}

static uint64_t after(uint64_t modes, const char *text)
{
    struct scan_seq seq;
    size_t at = 0;
    while (scan_next(text, strlen(text), &at, &seq))
        modes_apply(&modes, &seq);
    return modes;
}

/* Whatever was set before; the alternate screen is not told, kitty's flags as asked. */
TEST(modes_are_told)
{
    static const char *const sets[] = {"", "\033[?1;6;25;1004;1005;2004h\033[?7l\033=\033[4 q",
                                       "\033[?5;66;1002;1006;2026h\033[?25l\033[>4;2m\033[=5;1u",
                                       "\033[?9;1000;1015h\033[?7;25l\033[>4;1m\033[=31;1u",
                                       "\033[4;20h\033[?40h"};
    for (size_t from = 0; from < sizeof sets / sizeof *sets; from++) {
        for (size_t to = 0; to < sizeof sets / sizeof *sets; to++) {
            struct buf words = BUF_INIT;
            uint64_t wanted = after(0, sets[to]), before = after(0, sets[from]);
            modes_append(&words, wanted, true);
            buf_append(&words, "", 1);
            assert_true(after(before, words.data) == wanted);
            assert_true(modes_has(after(after(before, "\033[?1049h"), words.data), MODE_ALTERNATE_SCREEN));
            buf_clear(&words);
            modes_append(&words, wanted, false);
            buf_append(&words, "", 1);
            assert_int_equal(modes_kitty(after(before, words.data)), modes_kitty(before));
            buf_fini(&words);
        }
    }
}

TEST(modes_are_followed)
{
    static const int numbers[] = {1, 5, 6, 9, 47, 66, 67, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1047, 1049, 2004, 2026};
    char text[32];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(text, sizeof text, "\033[?%dh", numbers[i]);
        assert_int_equal(modes_report(0, true, numbers[i]), 2);
        assert_int_equal(modes_report(after(0, text), true, numbers[i]), 1);
        text[strlen(text) - 1] = 'l';
        assert_int_equal(after(UINT64_MAX, text) == UINT64_MAX, false);
        assert_int_equal(modes_report(after(UINT64_MAX, text), true, numbers[i]), 2);
    }
    assert_int_equal(modes_report(0, true, 7), 1);
    assert_int_equal(modes_report(0, true, 25), 1);
    assert_int_equal(modes_report(after(0, "\033[?25;7l"), true, 25), 2);
    assert_int_equal(modes_report(0, true, 2048), 0);
    assert_int_equal(modes_report(0, false, 4), 2);
    assert_int_equal(modes_report(after(0, "\033[4;20h"), false, 4), 1);
    assert_int_equal(modes_report(after(0, "\033[4;20h"), false, 20), 1);
    assert_int_equal(modes_report(after(0, "\033[4;20h\033[4l"), false, 4), 2);
    assert_int_equal(modes_report(after(0, "\033[4h\033[!p"), false, 4), 2);
    assert_int_equal(modes_report(after(0, "\033[4h"), true, 4), 0);
    assert_int_equal(modes_report(0, false, 2), 0);
    assert_int_equal(modes_report(after(0, "\033[?3h"), true, 3), 2); /* it needs ?40 */
    assert_int_equal(modes_report(after(0, "\033[?40;3h"), true, 3), 1);
    assert_int_equal(modes_report(after(0, "\033[?40;3h\033[?3l"), true, 3), 2);
    assert_true(modes_has(after(0, "\033[?1h"), MODE_APPLICATION_CURSOR));
    assert_true(modes_has(after(0, "\033="), MODE_APPLICATION_KEYPAD));
    assert_int_equal(after(0, "\033=\033>"), 0);
    assert_int_equal(after(UINT64_MAX, "\033c"), 0);
    assert_int_equal(after(0, "\033[?1;25;1000;2004h\033[?1049h\033[>4;2m\033[!p"), after(0, "\033[?1000;1049;2004h"));
    assert_int_equal(after(0, "\033[1h\033[?h\033[?99999h"), 0); /* another kind, none, unknown */
    assert_int_equal(modes_cursor_style(after(0, "\033[5 q")), 5);
    assert_int_equal(modes_cursor_style(after(0, "\033[5 q\033[9 q")), 5);
    assert_int_equal(modes_cursor_style(after(0, "\033[5 q\033[ q")), 0);
}

TEST(keyboard_protocols_are_followed)
{
    assert_int_equal(modes_other_keys(after(0, "\033[>4;2m")), 2);
    assert_int_equal(modes_other_keys(after(0, "\033[>4;2m\033[>4m")), 0);
    assert_int_equal(modes_other_keys(after(0, "\033[>4;2m\033[>m")), 0);
    assert_int_equal(modes_other_keys(after(0, "\033[>4;2m\033[>4n")), 0);
    assert_int_equal(modes_other_keys(after(0, "\033[>4;1m\033[>1;2m")), 1);
    assert_int_equal(modes_kitty(after(0, "\033[>5u")), 5);
    assert_int_equal(modes_kitty(after(0, "\033[>5u\033[>1u")), 1);
    assert_int_equal(modes_kitty(after(0, "\033[>5u\033[>1u\033[<u")), 5);
    assert_int_equal(modes_kitty(after(0, "\033[>5u\033[>1u\033[<2u")), 0);
    assert_int_equal(modes_kitty(after(0, "\033[>5u\033[<60000u")), 0);
    assert_int_equal(modes_kitty(after(0, "\033[=1u\033[=4;2u")), 5);
    assert_int_equal(modes_kitty(after(0, "\033[=7u\033[=2;3u")), 5);
    assert_int_equal(modes_kitty(after(0, "\033[>1u\033[?1049h")), 0);
    assert_int_equal(modes_kitty(after(0, "\033[>1u\033[?1049h\033[>3u\033[?1049l")), 1);
    uint64_t deep = after(0, "\033[>1u\033[>2u\033[>3u\033[>4u\033[>5u\033[>6u");
    assert_int_equal(modes_kitty(deep), 6);
    assert_int_equal(modes_kitty(after(deep, "\033[<3u")), 3);
    assert_int_equal(after(deep, "\033[<4u"), 0);
    deep = after(0, "\033[?1049h\033[>1u\033[>2u\033[>3u\033[>4u"); /* three deep */
    assert_int_equal(modes_kitty(after(deep, "\033[<2u")), 2);
    assert_int_equal(after(deep, "\033[<3u\033[?1049l"), 0);
}

/* That the output is within a long string is known from its beginning, and ends with it, whatever the pieces. */
TEST(long_strings_are_followed)
{
    static const char *const ends[] = {"\033\\", "\007", "\030", "\033[m"};
    static char text[3 * SCAN_STRING_MAX];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        uint64_t modes = 0;
        memset(text, 'x', sizeof text);
        memcpy(text, "\033]", 2);
        memcpy(text + sizeof text - 10, ends[i], strlen(ends[i]));
        for (size_t size = 1, from = 0; size <= sizeof text; size += 997) {
            struct scan_seq seq;
            size_t at = 0;
            size = size + 997 > sizeof text ? sizeof text : size;
            do
                modes_past_string(&modes, text + from, size - from, &at);
            while (scan_next(text + from, size - from, &at, &seq) && (modes_apply(&modes, &seq), true));
            from += at;
            assert_int_equal(modes_has(modes, MODE_LONG_STRING), size >= SCAN_STRING_MAX && size < sizeof text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(drawing_is_passed_over), cmocka_unit_test(what_is_broken_is_none), cmocka_unit_test(too_long_is_none_however_it_is_cut),
        cmocka_unit_test(parameters), cmocka_unit_test(modes_are_followed), cmocka_unit_test(modes_are_told),
        cmocka_unit_test(keyboard_protocols_are_followed), cmocka_unit_test(long_strings_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
