/* wire/cast: what is written reads back; what is no recording is refused with its line. */
#include "tests/lib/test.h"
#include "wire/cast.h"
#include <string.h>

static int read_text(struct cast_reader *reader, const char *text, struct cast_event *event, struct err *err)
{
    return cast_read(reader, text, strlen(text), event, err);
}

/* Reads all lines; returns the events' codes as a string in out, times in us. */
static void read_all(const struct buf *text, char *codes, int64_t *times, size_t max)
{
    struct cast_reader reader = {0};
    size_t count = 0;
    for (size_t at = 0; at < text->len;) {
        struct cast_event event;
        struct err err = {0};
        const char *end = memchr(text->data + at, '\n', text->len - at);
        assert_non_null(end);
        int result = cast_read(&reader, text->data + at, (size_t)(end - text->data) - at, &event, &err);
        assert_true(result >= 0);
        if (result == 1) {
            assert_true(count < max);
            codes[count] = (char)event.code;
            times[count++] = event.at_us;
        }
        cast_event_fini(&event);
        at = (size_t)(end - text->data) + 1;
    }
    codes[count] = 0;
}

TEST(test_written_reads_back)
{
    for (int version = 2; version <= 3; version++) {
        struct buf out = BUF_INIT;
        char codes[8];
        int64_t times[8], last_ms = 0;
        struct cast_head head = {.version = version, .rows = 24, .cols = 80, .began_real_ms = 1700000000123, .command = "a \"b\"\n", .term = "xterm"};
        cast_append_head(&out, &head);
        cast_append_event(&out, version, &last_ms, 5, CAST_OUTPUT, "\0\033[m\xff\xc3\xa9\r\n", 9);
        cast_append_event(&out, version, &last_ms, 1007, CAST_RESIZE, "100x30", 6);
        cast_append_event(&out, version, &last_ms, 1006, CAST_MARKER, "late", 4); /* time doesn't go back */
        cast_append_event(&out, version, &last_ms, 70000, CAST_EXIT, "3", 1);
        read_all(&out, codes, times, 8);
        assert_string_equal(codes, version == 3 ? "ormx" : "orm");
        assert_int_equal(times[0], 5000);
        assert_int_equal(times[1], 1007000);
        assert_int_equal(times[2], 1007000);
        if (version == 3)
            assert_int_equal(times[3], 70000000);
        buf_fini(&out);
    }
}

TEST(test_bytes_survive)
{
    struct buf out = BUF_INIT;
    struct cast_reader reader = {.version = 3};
    struct cast_event event;
    struct err err;
    int64_t last_ms = 0;
    cast_append_event(&out, 3, &last_ms, 0, CAST_OUTPUT, "a\0b\377\xe2\x82", 6);
    assert_int_equal(cast_read(&reader, out.data, out.len - 1, &event, &err), 1);
    assert_int_equal(event.size, 9);
    assert_memory_equal(event.data, "a\0b\xef\xbf\xbd\xef\xbf\xbd", 9);
    cast_event_fini(&event);
    buf_fini(&out);
}

/* Intervals of a long recording add up: nothing is lost by rounding. */
TEST(test_no_drift)
{
    struct buf out = BUF_INIT;
    struct cast_reader reader = {.version = 3};
    struct cast_event event;
    struct err err;
    int64_t last_ms = 0;
    for (int i = 1; i <= 100000; i++) {
        buf_clear(&out);
        cast_append_event(&out, 3, &last_ms, (int64_t)i * 7, CAST_OUTPUT, "x", 1);
        assert_int_equal(cast_read(&reader, out.data, out.len - 1, &event, &err), 1);
        cast_event_fini(&event);
    }
    assert_int_equal(reader.at_us, 700000000);
    buf_clear(&out);
    cast_append_event(&out, 3, &last_ms, 5, CAST_OUTPUT, "x", 1); /* the clock was set back */
    assert_string_equal(out.data, "[0.000, \"o\", \"x\"]\n");
    buf_fini(&out);
}

TEST(test_headers)
{
    static const char *const good[] = {
        "{\"version\":2,\"width\":80,\"height\":24}",
        "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24},\"x\":1,\"idle_time_limit\":1.5}",
        "{\"version\":2,\"width\":80,\"height\":24,\"env\":{\"TERM\":\"x\"},\"theme\":null}\r",
    };
    static const char *const bad[] = {
        "",
        "x",
        "[1,2]",
        "{}",
        "{\"version\":1,\"width\":80,\"height\":24}",
        "{\"version\":\"2\",\"width\":80,\"height\":24}",
        "{\"version\":2,\"width\":0,\"height\":24}",
        "{\"version\":2,\"width\":80}",
        "{\"version\":2,\"width\":80.5,\"height\":24}",
        "{\"version\":3,\"width\":80,\"height\":24}",
        "{\"version\":3,\"term\":{\"cols\":80,\"rows\":10001}}",
        "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24},\"idle_time_limit\":-1}",
        "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24}} x",
        "{\"version\":3,\"term\":[80,24]}",
        "# a comment comes after the header",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct cast_reader reader = {0};
        struct cast_event event;
        struct err err = {0};
        assert_int_equal(read_text(&reader, good[i], &event, &err), 0);
        assert_int_equal(reader.cols, 80);
        assert_int_equal(reader.rows, 24);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cast_reader reader = {0};
        struct cast_event event;
        struct err err = {0};
        assert_int_equal(read_text(&reader, bad[i], &event, &err), ERR_PARSE);
        assert_memory_equal(err.text, "line 1: ", 8);
        assert_int_equal(reader.version, 0);
    }
}

TEST(test_events)
{
    static const char *const skipped[] = {"# comment", "", "[1, \"z\", \"later version\"]", "[1, \"oo\", \"x\"]"};
    static const char *const bad[] = {
        "{}", "[]", "[1]", "[1,\"o\"]", "[1,\"o\",\"x\",2]", "[\"1\",\"o\",\"x\"]", "[-0.1,\"o\",\"x\"]", "[1,2,\"x\"]", "[1,\"o\",2]",
        "[1e10,\"o\",\"x\"]", "[1,\"o\",\"x\"", "[1,\"r\",\"80\"]", "[1,\"r\",\"80x\"]", "[1,\"r\",\"0x24\"]", "[1,\"r\",\"80x24x\"]",
        "[1,\"r\",\"80 x24\"]", "[1,\"r\",\"+8x24\"]", "[NaN,\"o\",\"x\"]", "[1,\"o\",\"\\ud800\"]",
    };
    struct cast_reader reader = {.version = 3, .line = 6};
    struct cast_event event;
    struct err err = {0};
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        assert_int_equal(read_text(&reader, skipped[i], &event, &err), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        reader.line = 6;
        assert_int_equal(read_text(&reader, bad[i], &event, &err), ERR_PARSE);
        assert_memory_equal(err.text, "line 7: ", 8);
    }
    assert_int_equal(read_text(&reader, "[0.5, \"r\", \"132x50\"]", &event, &err), 1);
    assert_int_equal(event.cols, 132);
    assert_int_equal(event.rows, 50);
    cast_event_fini(&event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_reads_back), cmocka_unit_test(test_bytes_survive), cmocka_unit_test(test_no_drift),
        cmocka_unit_test(test_headers),            cmocka_unit_test(test_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
