/* What is painted on a terminal is what the screen shows, however it came about and however seldom it is looked at. */
#include "tests/lib/test.h"

#include "term/paint.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    struct screen *screen, *terminal; /* the program's; what the person's terminal shows */
    struct paint *paint;
};

static struct pair pair_new(int rows, int cols, int own_rows, int own_cols)
{
    struct pair pair = {screen_new(rows, cols, 0), screen_new(own_rows, own_cols, 0), paint_new(own_rows, own_cols)};
    screen_feed(pair.terminal, "\033[?1049h\033[?7l", 13);
    return pair;
}

static void pair_free(struct pair *pair)
{
    screen_free(pair->screen);
    screen_free(pair->terminal);
    paint_free(pair->paint);
}

/* Bytes drawn. */
static size_t draw(struct pair *pair)
{
    size_t size = 0;
    bool whole = false;
    for (int i = 0; i < 1000 && !whole; i++) {
        struct buf out;
        buf_init(&out, PAINT_BYTES_MAX);
        whole = paint_draw(pair->paint, pair->screen, &out);
        if (out.len > 0)
            screen_feed(pair->terminal, out.data, out.len);
        size += out.len;
        buf_fini(&out);
    }
    assert_true(whole);
    return size;
}

static void feed(struct pair *pair, const char *text)
{
    screen_feed(pair->screen, text, strlen(text));
}

static int32_t rune_of(const struct cell *cell)
{
    return cell->rune == 0 && cell->width > 0 ? ' ' : cell->rune;
}

/* The terminal's rows and columns from (0, 0) on are those of the screen from (top, left) on. */
static void assert_same(const struct pair *pair, int top, int left)
{
    for (int row = 0; row < screen_rows(pair->terminal); row++) {
        const struct line *shown = screen_line(pair->terminal, row);
        const struct line *line = row + top < screen_rows(pair->screen) ? screen_line(pair->screen, row + top) : NULL;
        for (int col = 0; col < shown->cols; col++) {
            const struct cell blank = {.rune = ' ', .width = 1}, *b = &shown->cells[col];
            const struct cell *a = line && col + left < line->cols ? &line->cells[col + left] : &blank;
            bool cut = (a->width == 2 && col + 1 == shown->cols) || (a->width == 0 && col == 0 && left > 0);
            if (rune_of(a) == rune_of(b) || (cut && rune_of(b) == ' '))
                continue;
            fail_msg("row %d, column %d: %x is shown as %x", row, col, (unsigned)a->rune, (unsigned)b->rune);
        }
        for (int col = 0; line && left == 0 && col < shown->cols && col < line->cols; col++)
            if (line->cells[col].width > 0 && !pen_equal(&line->cells[col].pen, &shown->cells[col].pen))
                fail_msg("row %d, column %d: another look", row, col);
    }
}

static void assert_same_modes(const struct pair *pair)
{
    const struct screen_modes *a = screen_modes(pair->screen), *b = screen_modes(pair->terminal);
    assert_int_equal(a->application_cursor, b->application_cursor);
    assert_int_equal(a->application_keypad, b->application_keypad);
    assert_int_equal(a->bracketed_paste, b->bracketed_paste);
    assert_int_equal(a->focus, b->focus);
    assert_int_equal(a->cursor_visible, b->cursor_visible);
    assert_int_equal(a->mouse, b->mouse);
    assert_int_equal(a->mouse_encoding, b->mouse_encoding);
    assert_int_equal(a->cursor_shape, b->cursor_shape);
    assert_int_equal(a->modify_other_keys, b->modify_other_keys);
    assert_int_equal(a->kitty, b->kitty);
    assert_int_equal(a->reverse, b->reverse);
    assert_false(b->synchronized);
}

TEST(test_text_and_colours)
{
    struct pair pair = pair_new(4, 20, 4, 20);
    feed(&pair, "\033[1;31mred\033[0m \033[44m   \033[m\r\n\xe4\xbd\xa0\xe5\xa5\xbd e\xcc\x81 \xf0\x9f\x98\x80!\r\n12345678901234567890\033[4;20Hz");
    draw(&pair);
    assert_same(&pair, 0, 0);
    const struct mark *marks;
    assert_int_equal(line_marks(screen_line(pair.terminal, 1), 5, &marks), 1);
    assert_int_equal(marks->rune, 0x301);
    assert_int_equal(draw(&pair), 0);
    pair_free(&pair);
}

