/* Changes of size: lines wrap anew, nothing is lost, the cursor stays at its character, and going back to a size gives back its picture. */
#include "tests/lib/test.h"

#include "base/clock.h"
#include "term/render.h"
#include "term/screen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void feed(struct screen *screen, const char *text)
{
    screen_feed(screen, text, strlen(text));
}

static char *picture(const struct screen *screen, enum render_format format, bool join, size_t history)
{
    struct buf out = BUF_INIT;
    struct render_options options = {.format = format, .join = join, .history = history};
    assert_true(render(screen, &options, &out));
    buf_append(&out, "", 0);
    return buf_take(&out);
}

static void assert_shows(const struct screen *screen, size_t history, const char *expected)
{
    char *text = picture(screen, RENDER_TEXT, false, history);
    assert_string_equal(text, expected);
    free(text);
}

/* Of pictures that are too large to print. */
static void assert_same(const char *now, const char *then)
{
    size_t at = 0, line = 0;
    for (size_t i = 0; now[i] && now[i] == then[i]; i++)
        if (now[i] == '\n')
            at = i + 1, line++;
    if (strcmp(now, then) != 0)
        fail_msg("line %zu: %.*s, not %.*s", line, (int)strcspn(now + at, "\n"), now + at, (int)strcspn(then + at, "\n"), then + at);
}

static void assert_cursor(const struct screen *screen, int row, int col)
{
    assert_int_equal(screen_cursor(screen).row, row);
    assert_int_equal(screen_cursor(screen).col, col);
}

/* The cases of tmux's suite, and of foot: what has wrapped is one line, what has not stays apart. */
TEST(test_lines_wrap_anew)
{
    struct screen *screen = screen_new(6, 10, 1 << 16);
    feed(screen, "abcdefghijklmno\r\nshort\r\n1234567890\r\n$ ");
    assert_shows(screen, 9, "abcdefghij\nklmno\nshort\n1234567890\n$\n");
    screen_resize(screen, 6, 20);
    assert_shows(screen, 9, "abcdefghijklmno\nshort\n1234567890\n$\n");
    assert_cursor(screen, 3, 2);
    screen_resize(screen, 6, 5);
    assert_shows(screen, 0, "fghij\nklmno\nshort\n12345\n67890\n$\n");
    assert_shows(screen, 9, "abcde\nfghij\nklmno\nshort\n12345\n67890\n$\n");
    assert_cursor(screen, 5, 2);
    feed(screen, "x");
    screen_resize(screen, 3, 4);
    assert_shows(screen, 0, "5678\n90\n$ x\n");
    assert_int_equal(scrollback_count(screen_scrollback(screen)), 7);
    screen_resize(screen, 6, 20);
    assert_shows(screen, 9, "abcdefghijklmno\nshort\n1234567890\n$ x\n");
    assert_cursor(screen, 3, 3);
    assert_int_equal(scrollback_count(screen_scrollback(screen)), 0);
    char *text = picture(screen, RENDER_TEXT, true, 9);
    assert_string_equal(text, "abcdefghijklmno\nshort\n1234567890\n$ x\n");
    free(text);
    screen_free(screen);
}

/* A line of which a part has scrolled off goes on there, and is one line. */
TEST(test_a_line_in_both)
{
    struct screen *screen = screen_new(2, 5, 1 << 16);
    feed(screen, "1\r\nabcdefghijklmnopqrst\r\nz");
    assert_shows(screen, 9, "1\nabcde\nfghij\nklmno\npqrst\nz\n");
    screen_resize(screen, 2, 12);
    assert_shows(screen, 9, "1\nabcdefghijkl\nmnopqrst\nz\n");
    screen_resize(screen, 2, 40);
    assert_shows(screen, 9, "1\nabcdefghijklmnopqrst\nz\n");
    screen_resize(screen, 2, 5);
    feed(screen, "\033[1;1H\033[2K"); /* the rest of it: the row stays, as a line of its own */
    screen_resize(screen, 2, 40);
    assert_shows(screen, 9, "1\nabcdefghijklmno\n\nz\n");
    screen_free(screen);
    screen = screen_new(2, 5, 1 << 16);
    feed(screen, "abcdefgh12345"); /* what is written on a cleared screen begins a line */
    feed(screen, "\033[H\033[2Jnew");
    screen_resize(screen, 2, 40);
    assert_shows(screen, 9, "abcde\nnew\n");
    screen_free(screen);
}

