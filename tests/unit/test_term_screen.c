/* The screen model: text, wrapping, wide and combining characters, modes, both screens, scrollback, sizes, and what breaks others. */
#include "tests/lib/test.h"

#include "term/render.h"
#include "term/screen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void feed(struct screen *screen, const char *text)
{
    screen_feed(screen, text, strlen(text));
}

static char *text_of(const struct screen *screen, bool join, size_t history)
{
    struct buf out = BUF_INIT;
    struct render_options options = {.format = RENDER_TEXT, .join = join, .history = history};
    assert_true(render(screen, &options, &out));
    return buf_take(&out);
}

static void assert_text(const struct screen *screen, const char *expected)
{
    char *text = text_of(screen, false, 0);
    assert_string_equal(text, expected);
    free(text);
}

static void assert_cursor(const struct screen *screen, int row, int col)
{
    assert_int_equal(screen_cursor(screen).row, row);
    assert_int_equal(screen_cursor(screen).col, col);
}

/* One screen fed at once and one fed byte by byte show the same. */
static void check(int rows, int cols, const char *bytes, const char *expected)
{
    struct screen *once = screen_new(rows, cols, 1 << 16), *slow = screen_new(rows, cols, 1 << 16);
    feed(once, bytes);
    for (const char *at = bytes; *at; at++)
        screen_feed(slow, at, 1);
    assert_text(once, expected);
    assert_text(slow, expected);
    assert_true(screen_hash(once, true) == screen_hash(slow, true));
    for (int row = 0; row < rows; row++)
        assert_int_equal(screen_line(once, row)->wrapped, screen_line(slow, row)->wrapped);
    screen_free(once);
    screen_free(slow);
}

TEST(test_text_and_movement)
{
    check(3, 10, "one\r\ntwo", "one\ntwo\n");
    check(3, 10, "a\r\nb\r\nc\r\nd", "b\nc\nd\n");
    check(3, 10, "abc\033[2D\033[31mX\033[0m", "aXc\n");
    check(3, 10, "\033[2;4Hx\033[Hy", "y\n   x\n");
    check(3, 10, "abcdef\033[3D\033[K", "abc\n");
    check(3, 10, "abcdef\r\033[2P\033[@", " cdef\n");
    check(4, 10, "1\r\n2\r\n3\033[1;1H\033[L", "\n1\n2\n3\n");
    check(3, 10, "1\r\n2\r\n3\033[1;1H\033[M", "2\n3\n");
    check(4, 10, "1\r\n2\r\n3\r\n4\033[2;3r\033[3;1H\n", "1\n3\n\n4\n");
    check(3, 20, "a\tb\tc", "a       b       c\n");
    check(3, 10, "x\033[5b", "xxxxxx\n");
    check(3, 10, "\033[5bx", "x\n");
    check(2, 4, "\033#8", "EEEE\nEEEE\n");
    check(3, 10, "ab\033[sxy\033[uz", "abzy\n");
    check(3, 10, "ab\0337xy\0338z", "abzy\n");
    check(3, 10, "\033(0lqk\033(B lqk\016x\017", "\xe2\x94\x8c\xe2\x94\x80\xe2\x94\x90 lqkx\n");
    check(3, 10, "\033[4habc\rX\033[4l", "Xabc\n");
    check(3, 10, "abc\033[2Jx", "   x\n");
    check(3, 10, "a\033]0;title\007b\033]2;t\033\\c\033Pq#0\033\\d\033_apc\033\\e", "abcde\n");
}

TEST(test_wrapping)
{
    check(3, 4, "abcdefg", "abcd\nefg\n");
    check(3, 4, "abcd\r\nefg", "abcd\nefg\n");
    check(3, 4, "\033[?7labcdefg", "abcg\n");
    struct screen *screen = screen_new(4, 4, 1 << 16);
    feed(screen, "abcd\033[1me\033[mfg\r\nhijk\r\nlm");
    char *text = text_of(screen, true, 0);
    assert_string_equal(text, "abcdefg\nhijk\nlm\n");
    free(text);
    screen_free(screen);
    screen = screen_new(2, 4, 1 << 16); /* the wrapped part has scrolled off */
    feed(screen, "abcdefgh12  \r\nx\r\ny");
    text = text_of(screen, true, 9);
    assert_string_equal(text, "abcdefgh12\nx\ny\n");
    free(text);
    screen_free(screen);
    screen = screen_new(1, 3, 1 << 16);
    feed(screen, "abcdefgh\r\nij");
    text = text_of(screen, true, 9);
    assert_string_equal(text, "abcdefgh\nij\n");
    free(text);
    text = text_of(screen, false, 9);
    assert_string_equal(text, "abc\ndef\ngh\nij\n");
    free(text);
    screen_free(screen);
    screen = screen_new(3, 4, 1 << 16); /* written over: it does not go on any more */
    feed(screen, "abcdef\033[1;1Hwxyz");
    assert_false(screen_line(screen, 0)->wrapped);
    feed(screen, "\033[1;1H\033[2K");
    assert_text(screen, "\nef\n");
    screen_free(screen);
}