static struct buf drawn(struct pair *pair)
{
    struct buf out;
    buf_init(&out, PAINT_BYTES_MAX);
    assert_true(paint_draw(pair->paint, pair->screen, &out));
    if (out.len > 0)
        screen_feed(pair->terminal, out.data, out.len);
    buf_append_byte(&out, '\0');
    return out;
}

static bool draws(struct pair *pair, const char *text)
{
    struct buf out = drawn(pair);
    bool found = memmem(out.data, out.len, text, strlen(text)) != NULL;
    buf_fini(&out);
    return found;
}

TEST(test_bell_rings_once)
{
    struct pair pair = pair_new(4, 20, 4, 20);
    const struct paint_pass pass = {.bell = true};
    feed(&pair, "old\a\033]2;title\a");
    paint_pass(pair.paint, &pass);
    assert_false(draws(&pair, "\a")); /* it was before we came */
    feed(&pair, "\a\a");
    assert_true(draws(&pair, "\a"));
    assert_false(draws(&pair, "\a"));
    paint_pass(pair.paint, &(struct paint_pass){0});
    feed(&pair, "\a");
    assert_false(draws(&pair, "\a"));
    pair_free(&pair);
}

TEST(test_copies_pass_when_allowed)
{
    struct pair pair = pair_new(4, 20, 4, 20);
    const struct paint_pass pass = {.copies = true};
    paint_pass(pair.paint, &pass);
    feed(&pair, "\033]52;c;b2xk\a");
    assert_false(draws(&pair, "52;"));
    feed(&pair, "\033]52;c;aGFsbG8=\033\\");
    assert_true(draws(&pair, "\033]52;c;aGFsbG8=\033\\"));
    assert_false(draws(&pair, "52;"));
    feed(&pair, "\033]52;c;?\033\\\033]52;c;\033\\\033]52;x;aGk=\033\\\033]52;c;a;b\033\\");
    assert_false(draws(&pair, "52;"));
    struct buf text = BUF_INIT; /* longer than what tokens keep; and too long */
    for (int size = 90000; size <= 110000; size += 20000) {
        buf_append_text(&text, "\033]52;c;");
        for (int i = 0; i < size; i++)
            buf_append_byte(&text, 'A');
        buf_append_text(&text, "\033\\");
        screen_feed(pair.screen, text.data, text.len);
        uint64_t copies;
        assert_int_equal(strlen(screen_copied(pair.screen, &copies)), 90000 + 2);
        assert_int_equal(copies, 3);
        buf_clear(&text);
    }
    buf_fini(&text);
    paint_pass(pair.paint, &(struct paint_pass){0});
    feed(&pair, "\033]52;c;aGFsbG8=\033\\");
    assert_false(draws(&pair, "52;"));
    pair_free(&pair);
}

TEST(test_colour_of_the_cursor)
{
    struct pair pair = pair_new(4, 20, 4, 20);
    const struct paint_pass pass = {.cursor = true};
    feed(&pair, "\033]12;#102030\033\\");
    assert_false(draws(&pair, "\033]12;")); /* nobody knows that the terminal can */
    paint_pass(pair.paint, &pass);
    assert_true(draws(&pair, "\033]12;rgb:10/20/30\033\\"));
    assert_false(draws(&pair, "\033]12;"));
    feed(&pair, "\033]12;rgb:ff/00/00\033\\x");
    assert_true(draws(&pair, "\033]12;rgb:ff/00/00\033\\"));
    paint_forget(pair.paint);
    assert_true(draws(&pair, "\033]12;rgb:ff/00/00\033\\"));
    feed(&pair, "\033]112\033\\");
    assert_true(draws(&pair, "\033]112\033\\"));
    paint_forget(pair.paint); /* the terminal's own is left alone */
    assert_false(draws(&pair, "12"));
    feed(&pair, "\033]12;rgb:ff/00/00\033\\");
    assert_true(draws(&pair, "\033]12;"));
    feed(&pair, "\033]112\033\\");
    paint_forget(pair.paint); /* it was reset while nothing was drawn */
    assert_true(draws(&pair, "\033]112\033\\"));
    pair_free(&pair);
}

/* The wheel sends arrow keys to full-screen programs, and to no shell. */
TEST(test_wheel_as_arrow_keys)
{
    struct pair pair = pair_new(4, 20, 4, 20);
    feed(&pair, "$ ");
    assert_true(draws(&pair, "\033[?1007l"));
    feed(&pair, "\033[?1049h");
    assert_true(draws(&pair, "\033[?1007h"));
    feed(&pair, "\033[?1007l");
    assert_false(draws(&pair, "1007"));
    feed(&pair, "\033[?1049l");
    assert_true(draws(&pair, "\033[?1007l"));
    feed(&pair, "\033[?1007h");
    assert_false(draws(&pair, "1007"));
    pair_free(&pair);
}

