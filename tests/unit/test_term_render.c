/* A screen as text, with colours, as a page and as a picture. */
#include "tests/lib/test.h"

#include "term/render.h"
#include <stdlib.h>
#include <string.h>

static char *draw(const char *bytes, enum render_format format, bool cursor)
{
    struct screen *screen = screen_new(3, 20, 0);
    struct buf out = BUF_INIT;
    struct render_options options = {.format = format, .cursor = cursor};
    screen_feed(screen, bytes, strlen(bytes));
    assert_true(render(screen, &options, &out));
    screen_free(screen);
    return buf_take(&out);
}

static void check(const char *bytes, enum render_format format, const char *expected)
{
    char *drawing = draw(bytes, format, false);
    assert_string_equal(drawing, expected);
    free(drawing);
}

TEST(test_text)
{
    check("", RENDER_TEXT, "");
    check("a  \r\n\r\n  b", RENDER_TEXT, "a\n\n  b\n");
    check("\033[41m   \033[m", RENDER_TEXT, "");
}

TEST(test_ansi)
{
    check("a\033[1;31mb\033[0mc", RENDER_ANSI, "a\033[0;1;31mb\033[0mc\n");
    check("\033[38;5;200;48;2;1;2;3mx\r\n\033[0;4;7;9;53my", RENDER_ANSI,
          "\033[0;38;5;200;48;2;1;2;3mx\033[0m\n\033[0;7;9;53;4my\033[0m\n");
    check("\033[95mx\033[21;104my\033[4:3mz", RENDER_ANSI, "\033[0;95mx\033[0;21;95;104my\033[0;4:3;95;104mz\033[0m\n");
    check("\033[41m   \033[m", RENDER_ANSI, "\033[0;41m   \033[0m\n");
    check("\033]0;t\007\033[?1h\033[5n\033P+q\033\\x", RENDER_ANSI, "x\n");
}

/* Drawn with colours and read again, it is the same screen. */
TEST(test_ansi_again)
{
    const char *bytes = "\033[1;2;3;4mA\033[0;5;7;8;9mB\033[0;21;38;5;99mC\r\n\xe4\xbd\xa0\033[48;2;9;8;7m e\xcc\x81\033[0mz \033[44m \r\n\033[4:3;97mq";
    char *first = draw(bytes, RENDER_ANSI, false), *lines = malloc(4096);
    char *at = lines;
    for (const char *from = first; *from; from++) {
        if (*from == '\n' && !from[1])
            break;
        if (*from == '\n')
            *at++ = '\r';
        *at++ = *from;
    }
    *at = 0;
    check(lines, RENDER_ANSI, first);
    free(lines);
    free(first);
}

TEST(test_html)
{
    char *page = draw("<b>&\"\033[1;34mx\033[0;7my", RENDER_HTML, false);
    assert_non_null(strstr(page, "&lt;b&gt;&amp;&quot;<span style=\"color:#5c5cff;font-weight:bold\">x</span>"
                                 "<span style=\"color:#000000;background:#e5e5e5\">y</span>\n"));
    assert_null(strstr(page, "<b>"));
    assert_non_null(strstr(page, "</pre></body></html>"));
    free(page);
    page = draw("ab\033[1;1H", RENDER_HTML, true);
    assert_non_null(strstr(page, "<span style=\"color:#000000;background:#e5e5e5\">a</span>b\n"));
    free(page);
    page = draw("ab\033[1;1H\033[?25l", RENDER_HTML, true);
    assert_non_null(strstr(page, ">ab\n"));
    free(page);
    page = draw("\033[8msecret", RENDER_HTML, false); /* concealed: as invisible as on a terminal */
    assert_non_null(strstr(page, "color:#000000"));
    free(page);
}

TEST(test_svg)
{
    char *picture = draw("<\xe4\xbd\xa0z\r\n\033[42m&", RENDER_SVG, false);
    assert_non_null(strstr(picture, "<svg xmlns="));
    assert_non_null(strstr(picture, "width=\"160\" height=\"48\""));
    assert_non_null(strstr(picture, "<text x=\"0\" y=\"12\" textLength=\"8\" style=\"fill:#e5e5e5\">&lt;</text>"));
    assert_non_null(strstr(picture, "<text x=\"8\" y=\"12\" textLength=\"16\" style=\"fill:#e5e5e5\">\xe4\xbd\xa0</text>"));
    assert_non_null(strstr(picture, "<text x=\"24\" y=\"12\" textLength=\"8\""));
    assert_non_null(strstr(picture, "<rect x=\"0\" y=\"16\" width=\"8\" height=\"16\" fill=\"#00cd00\"/>"));
    assert_string_equal(picture + strlen(picture) - 7, "</svg>\n");
    free(picture);
}

TEST(test_cap)
{
    struct screen *screen = screen_new(3, 20, 0);
    struct render_options options = {.format = RENDER_TEXT};
    struct buf out;
    screen_feed(screen, "x", 1);
    buf_init(&out, RENDER_LINE_MAX - 1);
    assert_false(render(screen, &options, &out));
    buf_fini(&out);
    buf_init(&out, RENDER_LINE_MAX);
    assert_true(render(screen, &options, &out));
    buf_fini(&out);
    screen_free(screen);
}

TEST(test_words)
{
    enum render_format format;
    assert_true(render_format("svg", &format) && format == RENDER_SVG);
    assert_true(render_format("text", &format) && format == RENDER_TEXT);
    assert_false(render_format("png", &format));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text), cmocka_unit_test(test_ansi), cmocka_unit_test(test_ansi_again), cmocka_unit_test(test_html),
        cmocka_unit_test(test_svg),  cmocka_unit_test(test_cap),  cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