TEST(test_wide_at_the_edge)
{
    struct screen *screen = screen_new(4, 5, 1 << 16);
    feed(screen, "a\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xbd\xa0z\r\n\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xbd\xa0");
    static const char *const at[] = {[2] = "a\n\xe4\xbd\xa0\n\xe5\xa5\xbd\n\xe4\xbd\xa0\nz\n\xe4\xbd\xa0\n\xe5\xa5\xbd\n\xe4\xbd\xa0\n",
                                     [3] = "a\xe4\xbd\xa0\n\xe5\xa5\xbd\n\xe4\xbd\xa0z\n\xe4\xbd\xa0\n\xe5\xa5\xbd\n\xe4\xbd\xa0\n",
                                     [4] = "a\xe4\xbd\xa0\n\xe5\xa5\xbd\xe4\xbd\xa0\nz\n\xe4\xbd\xa0\xe5\xa5\xbd\n\xe4\xbd\xa0\n",
                                     [8] = "a\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xbd\xa0z\n\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xbd\xa0\n"};
    static const int order[] = {8, 3, 2, 4, 8, 2, 8, 4, 3};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        screen_resize(screen, 4, order[i]);
        assert_shows(screen, 99, at[order[i]]);
    }
    screen_free(screen);
    screen = screen_new(2, 4, 1 << 16); /* in one column there is no room for them, nor for their marks */
    feed(screen, "\xe4\xbd\xa0\xcc\x81\xe5\xa5\xbd\xcc\x82\r\n\r\n\r\nx");
    screen_resize(screen, 2, 1);
    assert_int_equal(scrollback_count(screen_scrollback(screen)), 3);
    screen_resize(screen, 2, 4);
    char *text = picture(screen, RENDER_TEXT, false, 9);
    assert_string_equal(text, "\xe4\xbd\xa0\xcc\x81\xe5\xa5\xbd\xcc\x82\n\n\nx\n");
    free(text);
    screen_free(screen);
}

TEST(test_the_cursor_stays_at_its_character)
{
    struct screen *screen = screen_new(4, 10, 1 << 16);
    feed(screen, "$ abcdefghijklmnop\033[2;3H"); /* at k */
    static const struct {
        int cols, row, col;
    } steps[] = {{20, 0, 12}, {13, 0, 12}, {12, 1, 0}, {6, 2, 0}, {7, 1, 5}, {10, 1, 2}, {4, 2, 0}, {10, 1, 2}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        screen_resize(screen, 4, steps[i].cols);
        /* the line may have begun to scroll off */
        int gone = (int)scrollback_count(screen_scrollback(screen));
        if (screen_cursor(screen).row + gone != steps[i].row + (steps[i].cols == 4 ? 1 : 0) || screen_cursor(screen).col != steps[i].col)
            fail_msg("step %zu: row %d + %d, column %d", i, screen_cursor(screen).row, gone, screen_cursor(screen).col);
    }
    feed(screen, "X");
    assert_shows(screen, 9, "$ abcdefgh\nijXlmnop\n");
    screen_free(screen);
    screen = screen_new(3, 10, 1 << 16); /* behind blanks that were written, or only passed */
    feed(screen, "ab      ");
    screen_resize(screen, 3, 5);
    assert_cursor(screen, 1, 3);
    screen_resize(screen, 3, 10);
    assert_cursor(screen, 0, 8);
    feed(screen, "\033[3;9H");
    screen_resize(screen, 3, 4);
    screen_resize(screen, 3, 10);
    assert_cursor(screen, 2, 8);
    feed(screen, "\033[2J\033[1;9H");
    screen_resize(screen, 3, 5);
    assert_cursor(screen, 1, 3);
    feed(screen, "x");
    screen_resize(screen, 3, 10);
    assert_shows(screen, 0, "        x\n");
    screen_free(screen);
    screen = screen_new(3, 10, 1 << 16); /* the saved one, too */
    feed(screen, "abcdefghijklm\033[2;2H\0337\033[H");
    screen_resize(screen, 3, 20);
    feed(screen, "\0338X");
    assert_shows(screen, 0, "abcdefghijkXm\n");
    screen_free(screen);
}