TEST(test_wheel_for_the_scrolled_view)
{
    struct pair pair = pair_new(4, 20, 4, 20);
    paint_pass(pair.paint, &(struct paint_pass){.wheel = true});
    feed(&pair, "$ ");
    assert_true(draws(&pair, "\033[?1006;1000h"));
    assert_false(draws(&pair, "1006"));
    feed(&pair, "\033[?1000h\033[?1006h"); /* the program asks for the mouse */
    assert_true(draws(&pair, "\033[?1006;1000l\033[?1006h\033[?1000h"));
    feed(&pair, "\033[?1000l\033[?1006l");
    assert_true(draws(&pair, "\033[?1006;1000h"));
    feed(&pair, "\033[?1049h");
    assert_true(draws(&pair, "\033[?1006;1000l"));
    feed(&pair, "\033[?1049l");
    assert_true(draws(&pair, "\033[?1006;1000h"));
    paint_forget(pair.paint);
    assert_true(draws(&pair, "\033[?1006;1000h"));
    paint_pass(pair.paint, &(struct paint_pass){0});
    feed(&pair, "x");
    assert_true(draws(&pair, "\033[?1006;1000l"));
    paint_forget(pair.paint);
    assert_false(draws(&pair, "\033[?1006;1000"));
    pair_free(&pair);
}

TEST(test_links)
{
    struct pair pair = pair_new(4, 40, 4, 40);
    const struct paint_pass pass = {.links = true};
    paint_pass(pair.paint, &pass);
    feed(&pair, "a \033]8;;https://x.example/a;b\033\\li\033[31mnk\033[m\033]8;;\033\\ c");
    assert_true(draws(&pair, "\033]8;id=muxd1;https://x.example/a;b\033\\"));
    assert_int_equal(draw(&pair), 0);
    assert_same(&pair, 0, 0);
    assert_string_equal(screen_link(pair.screen, 1), "https://x.example/a;b");
    assert_int_equal(screen_line(pair.screen, 0)->cells[5].pen.link, 1); /* SGR ends no link */
    assert_int_equal(screen_line(pair.screen, 0)->cells[6].pen.link, 0);
    feed(&pair, "\r\n\033]8;;javascript:alert(1)\033\\bad\033]8;;ssh://h\033\\\033]8;;http://a\303\244\033\\bad\033]8;;\033\\");
    assert_false(draws(&pair, "\033]8;id"));
    paint_pass(pair.paint, &(struct paint_pass){0});
    paint_forget(pair.paint);
    assert_false(draws(&pair, "\033]8;"));
    pair_free(&pair);
}

/* Of more links than are kept the newest work, no number means another target, and a drawing full of them has its cap. */
TEST(test_many_links)
{
    struct pair pair = pair_new(4, 900, 4, 900);
    const struct paint_pass pass = {.links = true};
    struct buf text = BUF_INIT;
    paint_pass(pair.paint, &pass);
    for (int i = 0; i < 3000; i++) {
        buf_printf(&text, "\033]8;id=%d;http://h/", i);
        for (int k = 0; k < 1900; k++)
            buf_append_byte(&text, 'x');
        buf_append_text(&text, "\033\\o");
    }
    screen_feed(pair.screen, text.data, text.len);
    draw(&pair);
    assert_int_equal(draw(&pair), 0);
    assert_null(screen_link(pair.screen, 1));
    assert_null(screen_link(pair.screen, 3001));
    assert_non_null(screen_link(pair.screen, 3000));
    assert_true(screen_memory(pair.screen) > 900000);
    buf_fini(&text);
    pair_free(&pair);
}

TEST(test_colours_fold)
{
    struct pen pen = {.fg = COLOR_RGB | 0xff8700, .bg = COLOR_RGB | 0x808080};
    struct pen folded = pen;
    fold_pen(&folded, fold_for(1 << 24));
    assert_true(pen_equal(&folded, &pen));
    fold_pen(&folded, fold_for(256));
    assert_int_equal(folded.fg, COLOR_INDEXED | 208);
    assert_int_equal(folded.bg, COLOR_INDEXED | 244);
    folded = (struct pen){.fg = COLOR_INDEXED | 196, .bg = COLOR_RGB | 0x0000e0};
    fold_pen(&folded, fold_for(88));
    assert_int_equal(folded.fg, COLOR_INDEXED | 9);
    assert_int_equal(folded.bg, COLOR_INDEXED | 4);
    fold_pen(&folded, fold_for(8));
    assert_int_equal(folded.fg, COLOR_INDEXED | 1);
    assert_int_equal(folded.attrs, PEN_BOLD);
    folded = (struct pen){.fg = COLOR_RGB | 1, .bg = COLOR_INDEXED | 4, .attrs = PEN_UNDERLINE | PEN_UNDERLINE_CURLY};
    fold_pen(&folded, fold_for(0));
    assert_true(pen_equal(&folded, &(struct pen){.attrs = PEN_UNDERLINE}));
}