TEST(test_beside_the_edge)
{
    check(3, 6, "abcdef\rX", "Xbcdef\n");
    check(3, 6, "abcdef\b\bXY", "abcXYf\n");
    check(3, 6, "abcdef\033[1;6HX", "abcdeX\n"); /* no wrap is pending any more */
    check(3, 6, "abcdef\rabcdeXY", "abcdeX\nY\n");
    check(3, 6, "abcdef\033[CX", "abcdeX\n");
    check(3, 6, "abcdef\r\nX\033[A\033[3CY", "abcdYf\nX\n");
    check(3, 6, "abcd\xe4\xbd\xa0" "X", "abcd\xe4\xbd\xa0\nX\n");
    check(3, 6, "abcd\xe4\xbd\xa0\rabcX", "abcX\xe4\xbd\xa0\n");
    check(3, 6, "abc\xe4\xbd\xa0" "XY", "abc\xe4\xbd\xa0X\nY\n");
    check(3, 20, "\tx\033[3D\033H\r\ty\033[3g\r\tz", "      y x          z\n");
    check(3, 20, "\033[3g\033c\tx", "        x\n");
    check(3, 9, "\033[20habc\nd", "abc\nd\n");
    check(3, 9, "abc\nd\ve", "abc\n   d\n    e\n");
    check(4, 9, "1\r\n2\r\n3\r\n4\033[2;3r\033[3;1Hx\ny", "1\nx\n y\n4\n");
    check(4, 9, "1\r\n2\r\n3\r\n4\033[2;3r\033[?6h\033[1;1Hx\r\ny\r\nz\033[9;9H!", "1\ny\nz       !\n4\n");
    check(3, 9, "ab\033[4hc\r12\033[4l3", "123bc\n");
    check(3, 2, "abc\rd\bef", "ab\nef\n");
    check(3, 9, "ab\0337\r\ncd\0338e", "abe\ncd\n");
}

/* A wrap is pending: what keeps it, what ends it, and what counts from behind the last column. */
TEST(test_behind_a_full_line)
{
    static const char *const keep[] = {"", "\t", "\033[I", "\033[1m", "\033[K", "\033[J", "\033[3X", "\033[2P", "\033[@", "\033[?25l",
                                       "\033[4h", "\033[3b", "\033(B", "\017", "\0337\033[H\0338"};
    static const char *const end[] = {"\033[?7h", "\033[6G", "\033[C", "\033[2A", "\033[6`", "\033[1d", "\033[1;9H", "\b\t"};
    for (size_t i = 0; i < sizeof keep / sizeof *keep; i++) {
        char bytes[64];
        snprintf(bytes, sizeof bytes, "abcdef%sX", keep[i]);
        check(3, 6, bytes, "abcdef\nX\n");
    }
    for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
        char bytes[64];
        snprintf(bytes, sizeof bytes, "abcdef%sX", end[i]);
        check(3, 6, bytes, "abcdeX\n");
    }
    check(3, 6, "abcdef\033[1KX", "\nX\n");
    check(3, 6, "abcdef\nX", "abcdef\n     X\n");
    check(2, 6, "1\r\nabcdef\nX", "abcdef\n     X\n"); /* where it scrolls, too */
    check(2, 6, "abcdef\033MX", "     X\nabcdef\n");
    check(3, 6, "abcdef\0337\033[?7l\033[H\0338X", "abcdeX\n");
    check(3, 6, "abcd\xe4\xbd\xa0\bX", "abcdX\n");
    check(3, 6, "a\033[4bXY", "aaaaaX\nY\n");
    check(3, 6, "a\033[9bX", "aaaaaa\nX\n");
    check(3, 6, "\033[4habcdef\r123456X", "123456\nX\n");
}