/* The prompt stays where it is while there is room below, and what has scrolled off only comes back where it was. */
TEST(test_which_rows_are_shown)
{
    struct screen *screen = screen_new(4, 10, 1 << 16);
    feed(screen, "1\r\n2\r\n3\r\n4\r\n5\r\n\033[H\033[2J$ abcdefgh");
    assert_shows(screen, 0, "$ abcdefgh\n");
    screen_resize(screen, 4, 5);
    assert_shows(screen, 0, "$ abc\ndefgh\n");
    screen_resize(screen, 2, 3);
    assert_shows(screen, 0, "efg\nh\n");
    screen_resize(screen, 4, 10);
    assert_shows(screen, 0, "$ abcdefgh\n");
    assert_shows(screen, 1, "2\n$ abcdefgh\n");
    screen_resize(screen, 8, 10);
    assert_shows(screen, 0, "$ abcdefgh\n");
    screen_free(screen);
    screen = screen_new(4, 10, 1 << 16); /* where the rows were full, rows come back */
    feed(screen, "1\r\n2\r\n3\r\n4\r\n5\r\n$ ");
    screen_resize(screen, 2, 10);
    screen_resize(screen, 5, 10);
    assert_shows(screen, 0, "2\n3\n4\n5\n$\n");
    screen_free(screen);
}

/* The alternate screen keeps what fits; the main screen below it loses nothing. */
TEST(test_alternate)
{
    struct screen *screen = screen_new(3, 10, 1 << 16);
    feed(screen, "abcdefghijklm\033[?1049h\033[Hfull screen");
    screen_resize(screen, 3, 4);
    assert_shows(screen, 0, "full\nn\n");
    screen_resize(screen, 3, 10);
    assert_shows(screen, 0, "full\nn\n");
    feed(screen, "\033[?1049lX");
    assert_shows(screen, 0, "abcdefghij\nklmX\n");
    screen_free(screen);
}

/* Blanks that a program has painted up to the edge are there again in a width that has room for them, until the line's end is written
 * anew. */
TEST(test_painted_to_the_edge)
{
    static const int narrow[] = {10, 5, 7, 3};
    struct screen *screen = screen_new(6, 20, 1 << 16);
    feed(screen, "0123456789\033[44m\033[K\033[m\r\n\033[41m\033[K\033[m\r\n\033[1mx");
    char *before = picture(screen, RENDER_ANSI, false, 99);
    assert_non_null(strstr(before, "\033[0;44m          \033[0m"));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        screen_resize(screen, 6, narrow[i]);
        screen_resize(screen, 6, 20);
        char *after = picture(screen, RENDER_ANSI, false, 99);
        assert_string_equal(after, before);
        free(after);
    }
    free(before);
    screen_resize(screen, 6, 10);
    feed(screen, "\033[1;10Hz");
    screen_resize(screen, 6, 20);
    char *after = picture(screen, RENDER_ANSI, false, 99);
    assert_null(strstr(after, "\033[0;44m"));
    free(after);
    screen_free(screen);
}