TEST(test_colours_of_the_terminal)
{
    struct pair pair = pair_new(2, 10, 2, 10);
    const struct paint_pass pass = {.fold = FOLD_PLAIN};
    paint_pass(pair.paint, &pass);
    feed(&pair, "\033[1;38;2;1;2;3;44mx");
    assert_true(draws(&pair, "\033[0;1mx"));
    pair_free(&pair);
}

TEST(test_only_what_changes)
{
    struct pair pair = pair_new(24, 80, 24, 80);
    for (int i = 0; i < 24; i++)
        feed(&pair, "a full line of text that is long enough to be noticed when it is sent once more\r\n");
    size_t all = draw(&pair);
    feed(&pair, "x");
    size_t one = draw(&pair);
    assert_true(all > 1500 && one > 0 && one < 40);
    assert_same(&pair, 0, 0);
    paint_forget(pair.paint);
    screen_feed(pair.terminal, "\033[5;5Hgarbage", 13);
    assert_true(draw(&pair) >= all);
    assert_same(&pair, 0, 0);
    pair_free(&pair);
}

/* Lines that only move are not drawn anew, whatever the sizes; also while others change, in margins, and by more than one line. */
TEST(test_scrolling)
{
    static const int sizes[][4] = {{24, 80, 24, 80}, {24, 80, 40, 90}, {24, 80, 10, 40}, {2, 80, 2, 80}, {1, 5, 1, 5}, {24, 80, 1, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct pair pair = pair_new(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3]);
        int top = sizes[i][0] > sizes[i][2] ? sizes[i][0] - sizes[i][2] : 0;
        char line[100];
        for (int n = 0; n < 200; n++) {
            snprintf(line, sizeof line, "\r\n\033[3%dm%d and the rest of line number %d", n % 8, n, n);
            feed(&pair, line);
            if (n == 100)
                feed(&pair, "\0337\033[1;1Hchanged\0338");
            if (n == 120)
                feed(&pair, "\033[5;15r\033[15;1H\r\n\r\nin margins\033[r\033[24;1H");
            if (n % 3 == 0 && n != 100)
                continue;
            size_t size = draw(&pair);
            if (sizes[i][0] == 24 && sizes[i][2] == 24 && n > 150)
                assert_in_range(size, 1, 400);
            if (n > 130)
                assert_same(&pair, top, sizes[i][3] == 1 ? 35 : 0);
        }
        pair_free(&pair);
    }
}

TEST(test_modes)
{
    static const char *const steps[] = {"\033[?1h\033=\033[?2004h\033[?1004h", "\033[?1002h\033[?1006h\033[?25l\033[4 q", "\033[?5h\033[>4;2m\033[=5;1u",
                                        "\033[?1002l\033[?1006l\033[?25h", "\033[?1049h\033[?1000h", "\033[?1l\033>\033[?2004l\033[?5l\033[>4;0m"};
    struct pair pair = pair_new(5, 20, 5, 20);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        feed(&pair, steps[i]);
        draw(&pair);
        assert_same_modes(&pair);
        paint_forget(pair.paint);
        draw(&pair);
        assert_same_modes(&pair);
    }
    feed(&pair, "\033]2;a title\007");
    draw(&pair);
    assert_string_equal(screen_title(pair.terminal), "a title");
    pair_free(&pair);
}

TEST(test_other_sizes)
{
    struct pair small = pair_new(10, 40, 4, 10), large = pair_new(4, 10, 10, 40);
    for (int i = 0; i < 10; i++) {
        char line[64];
        snprintf(line, sizeof line, "\033[%d;1Hline %d 0123456789 \xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0", i + 1, i);
        feed(&small, line);
    }
    feed(&small, "\033[1;1H");
    draw(&small);
    assert_same(&small, 0, 0);
    feed(&small, "\033[10;5H");
    draw(&small);
    assert_same(&small, 6, 0);
    assert_int_equal(screen_cursor(small.terminal).row, 3);
    feed(&small, "\033[10;30H");
    draw(&small);
    assert_same(&small, 6, 20);
    feed(&large, "abc\r\ndef\033[4;10Hz");
    draw(&large);
    assert_same(&large, 0, 0);
    paint_resize(large.paint, 3, 5);
    screen_resize(large.terminal, 3, 5);
    draw(&large);
    assert_same(&large, 1, 5);
    pair_free(&small);
    pair_free(&large);
}

