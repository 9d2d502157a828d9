/* Colours that a program sets: remembered, drawn, answered, told to another terminal, and reset. */
#include "tests/lib/test.h"

#include "term/colours.h"
#include "term/modes.h"
#include "term/paint.h"
#include "term/render.h"
#include "term/responder.h"
#include "term/resume.h"
#include <stdlib.h>
#include <string.h>

static bool apply(struct colours **colours, const char *text)
{
    return colours_apply(colours, text, strlen(text));
}

TEST(test_what_sets_and_resets)
{
    struct colours *colours = NULL;
    assert_true(apply(&colours, "4;1;rgb:12/34/56;255;#abc"));
    assert_int_equal(colours_get(colours, 1), COLOR_RGB | 0x123456);
    assert_int_equal(colours_get(colours, 255), COLOR_RGB | 0xa0b0c0);
    assert_int_equal(colours_get(colours, 2), COLOR_DEFAULT);
    assert_false(apply(&colours, "4;1;rgb:12/34/56"));
    assert_true(apply(&colours, "10;#112233;rgb:ffff/0000/8080;#123456789abc"));
    assert_int_equal(colours_get(colours, COLOURS_TEXT), COLOR_RGB | 0x112233);
    assert_int_equal(colours_get(colours, COLOURS_BACKGROUND), COLOR_RGB | 0xff0080);
    assert_int_equal(colours_get(colours, COLOURS_CURSOR), COLOR_RGB | 0x12569a);
    static const char *const none[] = {"4;1;?", "4;256;#000", "4;-1;#000", "4;1", "4;;#000", "10;red", "10;#12", "10;#1234567890123", "13;#000", "104;256",
                                       "113", "4;1;rgb:1/2", "", ";", "4;1;#ggg", "0;4;1;#000", "10;"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (apply(&colours, none[i]))
            fail_msg("%s changes something", none[i]);
    assert_true(apply(&colours, "104;7;1"));
    assert_int_equal(colours_get(colours, 1), COLOR_DEFAULT);
    assert_int_equal(colours_get(colours, 255), COLOR_RGB | 0xa0b0c0);
    assert_true(apply(&colours, "104"));
    assert_int_equal(colours_get(colours, 255), COLOR_DEFAULT);
    assert_int_equal(colours_get(colours, COLOURS_TEXT), COLOR_RGB | 0x112233);
    assert_true(apply(&colours, "110") && apply(&colours, "111") && colours && apply(&colours, "112"));
    assert_null(colours); /* nothing is kept for it */
    assert_false(apply(&colours, "104") || apply(&colours, "111"));
    apply(&colours, "4;1;#000");
    assert_true(colours_reset(&colours));
    assert_false(colours_reset(&colours));
}

static void feed(struct screen *screen, const char *text)
{
    screen_feed(screen, text, strlen(text));
}

TEST(test_they_are_drawn)
{
    struct screen *screen = screen_new(2, 4, 0), *terminal = screen_new(2, 4, 0);
    struct paint *paint = paint_new(2, 4);
    static const struct {
        const char *bytes;
        uint32_t fg, bg, rest;
    } steps[] = {{"\033[31mA\033[m", COLOR_INDEXED | 1, COLOR_DEFAULT, COLOR_DEFAULT},
                 {"\033]4;1;#010203\007", COLOR_RGB | 0x010203, COLOR_DEFAULT, COLOR_DEFAULT},
                 {"\033]11;#040506\007", COLOR_RGB | 0x010203, COLOR_RGB | 0x040506, COLOR_RGB | 0x040506},
                 {"\033[1;1H\033[38;2;9;9;9mA", COLOR_RGB | 0x090909, COLOR_RGB | 0x040506, COLOR_RGB | 0x040506},
                 {"\033]104\007\033]111\007\r\033[;31mA\033[m", COLOR_INDEXED | 1, COLOR_DEFAULT, COLOR_DEFAULT},
                 {"\033]10;#070707\007\033[2;1HA\033[H", COLOR_INDEXED | 1, COLOR_DEFAULT, COLOR_DEFAULT},
                 {"\033c\033[31mA\033[m", COLOR_INDEXED | 1, COLOR_DEFAULT, COLOR_DEFAULT}};
    feed(terminal, "\033[?7l");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct buf out = BUF_INIT;
        feed(screen, steps[i].bytes);
        assert_true(paint_draw(paint, screen, &out));
        screen_feed(terminal, out.data, out.len);
        const struct line *line = screen_line(terminal, 0);
        assert_int_equal(line->cells[0].pen.fg, steps[i].fg);
        assert_int_equal(line->cells[0].pen.bg, steps[i].bg);
        assert_int_equal(line->cells[3].pen.bg, steps[i].rest);
        assert_null(screen_colours(terminal)); /* the person's own colours stay */
        if (i == 5)
            assert_int_equal(screen_line(terminal, 1)->cells[0].pen.fg, COLOR_RGB | 0x070707);
        buf_clear(&out);
        paint_draw(paint, screen, &out);
        assert_int_equal(out.len, 0);
        buf_fini(&out);
    }
    struct buf ansi = BUF_INIT, html = BUF_INIT;
    feed(screen, "\033]4;1;#010203\007");
    assert_true(render(screen, &(struct render_options){.format = RENDER_ANSI}, &ansi));
    assert_true(render(screen, &(struct render_options){.format = RENDER_HTML}, &html));
    assert_non_null(strstr(ansi.data, "38;2;1;2;3m"));
    assert_non_null(strstr(html.data, "color:#010203"));
    buf_fini(&ansi);
    buf_fini(&html);
    paint_free(paint);
    screen_free(screen);
    screen_free(terminal);
}

TEST(test_they_are_told)
{
    struct screen *screen = screen_new(2, 9, 0), *other = screen_new(2, 9, 0);
    struct buf words = BUF_INIT;
    feed(screen, "\033]4;7;#010203;200;#040506\007\033]12;#070809\007");
    resume_draw(screen, &words);
    screen_feed(other, words.data, words.len);
    assert_memory_equal(screen_colours(other), screen_colours(screen), sizeof(struct colours));
    buf_clear(&words);
    colours_append(&words, NULL);
    screen_feed(other, words.data, words.len);
    assert_null(screen_colours(other));
    buf_fini(&words);
    screen_free(screen);
    screen_free(other);
}

TEST(test_they_are_answered)
{
    static const char queries[] = "\033]4;1;?;2;?\033\\\033]10;?;?;?\007";
    struct profile profile = {.known = 1u << PROFILE_BACKGROUND | 1u << 1, .colours[1] = {1, 2, 3}};
    struct colours *colours = NULL;
    struct buf out = BUF_INIT;
    apply(&colours, "4;1;#a1b2c3");
    apply(&colours, "11;rgb:0a/0b/0c");
    struct responder_facts facts = {.profile = &profile, .colours = colours};
    struct scan_seq seq;
    for (size_t at = 0; scan_next(queries, sizeof queries - 1, &at, &seq);)
        assert_true(responder_answer(&out, &seq, &facts));
    assert_string_equal(out.data, "\033]4;1;rgb:a1a1/b2b2/c3c3\033\\\033]4;2;rgb:0000/cdcd/0000\033\\"
                                  "\033]10;rgb:e5e5/e5e5/e5e5\007\033]11;rgb:0a0a/0b0b/0c0c\007\033]12;rgb:e5e5/e5e5/e5e5\007");
    buf_fini(&out);
    colours_reset(&colours);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_sets_and_resets), cmocka_unit_test(test_they_are_drawn),
                                       cmocka_unit_test(test_they_are_told), cmocka_unit_test(test_they_are_answered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