/* The column that a wide character left free is no text, whatever its colour, until something else stands behind it. */
TEST(test_a_gap_before_a_wide_character)
{
    static const int order[] = {6, 5, 8, 3, 4, 20, 2};
    struct screen *screen = screen_new(4, 5, 1 << 16);
    feed(screen, "\033[44m\033[2J\033[Habcd\xe4\xbd\xa0z");
    char *before = picture(screen, RENDER_ANSI, false, 99);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        screen_resize(screen, 4, order[i]);
        char *text = picture(screen, RENDER_TEXT, true, 99);
        assert_string_equal(text, "abcd\xe4\xbd\xa0z\n");
        free(text);
        if (i % 2)
            continue;
        screen_resize(screen, 4, 5);
        char *after = picture(screen, RENDER_ANSI, false, 99);
        assert_string_equal(after, before);
        free(after);
    }
    screen_resize(screen, 4, 5);
    feed(screen, "\033[2;1Hxy");
    screen_resize(screen, 4, 20);
    assert_shows(screen, 99, "abcd xyz\n");
    screen_resize(screen, 4, 5);
    assert_shows(screen, 99, "abcd\nxyz\n");
    free(before);
    screen_free(screen);
    screen = screen_new(2, 5, 1 << 16); /* the gap has scrolled off */
    feed(screen, "abcd\xe4\xbd\xa0\r\n");
    feed(screen, "\033[1;1Hxy");
    screen_resize(screen, 2, 20);
    assert_shows(screen, 99, "abcd xy\n");
    screen_free(screen);
}

/* A row that the program has emptied stays, though the one above had gone on in it. */
TEST(test_an_emptied_row_stays)
{
    static const char *const texts[] = {"abcdefgh\r\033[K\r\nx", "abcde\033[2Kf\r\nx", "abcdefgh\r\033[44m\033[K\033[m\r\nx"};
    static const char *const shown[] = {"abcde\n\nx\n", "\nf\nx\n", "abcde\n\nx\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct screen *screen = screen_new(4, 5, 1 << 16);
        feed(screen, texts[i]);
        for (int cols = 5; cols < 30; cols += 8) {
            screen_resize(screen, 4, cols);
            assert_shows(screen, 99, shown[i]);
        }
        screen_free(screen);
    }
}

/* A cursor that could not stand at its character for a while stands there again, unless the program has moved it. */
TEST(test_the_cursor_comes_back)
{
    struct screen *screen = screen_new(4, 10, 1 << 16);
    feed(screen, "1\r\n2\r\n3\r\n4\033[2;2H");
    screen_resize(screen, 1, 10);
    assert_shows(screen, 0, "4\n");
    assert_cursor(screen, 0, 1);
    screen_resize(screen, 4, 10);
    assert_cursor(screen, 1, 1);
    screen_resize(screen, 1, 10);
    feed(screen, "\rx");
    screen_resize(screen, 4, 10);
    assert_shows(screen, 9, "1\n2\n3\nx\n");
    assert_cursor(screen, 3, 1);
    screen_free(screen);
    screen = screen_new(2, 10, 1 << 16); /* behind the last column, where it can't be without autowrap */
    feed(screen, "\033[?7labcd");
    screen_resize(screen, 2, 4);
    assert_cursor(screen, 0, 3);
    screen_resize(screen, 2, 10);
    assert_cursor(screen, 0, 4);
    screen_free(screen);
    screen = screen_new(2, 10, 1 << 16); /* on the right half of a wide character */
    feed(screen, "ab\xe4\xbd\xa0\033[1;4H");
    screen_resize(screen, 2, 3);
    screen_resize(screen, 2, 10);
    assert_cursor(screen, 0, 3);
    screen_free(screen);
}