TEST(test_large_and_hostile)
{
    struct pair pair = pair_new(1000, 1000, 70000, 70000);
    assert_true(paint_rows(pair.paint) * paint_cols(pair.paint) <= PAINT_CELLS_MAX);
    pair_free(&pair);
    pair = pair_new(200, 500, 200, 500);
    for (int i = 0; i < 200 * 500; i++) {
        char cell[32];
        snprintf(cell, sizeof cell, "\033[38;2;%d;%d;1mx", i % 200, i % 77);
        feed(&pair, cell);
    }
    assert_true(draw(&pair) > PAINT_BYTES_MAX);
    assert_same(&pair, 0, 0);
    pair_free(&pair);
}

/* Whatever a program writes, in pieces of any length. */
TEST(test_random)
{
    static const char *const pool[] = {"abc", "\r\n", "\xe4\xbd\xa0", "\xff", "e\xcc\x81", "\033[3;9r", "\033[7m", "\033[41m", "\033[m", "\033[5;5H", "\033[K",
                                       "\033[2J", "\033[3L", "\033[2M", "\033[4P", "\033[3@", "\033M", "\033[?7l", "\033[?7h", "\033(0qx\033(B", "\t",
                                       "\033[?1049h", "\033[?1049l", "\033[1;38;2;1;2;3m", "\033]2;t\033\\", "\033[?25l", "\033[?25h", "\033[12G", "\b",
                                       "\033[9;18H\xe4\xbd\xa0", "\033[A\033[C"};
    uint32_t seed = 12345;
    struct pair pair = pair_new(10, 20, 10, 20);
    for (int i = 0; i < 4000; i++) {
        seed = seed * 1664525u + 1013904223u;
        feed(&pair, pool[(seed >> 16) % (sizeof pool / sizeof pool[0])]);
        if (seed >> 28 < 5) {
            draw(&pair);
            assert_same(&pair, 0, 0);
            assert_same_modes(&pair);
        }
    }
    pair_free(&pair);
}

/* A notice may stand anywhere but in the rows of the line that the cursor is in. */
TEST(test_rows_of_the_prompt)
{
    static const struct {
        const char *text;
        int first, last;
    } cases[] = {{"", 0, 0},
                 {"a\r\nb", 1, 1},
                 {"a\r\nbbbbbbbbbbbbbbb", 1, 2},
                 {"a\r\nbbbbbbbbbbbbbbb\033[A", 1, 2},
                 {"a\r\nb\r\nc\033[A", 1, 1},
                 {"123456789012345678901234567890123456789012345678901234567890123456789012345", 4, 7},
                 {"123456789012345678901234567890123456789012345678901234567890123456789012345\033[H", 0, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct screen *screen = screen_new(9, 10, 0);
        struct paint *paint = paint_new(9, 10);
        int first, last;
        screen_feed(screen, cases[i].text, strlen(cases[i].text));
        paint_prompt_rows(paint, screen, &first, &last);
        assert_int_equal(first, cases[i].first);
        assert_int_equal(last, cases[i].last);
        paint_free(paint);
        screen_free(screen);
    }
    struct pair pair = pair_new(9, 10, 3, 10); /* it sees the part with the cursor */
    feed(&pair, "\n\n\n\n\n\n123456789012345");
    draw(&pair);
    int first, last;
    paint_prompt_rows(pair.paint, pair.screen, &first, &last);
    assert_int_equal(last - first, 1);
    assert_in_range(first, 0, 1);
    pair_free(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_and_colours), cmocka_unit_test(test_only_what_changes), cmocka_unit_test(test_modes),
        cmocka_unit_test(test_scrolling),        cmocka_unit_test(test_bell_rings_once),   cmocka_unit_test(test_copies_pass_when_allowed),
        cmocka_unit_test(test_colour_of_the_cursor), cmocka_unit_test(test_wheel_as_arrow_keys), cmocka_unit_test(test_wheel_for_the_scrolled_view), cmocka_unit_test(test_links),            cmocka_unit_test(test_many_links),        cmocka_unit_test(test_colours_fold),
        cmocka_unit_test(test_colours_of_the_terminal),
        cmocka_unit_test(test_other_sizes),      cmocka_unit_test(test_large_and_hostile), cmocka_unit_test(test_random),
        cmocka_unit_test(test_rows_of_the_prompt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
