/* frame: lines out of any cutting of the stream, the cap, and no memory for silence. */
#include "base/mem.h"
#include "tests/lib/test.h"
#include "wire/frame.h"
#include <stdlib.h>
#include <string.h>

static void expect_line(struct frame *frame, const char *want)
{
    const char *line = NULL;
    size_t len = 0;
    struct err err = {0};
    assert_int_equal(frame_next(frame, &line, &len, &err), 1);
    assert_int_equal(len, strlen(want));
    assert_memory_equal(line, want, len);
}

static void expect_nothing(struct frame *frame)
{
    const char *line = NULL;
    size_t len = 0;
    struct err err = {0};
    assert_int_equal(frame_next(frame, &line, &len, &err), 0);
}

static void expect_too_large(struct frame *frame)
{
    const char *line = NULL;
    size_t len = 0;
    struct err err = {0};
    assert_int_equal(frame_next(frame, &line, &len, &err), ERR_TOO_LARGE);
    assert_non_null(strstr(err.text, "max_request"));
    assert_memory_equal(line, "123456789", len); /* its beginning, for its id */
    assert_int_equal(len, 9);
}

TEST(test_byte_by_byte)
{
    static const char text[] = "{\"a\":1}\n\n  \r\n{}\r\nrest";
    struct frame frame;
    frame_init(&frame, 100);
    for (size_t i = 0; i < 7; i++) {
        frame_feed(&frame, text + i, 1);
        expect_nothing(&frame);
    }
    frame_feed(&frame, text + 7, 1);
    expect_line(&frame, "{\"a\":1}");
    expect_nothing(&frame);
    frame_feed(&frame, text + 8, sizeof(text) - 9);
    expect_line(&frame, "{}\r");
    expect_nothing(&frame);
    const char *line = NULL;
    size_t len = 0;
    assert_int_equal(frame_eof(&frame, &line, &len), 1);
    assert_int_equal(len, 4);
    assert_memory_equal(line, "rest", 4);
    assert_int_equal(frame_eof(&frame, &line, &len), 0);
    frame_fini(&frame);
}

TEST(test_many_lines_at_once)
{
    struct frame frame;
    frame_init(&frame, 100);
    frame_feed(&frame, "1\n22\n333\n44", 11);
    expect_line(&frame, "1");
    expect_line(&frame, "22");
    frame_feed(&frame, "44\n", 3);
    expect_line(&frame, "333");
    expect_line(&frame, "4444");
    expect_nothing(&frame);
    frame_fini(&frame);
}

TEST(test_silence_costs_nothing)
{
    struct frame frame;
    frame_init(&frame, 8 << 20);
    assert_null(frame.data);
    size_t room = 0;
    assert_non_null(frame_room(&frame, &room));
    assert_true(room >= 4096);
    frame_filled(&frame, 0);
    assert_null(frame.data);
    frame_feed(&frame, "{}\n", 3);
    expect_line(&frame, "{}");
    expect_nothing(&frame);
    assert_null(frame.data);
    expect_nothing(&frame);
    const char *line;
    size_t len;
    assert_int_equal(frame_eof(&frame, &line, &len), 0);
    frame_fini(&frame);
}

TEST(test_cap_is_exact)
{
    struct frame frame;
    frame_init(&frame, 8);
    frame_feed(&frame, "12345678\n123456789\nok\n", 22);
    expect_line(&frame, "12345678");
    expect_too_large(&frame);
    expect_line(&frame, "ok");
    expect_nothing(&frame);
    frame_feed(&frame, "12345678", 8);
    expect_nothing(&frame);
    frame_feed(&frame, "9", 1);
    expect_too_large(&frame);
    expect_nothing(&frame);
    assert_null(frame.data);
    frame_feed(&frame, "more of it", 10);
    expect_nothing(&frame);
    assert_null(frame.data);
    frame_feed(&frame, "end\nok\n", 7);
    expect_line(&frame, "ok");
    expect_nothing(&frame);
    frame_fini(&frame);
}

/* As a connection reads: take lines out after each piece. */
TEST(test_nine_mebibyte_line)
{
    size_t cap = 8u << 20, piece = 65536, told = 0, lines = 0;
    char *chunk = xmalloc(piece);
    memset(chunk, 'x', piece);
    struct frame frame;
    struct err err = {0};
    frame_init(&frame, cap);
    for (size_t sent = 0; sent < 9u << 20; sent += piece) {
        frame_feed(&frame, chunk, piece);
        const char *line;
        size_t len;
        int rc = frame_next(&frame, &line, &len, &err);
        told += rc == ERR_TOO_LARGE;
        lines += rc == 1;
        assert_true(frame.cap <= cap + (1u << 17));
    }
    assert_int_equal(told, 1);
    assert_int_equal(lines, 0);
    frame_feed(&frame, "\n{}\n", 4);
    expect_line(&frame, "{}");
    expect_nothing(&frame);
    frame_fini(&frame);
    free(chunk);
}

TEST(test_line_of_the_cap_in_pieces)
{
    size_t cap = 1u << 20;
    char *text = xmalloc(cap + 1);
    memset(text, 'y', cap);
    text[cap] = '\n';
    struct frame frame;
    frame_init(&frame, cap);
    for (size_t at = 0; at <= cap; at += 5000) {
        frame_feed(&frame, text + at, cap + 1 - at < 5000 ? cap + 1 - at : 5000);
        const char *line;
        size_t len;
        int rc = frame_next(&frame, &line, &len, NULL);
        assert_int_equal(rc, at + 5000 > cap);
        if (rc == 1) {
            assert_int_equal(len, cap);
            assert_memory_equal(line, text, cap);
        }
    }
    expect_nothing(&frame);
    frame_fini(&frame);
    free(text);
}

TEST(test_nul_bytes_are_bytes)
{
    struct frame frame;
    frame_init(&frame, 100);
    frame_feed(&frame, "\0\n", 2);
    const char *line;
    size_t len;
    assert_int_equal(frame_next(&frame, &line, &len, NULL), 1);
    assert_int_equal(len, 1);
    frame_fini(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_many_lines_at_once),
        cmocka_unit_test(test_silence_costs_nothing),
        cmocka_unit_test(test_cap_is_exact),
        cmocka_unit_test(test_nine_mebibyte_line),
        cmocka_unit_test(test_line_of_the_cap_in_pieces),
        cmocka_unit_test(test_nul_bytes_are_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