/* All lines, without the blanks at their ends: rows that end a line are shown without, others with. */
static char *lines_of(const struct screen *screen)
{
    char *text = picture(screen, RENDER_TEXT, true, SIZE_MAX), *to = text;
    for (const char *at = text; *at; at++) {
        while (*at == '\n' && to > text && to[-1] == ' ')
            to--;
        *to++ = *at;
    }
    *to = '\0';
    return text;
}

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static void add_line(struct buf *out, unsigned *seed, bool fills)
{
    static const char *const parts[] = {"word ", "\xe4\xbd\xa0\xe5\xa5\xbd", "e\xcc\x81", "\033[1;31mred\033[m", "   ", "\033[48;5;20m \033[m",
                                        "\033[4:3;58;2;1;2;3mline\033[m", "x", "\xf0\x9f\x98\x80", "-----"};
    for (unsigned i = draw(seed, 9) ? draw(seed, 12) : draw(seed, 160); i > 0; i--)
        buf_append_text(out, parts[draw(seed, 10)]);
    if (fills && draw(seed, 8) == 0)
        buf_append_text(out, "\033[44m\033[K\033[m");
    buf_append_text(out, "\r\n");
}

TEST(test_back_to_the_first_picture)
{
    struct screen *screen = screen_new(24, 80, 4 << 20);
    struct buf text = BUF_INIT;
    unsigned seed = 7;
    for (int i = 0; i < 10000; i++)
        add_line(&text, &seed, i < 9000);
    screen_feed(screen, text.data, text.len);
    feed(screen, "user@host:~$ a command that is not finished yet");
    char *before = picture(screen, RENDER_ANSI, false, SIZE_MAX), *joined = lines_of(screen);
    struct screen_cursor cursor = screen_cursor(screen);
    size_t rows = scrollback_count(screen_scrollback(screen)), bytes = scrollback_bytes(screen_scrollback(screen));
    assert_true(rows > 10000);
    int64_t longest = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t begin = clock_mono_ns();
        screen_resize(screen, 10 + (int)draw(&seed, 50), 20 + (int)draw(&seed, 281));
        int64_t took = clock_mono_ns() - begin;
        longest = took > longest ? took : longest;
        if (i % 100 == 0) {
            char *now = lines_of(screen);
            assert_same(now, joined);
            free(now);
        }
    }
    print_message("the slowest of 1,000 changes of size took %.1f ms\n", (double)longest / 1e6);
    screen_resize(screen, 24, 80);
    char *after = picture(screen, RENDER_ANSI, false, SIZE_MAX);
    assert_same(after, before);
    assert_cursor(screen, cursor.row, cursor.col);
    assert_int_equal(scrollback_count(screen_scrollback(screen)), rows);
    assert_true(scrollback_bytes(screen_scrollback(screen)) < bytes + bytes / 8);
    free(before);
    free(after);
    free(joined);
    buf_fini(&text);
    screen_free(screen);
}

/* What programs do to a small screen: wide characters, marks, tabs, blanks of every colour. */
static void add_anything(struct buf *out, unsigned *seed, unsigned rows, unsigned cols)
{
    static const char *const parts[] = {"a",        "bc",     "word ",  "\xe4\xbd\xa0", "\xe5\xa5\xbd\xe4\xbd\xa0", "\xf0\x9f\x98\x80", "e\xcc\x81",  "\xcc\x82",
                                        " ",        "   ",    "\t",     "-----",        "\xe4\xbd\xa0\xcc\x81",     "\r\n",             "\033[44m",   "\033[m",
                                        "\033[1K",  "\033[K", "\033[J", "\033[2J",      "\033[4m",                  "\r",               "\n",         "\033M",
                                        "\033[?7l", "\033[?7h"};
    unsigned what = draw(seed, 36);
    if (what < 26)
        buf_append_text(out, parts[what]);
    else if (what < 29)
        buf_append_text(out, parts[draw(seed, 13)]);
    else if (what < 31)
        buf_printf(out, "\033[%uX", 1 + draw(seed, cols));
    else if (what < 33)
        buf_printf(out, "\033[%u;%uH", 1 + draw(seed, rows), 1 + draw(seed, cols));
    else
        buf_printf(out, "\033[%u%c", 1 + draw(seed, 3), "@PLM"[draw(seed, 4)]);
}