TEST(test_margins)
{
    check(6, 9, "\033[2;4r\033[4;3H\033[9Ax", "\n  x\n"); /* stops what moves up and down, */
    check(6, 9, "\033[2;4r\033[3;3H\033[9Bx", "\n\n\n  x\n");
    check(6, 9, "\033[2;4r\033[3;3H\033[9Ex", "\n\n\nx\n");
    check(6, 9, "\033[2;4r\033[3;3H\033[9Fx", "\nx\n");
    check(6, 9, "\033[3;4r\033[2;3H\033[9Ax", "  x\n"); /* but from within only */
    check(6, 9, "\033[2;4r\033[5;3H\033[9Bx", "\n\n\n\n\n  x\n");
    check(6, 9, "\033[2;4r\033[6;3H\033[9Ax", "\n  x\n");
    check(4, 9, "abc\033[2;3r\033[1;1H\033[@\033[3G\033[P", " ac\n"); /* characters move everywhere, */
    check(4, 9, "1\r\n2\r\n3\r\n4\033[2;3r\033[1;1H\033[L\033[4;1H\033[M", "1\n2\n3\n4\n"); /* lines between them */
    check(4, 9, "1\r\n2\r\n3\r\n4\033[2;3r\033[4;1H\n\n5", "1\n2\n3\n5\n");
    check(4, 9, "1\r\n2\r\n3\r\n4\033[2;3r\033[S\033[2T", "1\n\n\n4\n");
    check(4, 9, "1\r\n2\r\n3\r\n4\033[2;3r\033[2;1H\033M\033Mx", "1\nx\n\n4\n");
    check(4, 9, "ab\033[3;3rc\033[4;2rd\033[9;9re", "abcde\n"); /* less than two lines are none */
    check(4, 3, "\033[2;3r\033[44m\033#8x\033[4;1H\ny", "EEE\nEEE\nEEE\ny\n");
    struct screen *screen = screen_new(2, 3, 0);
    feed(screen, "\033[31;44m\033#8");
    assert_int_equal(screen_line(screen, 1)->cells[2].pen.bg, COLOR_DEFAULT);
    assert_cursor(screen, 0, 0);
    screen_free(screen);
}

TEST(test_tabs)
{
    check(1, 20, "\033[2Ix\033[2Zy\033[9Zz", "z       y       x\n");
    check(1, 20, "\033[9Ix\ry\033[99Cz", "y                  z\n");
    check(1, 20, "\033[3g\033[5G\033H\r\tx\033[5G\033[g\r\ty", "    x              y\n");
    check(1, 20, "\033[3g\033[5G\033H\033[!p\r\tx", "    x\n"); /* a soft reset leaves them */
    check(1, 20, "\033[3g\033c\tx", "        x\n");
    struct screen *screen = screen_new(1, 10, 0);
    feed(screen, "\033[3g\033[10G\033H");
    screen_resize(screen, 1, 5);
    screen_resize(screen, 1, 40); /* so does a change of size */
    feed(screen, "\r\tx\ty");
    assert_text(screen, "         x                             y\n");
    screen_free(screen);
}