static void assert_comes_back(unsigned seed)
{
    unsigned at = seed * 7919 + 1, rows = 1 + draw(&at, 12), cols = 2 + draw(&at, 39);
    struct screen *screen = screen_new((int)rows, (int)cols, 1 << 20);
    struct buf text = BUF_INIT;
    for (unsigned i = 5 + draw(&at, 200); i > 0; i--)
        add_anything(&text, &at, rows, cols);
    screen_feed(screen, text.data, text.len);
    char *before = picture(screen, RENDER_ANSI, false, SIZE_MAX);
    struct screen_cursor cursor = screen_cursor(screen);
    for (unsigned i = 1 + draw(&at, 20); i > 0; i--)
        screen_resize(screen, 1 + (int)draw(&at, 20), 2 + (int)draw(&at, 60));
    screen_resize(screen, (int)rows, (int)cols);
    char *after = picture(screen, RENDER_ANSI, false, SIZE_MAX);
    if (strcmp(after, before) != 0 || cursor.row != screen_cursor(screen).row || cursor.col != screen_cursor(screen).col)
        fail_msg("seed %u: %u rows of %u columns, cursor at %d, %d, not %d, %d:\n%s-- not:\n%s", seed, rows, cols, screen_cursor(screen).row,
                 screen_cursor(screen).col, cursor.row, cursor.col, after, before);
    free(before);
    free(after);
    buf_fini(&text);
    screen_free(screen);
}

TEST(test_small_screens_come_back)
{
    for (unsigned seed = 0; seed < 4000; seed++)
        assert_comes_back(seed);
}

/* The cap holds whatever the width and however long a line is, and the newest rows are those that stay. */
TEST(test_the_cap_holds)
{
    enum { CAP = 64 << 10 };
    struct screen *screen = screen_new(10, 80, CAP);
    unsigned seed = 3;
    for (int i = 0; i < 3000; i++) {
        struct buf text = BUF_INIT;
        add_line(&text, &seed, true);
        if (i % 3 == 0)
            text.len -= 2; /* goes on */
        screen_feed(screen, text.data, text.len);
        buf_fini(&text);
        if (i % 10 == 0)
            screen_resize(screen, 1 + (int)draw(&seed, 30), 1 + (int)draw(&seed, 200));
        assert_true(scrollback_bytes(screen_scrollback(screen)) < CAP + CAP / 2);
    }
    screen_resize(screen, 10, 80);
    for (int i = 0; i < 4000; i++) /* one line that never ends */
        feed(screen, "0123456789012345678901234567890123456789012345678901234567890123456789012345678 ");
    assert_true(scrollback_bytes(screen_scrollback(screen)) < CAP + CAP / 2);
    assert_true(scrollback_count(screen_scrollback(screen)) > CAP / 2 / 80);
    screen_resize(screen, 10, 33);
    screen_resize(screen, 10, 300);
    screen_resize(screen, 10, 80);
    feed(screen, "\r\nend");
    char *text = picture(screen, RENDER_TEXT, true, SIZE_MAX);
    assert_true(strstr(text, "678 0123") && strstr(text, "678\nend\n"));
    assert_null(strstr(text, "6780"));
    free(text);
    screen_free(screen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_wrap_anew),       cmocka_unit_test(test_a_line_in_both),
        cmocka_unit_test(test_wide_at_the_edge),      cmocka_unit_test(test_the_cursor_stays_at_its_character),
        cmocka_unit_test(test_which_rows_are_shown),  cmocka_unit_test(test_alternate),
        cmocka_unit_test(test_painted_to_the_edge), cmocka_unit_test(test_a_gap_before_a_wide_character),
        cmocka_unit_test(test_an_emptied_row_stays), cmocka_unit_test(test_the_cursor_comes_back),
        cmocka_unit_test(test_small_screens_come_back),
        cmocka_unit_test(test_back_to_the_first_picture), cmocka_unit_test(test_the_cap_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