TEST(test_wide_and_combining)
{
    check(3, 10, "\xe4\xbd\xa0\xe5\xa5\xbd!", "\xe4\xbd\xa0\xe5\xa5\xbd!\n");
    check(3, 5, "ab\xe4\xbd\xa0\xe5\xa5\xbd", "ab\xe4\xbd\xa0\n\xe5\xa5\xbd\n");
    check(3, 10, "e\xcc\x81x", "e\xcc\x81x\n");
    check(3, 3, "abe\xcc\x81", "abe\xcc\x81\n"); /* on the last column */
    check(3, 10, "\xf0\x9f\x98\x80z", "\xf0\x9f\x98\x80z\n");
    check(3, 10, "\xe4\xbd\xa0\033[2GX", " X\n"); /* half of it is overwritten */
    check(3, 10, "a\xe4\xbd\xa0\033[2GX", "aX\n");
    check(3, 10, "\xcc\x81x", "x\n");
    check(3, 10, "ex\033[2G\xcc\x81", "e\xcc\x81x\n"); /* left of the cursor, wherever it came from */
    check(3, 10, "\xe4\xbd\xa0\033[4G\033[3G\xcc\x81", "\xe4\xbd\xa0\xcc\x81\n");
    check(3, 10, "\033[3G\xcc\x81\033[2Jx", "  x\n");
    check(2, 6, "\033[4habcde\r\xe4\xbd\xa0", "\xe4\xbd\xa0" "abcd\n");
    check(3, 6, "\033[1;6H\xe4\xbd\xa0", "\n\xe4\xbd\xa0\n");
    check(2, 1, "\xe4\xbd\xa0x", "x\n");
    check(2, 3, "\033[?7lab\xe4\xbd\xa0", "ab\n");
    check(2, 10, "a\xff\xfe\xc3(b", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd(b\n");
    check(2, 10, "a\xc2\x9b" "31mb", "a31mb\n");
    check(2, 10, "a\xe2\x80\xae" "b", "ab\n"); /* nothing that turns text round */
    struct screen *screen = screen_new(2, 10, 0);
    feed(screen, "a");
    for (int i = 0; i < 100000; i++)
        feed(screen, "\xcc\x81");
    char *text = text_of(screen, false, 0);
    assert_int_equal(strlen(text), 1 + 2 * CELL_MARKS + 1);
    free(text);
    assert_true(screen_memory(screen) < 100000);
    screen_free(screen);
}

/* On which character a mark lands after a move, and that it moves and goes with it. */
TEST(test_marks_after_moves)
{
    check(3, 3, "abe\033[2;1H\xcc\x81", "abe\n \xcc\x81\n"); /* nothing goes on here: it stays in the column */
    check(3, 3, "abex\b\xcc\x81", "abe\xcc\x81\nx\n"); /* the line goes on here */
    check(3, 9, "e\r\xcc\x81", "e\xcc\x81\n");
    check(3, 3, "\033[?7labe\xcc\x81", "abe\xcc\x81\n");
    check(3, 9, "ae\xcc\x81\xcc\xa3x\r\033[@", " ae\xcc\x81\xcc\xa3x\n");
    check(3, 9, "ae\xcc\x81x\r\033[P", "e\xcc\x81x\n");
    check(3, 9, "ae\xcc\x81x\r\033[2P", "x\n");
    check(3, 9, "ae\xcc\x81x\033[2GE", "aEx\n");
    check(3, 4, "ae\xcc\x81x\r\033[3@", "   a\n");
    check(3, 9, "e\xcc\x81" "a\xcc\x82" "b\xcc\x83\033[2G\xcc\x84", "e\xcc\x81\xcc\x84" "a\xcc\x82" "b\xcc\x83\n");
    check(3, 9, "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86", "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86\n");
    struct screen *screen = screen_new(1, 20, 1 << 16); /* and it is kept in the history */
    feed(screen, "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86 o\xcc\x88\r\n");
    char *text = text_of(screen, false, 1);
    assert_string_equal(text, "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86 o\xcc\x88\n");
    free(text);
    screen_free(screen);
}

/* One U+FFFD for each maximal subpart of an ill-formed sequence (Unicode 15, tables 3-8 to 3-11), also where reads cut. */
TEST(test_ill_formed)
{
#define BAD "\xef\xbf\xbd"
    check(2, 20, "a\xf1\x80\x80\xe1\x80\xc2" "b\x80" "c\x80\xbf" "d", "a" BAD BAD BAD "b" BAD "c" BAD BAD "d\n");
    check(2, 20, "\xc0\xaf\xe0\x80\xbf\xf0\x81\x82" "A", BAD BAD BAD BAD BAD BAD BAD BAD "A\n");
    check(2, 20, "\xed\xa0\x80\xed\xbf\xbf\xed\xaf" "A", BAD BAD BAD BAD BAD BAD BAD BAD "A\n");
    check(2, 20, "\xf4\x91\x92\x93\xff" "A\x80\xbf" "B", BAD BAD BAD BAD BAD "A" BAD BAD "B\n");
    check(2, 20, "\xe1\x80\xe2\xf0\x91\x92\xf1\xbf" "A", BAD BAD BAD BAD "A\n");
    check(2, 20, "\xe2\x82\033[mx\xf0\x9f\x98\r\ny", BAD "x" BAD "\ny\n"); /* and before controls */
}

TEST(test_looks)
{
    struct screen *screen = screen_new(2, 20, 0);
    feed(screen, "\033[1;3;4;38;5;208;48;2;1;2;3mA\033[0m\033[4:3;91mB\033[22;7;2mC\033[38:2::9:8:7mD");
    const struct cell *cells = screen_line(screen, 0)->cells;
    assert_int_equal(cells[0].pen.fg, COLOR_INDEXED | 208);
    assert_int_equal(cells[0].pen.bg, COLOR_RGB | 0x010203);
    assert_int_equal(cells[0].pen.attrs, PEN_BOLD | PEN_ITALIC | PEN_UNDERLINE);
    assert_int_equal(cells[1].pen.fg, COLOR_INDEXED | 9);
    assert_int_equal(cells[1].pen.attrs, PEN_UNDERLINE | PEN_UNDERLINE_CURLY);
    assert_int_equal(cells[2].pen.attrs, PEN_UNDERLINE | PEN_UNDERLINE_CURLY | PEN_REVERSE | PEN_FAINT);
    assert_int_equal(cells[3].pen.fg, COLOR_RGB | 0x090807);
    feed(screen, "\033[0;4:4;58:5:9mE\033[4:5;58;2;1;2;3mF\033[59mG\033[4:3mH\033[24mI");
    static const struct pen lines[] = {{.attrs = PEN_UNDERLINE | PEN_UNDERLINE_DOTTED, .line = COLOR_INDEXED | 9},
                                       {.attrs = PEN_UNDERLINE | PEN_UNDERLINE_DASHED, .line = COLOR_RGB | 0x010203},
                                       {.attrs = PEN_UNDERLINE | PEN_UNDERLINE_DASHED},
                                       {.attrs = PEN_UNDERLINE | PEN_UNDERLINE_CURLY},
                                       {.attrs = 0}};
    for (int i = 0; i < 5; i++)
        assert_true(pen_equal(&cells[4 + i].pen, &lines[i]));
    feed(screen, "\033[0;44m\r\n\033[Kx"); /* blanks take the background */
    assert_int_equal(screen_line(screen, 1)->cells[19].pen.bg, COLOR_INDEXED | 4);
    screen_free(screen);
}

TEST(test_modes_and_title)
{
    struct screen *screen = screen_new(5, 20, 0);
    const struct screen_modes *modes = screen_modes(screen);
    assert_true(modes->autowrap && modes->cursor_visible && !modes->bracketed_paste);
    feed(screen, "\033[?1;2004;1002;1006;1004h\033=\033[?25l\033[4 q\033[>4;1m\033[>5u\033[?2026h\033[?7l");
    assert_true(modes->application_cursor && modes->bracketed_paste && modes->application_keypad && modes->focus && modes->synchronized);
    assert_true(!modes->cursor_visible && !modes->autowrap);
    assert_int_equal(modes->mouse, MOUSE_DRAG);
    assert_int_equal(modes->mouse_encoding, 1006);
    assert_int_equal(modes->cursor_shape, 4);
    assert_int_equal(modes->modify_other_keys, 1);
    assert_int_equal(modes->kitty, 5);
    feed(screen, "\033[?1049h");
    assert_int_equal(modes->kitty, 0); /* each screen has its own */
    feed(screen, "\033[=3;1u\033[?1049l");
    assert_int_equal(modes->kitty, 5);
    feed(screen, "\033[<9u\033[?1002l");
    assert_int_equal(modes->kitty, 0);
    assert_int_equal(modes->mouse, MOUSE_OFF);
    feed(screen, "\033]0;one\007");
    assert_string_equal(screen_title(screen), "one");
    feed(screen, "\033[22;0t\033]2;tw\xc3\xb6\033\\");
    assert_string_equal(screen_title(screen), "tw\xc3\xb6");
    feed(screen, "\033[23;0t");
    assert_string_equal(screen_title(screen), "one");
    feed(screen, "\033[23;0t\033]2;\xff\007");
    assert_string_equal(screen_title(screen), "\xef\xbf\xbd");
    feed(screen, "\033kwindow\007 one\033\\");
    assert_string_equal(screen_title(screen), "window one");
    assert_text(screen, "");
    feed(screen, "\033c");
    assert_true(modes->autowrap && modes->cursor_visible && !modes->bracketed_paste && !modes->application_cursor);
    feed(screen, "\033[?2004h\033[?1h\033[!p");
    assert_true(!modes->application_cursor);
    screen_free(screen);
}

TEST(test_alternate)
{
    struct screen *screen = screen_new(3, 10, 1 << 16);
    feed(screen, "main\r\n$ \033[?1049h");
    assert_true(screen_is_alternate(screen));
    assert_text(screen, "");
    assert_cursor(screen, 1, 2);
    feed(screen, "\033[Hfull\0337\r\n\n\n\n\n");
    assert_int_equal(scrollback_count(screen_scrollback(screen)), 0); /* it has none */
    feed(screen, "\033[?1049l");
    assert_false(screen_is_alternate(screen));
    assert_text(screen, "main\n$\n");
    assert_cursor(screen, 1, 2);
    feed(screen, "\033[?1049h\033c");
    assert_false(screen_is_alternate(screen));
    assert_text(screen, "");
    screen_free(screen);
}

TEST(test_scrollback)
{
    struct screen *screen = screen_new(3, 20, 4096);
    for (int i = 0; i < 1000; i++) {
        char line[64];
        snprintf(line, sizeof line, "\033[3%dmline %d\xe4\xbd\xa0 e\xcc\x81\033[m\r\n", i % 8, i);
        feed(screen, line);
    }
    const struct scrollback *scrollback = screen_scrollback(screen);
    size_t count = scrollback_count(scrollback);
    assert_true(count > 20 && count < 400); /* within its cap */
    assert_true(scrollback_bytes(scrollback) < 4096 * 3);
    struct line line;
    assert_true(scrollback_get(scrollback, 0, &line));
    struct buf text = BUF_INIT;
    line_append_text(&line, &text, line_used(&line, false));
    assert_string_equal(text.data, "line 997\xe4\xbd\xa0 e\xcc\x81");
    assert_int_equal(line.cells[0].pen.fg, COLOR_INDEXED | 5);
    buf_fini(&text);
    line_fini(&line);
    assert_false(scrollback_get(scrollback, count, &line));
    char *all = text_of(screen, false, 2);
    assert_string_equal(all, "line 996\xe4\xbd\xa0 e\xcc\x81\nline 997\xe4\xbd\xa0 e\xcc\x81\nline 998\xe4\xbd\xa0 e\xcc\x81\nline 999\xe4\xbd\xa0 e\xcc\x81\n");
    free(all);
    feed(screen, "\033[3J");
    assert_int_equal(scrollback_count(scrollback), 0);
    screen_free(screen);
}

/* What leaves the main screen at its top, and only that. */
TEST(test_what_is_kept)
{
    static const struct {
        const char *bytes;
        size_t kept;
    } rows[] = {{"1\r\n2\r\n3\r\n", 1}, {"1\033[3H\033D\033E", 2}, {"1\033[2S", 2}, {"1\033[9S", 3},
                {"\033[3;1H12345678901", 1}, {"\033[1;2r\033[2;1H\n\n", 2}, {"\033[2;3r\033[3;1H\n\n\033[S", 0},
                {"1\033[H\033[2M\033M\033[L\033[2T", 0}, {"\033[?1049h\033[3;1H\n\n\033[2S", 0}, {"1\033[2J", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct screen *screen = screen_new(3, 10, 4096);
        feed(screen, rows[i].bytes);
        if (scrollback_count(screen_scrollback(screen)) != rows[i].kept)
            fail_msg("row %zu: %zu lines", i, scrollback_count(screen_scrollback(screen)));
        screen_free(screen);
    }
}

TEST(test_sizes)
{
    struct screen *screen = screen_new(4, 10, 1 << 16);
    feed(screen, "1\r\n2\r\n3\r\n4\xe4\xbd\xa0");
    screen_resize(screen, 2, 10);
    assert_text(screen, "3\n4\xe4\xbd\xa0\n");
    assert_cursor(screen, 1, 3);
    screen_resize(screen, 4, 2);
    assert_text(screen, "2\n3\n4\n\xe4\xbd\xa0\n");
    assert_cursor(screen, 3, 1);
    screen_resize(screen, 6, 20);
    assert_text(screen, "1\n2\n3\n4\xe4\xbd\xa0\n");
    assert_cursor(screen, 3, 3);
    feed(screen, "\033[?1049h\033[4;5r\033[?6h\033[2;1Hx");
    assert_cursor(screen, 4, 1);
    screen_resize(screen, 2, 3); /* margins beyond the end */
    feed(screen, "\n\n\n\033[Ly\033[?1049l\n\n\0338");
    assert_int_equal(screen_rows(screen), 2);
    assert_int_equal(screen_cols(screen), 3);
    screen_resize(screen, 0, 100000);
    assert_int_equal(screen_rows(screen), 1);
    assert_int_equal(screen_cols(screen), SCREEN_SIZE_MAX);
    screen_free(screen);
    screen = screen_new(30, 90, 0); /* a cursor saved where nothing is any more */
    feed(screen, "\033[30;90H\0337");
    screen_resize(screen, 2, 5);
    feed(screen, "\0338x\033[u");
    assert_text(screen, "\n    x\n");
    screen_free(screen);
}

/* A wrap that is pending stays so, or the cursor gets the room that there is now. */
TEST(test_sizes_of_a_full_line)
{
    static const int cols[] = {4, 5, 6, 3};
    static const char *const expected[] = {"abcd\nX\n", "abcdX\n", "abcdX\n", "abc\ndX\n"};
    for (size_t i = 0; i < 4; i++) {
        struct screen *screen = screen_new(3, 4, 0);
        feed(screen, "abcd");
        screen_resize(screen, 2, cols[i]);
        feed(screen, "X");
        assert_text(screen, expected[i]);
        screen_free(screen);
    }
}

/* Every combination of sizes, with something on both screens. */
TEST(test_many_sizes)
{
    static const int sizes[] = {1, 2, 3, 5, 24, 80};
    struct screen *screen = screen_new(24, 80, 1 << 14);
    unsigned random = 1;
    for (int i = 0; i < 400; i++) {
        random = random * 1103515245u + 12345u;
        screen_resize(screen, sizes[random >> 16 & 3], sizes[(random >> 20) % 6]);
        feed(screen, i % 7 == 0 ? "\033[?1049h" : i % 5 == 0 ? "\033[?1049l" : "\033[2;3r\xe4\xbd\xa0" "abc e\xcc\x81\r\n\0337\033[9;9H\033[2M\0338");
        struct screen_cursor cursor = screen_cursor(screen);
        assert_true(cursor.row < screen_rows(screen) && cursor.col < screen_cols(screen));
    }
    screen_free(screen);
}

/* Text that wraps, and scrolling, in rows that were not there at first. */
TEST(test_more_rows_than_at_first)
{
    struct screen *screen = screen_new(2, 3, 0), *others[8];
    for (int i = 0; i < 8; i++)
        others[i] = screen_new(2, 3, 0);
    screen_resize(screen, SCREEN_SIZE_MAX, 3);
    for (int i = 0; i < SCREEN_SIZE_MAX + 10; i++)
        feed(screen, "abcd\033[L\033[M\r");
    feed(screen, "\033[2J\033[999;1Habcd");
    char *text = text_of(screen, false, 0);
    assert_string_equal(text + SCREEN_SIZE_MAX - 2, "abc\nd\n");
    free(text);
    for (int i = 0; i < 8; i++)
        screen_free(others[i]);
    screen_free(screen);
}

TEST(test_what_breaks_others)
{
    check(2, 10, "\033[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;29;30;31;32;33;34;35;36mx", "x\n");
    check(2, 10, "\033[99999999999999999999999Cx\033[99999999999999999999999Ay", "         y\n");
    check(2, 10, "\033[2147483647;2147483647Hx\033[2147483647S", "");
    check(2, 10, "\033[2;1r\033[0;0r\033[5;9rab", "ab\n");
    check(2, 10, "\033[?69h\033[3;5sab\033[u", "ab\n");
    check(2, 10, "\033#6ab\033#3", "ab\n");
    check(2, 10, "a\033[65535bz", "aaaaaaaaaa\nz\n");
    check(2, 10, "\033[\x18x\033]0;never\x1ay", "xy\n");
    check(2, 10, "a\033]7;file://h/p\007b\033]9;hello\033\\c\033]9;4;1;50\007d\033]777;notify;t;b\007e\033]133;A\033\\f\033]133;D;0\007g", "abcdefg\n");
    check(2, 10, "a\033]52;c;aGk=\007b\033]8;;http://h\007c\033]8;;\007d\033]1337;File=:AA==\007e\033_Ga=T;AA==\033\\f", "abcdef\n");
    check(2, 10, "\033[c\033[6n\033[>c\033[?1$p\033P$qm\033\\x", "x\n");
    struct screen *screen = screen_new(24, 80, 0);
    feed(screen, "\033]0;");
    for (int i = 0; i < 2000; i++)
        feed(screen, "0123456789012345678901234567890123456789012345678901234567890123456789");
    feed(screen, "\007ok");
    assert_string_equal(screen_title(screen), "");
    assert_text(screen, "ok\n");
    feed(screen, "\033]0;");
    for (int i = 0; i < 20000; i++)
        feed(screen, "0123456789012345678901234567890123456789012345678901234567890123456789");
    feed(screen, "\r\nback");
    assert_text(screen, "ok\n"); /* however long it is */
    feed(screen, "\030, ended");
    assert_text(screen, "ok, ended\n");
    static const char *const begins[] = {"\033P", "\033X", "\033^", "\033_", "\033k"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        feed(screen, begins[i]);
        for (int k = 0; k < 40000; k++)
            feed(screen, "0123456789\r\n0123456789012345678901234567890123456789\007 no text of it");
        feed(screen, "\033\\.");
    }
    assert_text(screen, "ok, ended.....\n");
    screen_free(screen);
}

/* 132 columns, once they are allowed, and until the program ends that; then as many as those who
 * look at it have. */
TEST(test_columns)
{
    struct screen *screen = screen_new(3, 20, 1 << 16);
    feed(screen, "text\033[?3h\033[?3l");
    assert_text(screen, "text\n");
    feed(screen, "\033[2;3r\033[?40h\033[?3h");
    assert_text(screen, "");
    assert_cursor(screen, 0, 0);
    assert_int_equal(screen_cols(screen), 132);
    feed(screen, "\033[99Gx\033[9;132Hy\033[?3l");
    assert_int_equal(screen_cols(screen), 20);
    assert_text(screen, "");
    feed(screen, "a\033[?3hb");
    assert_text(screen, "b\n");
    screen_resize(screen, 4, 30);
    assert_int_equal(screen_rows(screen), 4);
    assert_int_equal(screen_cols(screen), 132);
    feed(screen, "\033[?3l");
    assert_int_equal(screen_cols(screen), 30);
    feed(screen, "\033[?3h\033c");
    assert_int_equal(screen_cols(screen), 30);
    feed(screen, "x\033[?3h");
    assert_text(screen, "x\n");
    screen_free(screen);
}

TEST(test_gap)
{
    struct screen *screen = screen_new(3, 20, 0);
    screen_gap(screen);
    feed(screen, "31mrest of it\033[32mgreen");
    assert_text(screen, "green\n");
    feed(screen, "\033]0;ti");
    screen_gap(screen);
    feed(screen, "tail\r\nnext");
    assert_text(screen, "green\nnext\n");
    screen_gap(screen);
    screen_gap_in_string(screen);
    feed(screen, "tail of a\r\nstring\007 and");
    screen_gap(screen);
    screen_gap_in_string(screen);
    feed(screen, "another\033\\ text");
    assert_text(screen, "green\nnext and text\n");
    screen_free(screen);
}

TEST(test_hash)
{
    struct screen *a = screen_new(3, 20, 0), *b = screen_new(5, 40, 0);
    feed(a, "hello   \r\n\r\nx");
    feed(b, "\033[31mhello\033[3;1Hx");
    assert_true(screen_hash(a, false) == screen_hash(b, false));
    assert_true(screen_hash(a, false) == UINT64_C(0x3b63d6c5e98b3179)); /* the same in every version */
    feed(b, "\033[H");
    assert_true(screen_hash(a, false) == screen_hash(b, false));
    assert_false(screen_hash(a, true) == screen_hash(b, true));
    uint64_t version = screen_version(a);
    feed(a, "\033[c");
    feed(a, "y");
    assert_true(screen_version(a) > version);
    assert_false(screen_hash(a, false) == screen_hash(b, false));
    screen_free(a);
    screen_free(b);
}

TEST(test_work_is_bounded)
{
    struct screen *screen = screen_new(1000, 1000, 0);
    char flood[8192];
    for (size_t i = 0; i + 4 <= sizeof flood; i += 4)
        memcpy(flood + i, i % 8 ? "\033[2J" : "\033#8x", 4);
    size_t taken = screen_feed_some(screen, flood, sizeof flood, 1 << 20);
    assert_true(taken > 0 && taken < 100);
    screen_free(screen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_and_movement), cmocka_unit_test(test_wrapping), cmocka_unit_test(test_beside_the_edge),
        cmocka_unit_test(test_behind_a_full_line), cmocka_unit_test(test_margins), cmocka_unit_test(test_tabs),
        cmocka_unit_test(test_sizes_of_a_full_line), cmocka_unit_test(test_wide_and_combining), cmocka_unit_test(test_marks_after_moves), cmocka_unit_test(test_ill_formed),
        cmocka_unit_test(test_looks), cmocka_unit_test(test_modes_and_title), cmocka_unit_test(test_alternate),
        cmocka_unit_test(test_scrollback), cmocka_unit_test(test_what_is_kept), cmocka_unit_test(test_sizes), cmocka_unit_test(test_many_sizes),
        cmocka_unit_test(test_more_rows_than_at_first),
        cmocka_unit_test(test_what_breaks_others), cmocka_unit_test(test_columns), cmocka_unit_test(test_gap), cmocka_unit_test(test_hash),
        cmocka_unit_test(test_work_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
