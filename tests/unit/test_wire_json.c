/* json: what is taken, what is refused and why, and that a value printed and parsed is the same. */
#include "base/buf.h"
#include "base/mem.h"
#include "tests/lib/test.h"
#include "wire/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refused(const char *text, size_t size, const char *why)
{
    struct err err = {0};
    struct json *value = json_parse(text, size, &err);
    if (value != NULL)
        fail_msg("taken: %.60s", text);
    assert_int_equal(err.code, ERR_PARSE);
    if (strstr(err.text, why) == NULL)
        fail_msg("'%.60s' refused with '%s', expected '%s'", text, err.text, why);
}

static struct json *parse(const char *text)
{
    struct err err = {0};
    struct json *value = json_parse(text, strlen(text), &err);
    if (value == NULL)
        fail_msg("%s: %s", text, err.text);
    return value;
}

TEST(test_refuses_what_is_no_json)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "ends too early"}, {"  ", "ends too early"}, {"{", "ends too early"}, {"{\"a\"", "expected ':'"},
        {"{\"a\":", "expected a value"}, {"{\"a\":1", "expected ',' or '}'"}, {"{\"a\":1,", "expected a key"},
        {"{\"a\":1,}", "expected a key"}, {"{a:1}", "expected a key"}, {"{'a':1}", "expected a key"}, {"[1,]", "expected a value"},
        {"[1 2]", "expected ',' or ']'"}, {"[1}", "expected ',' or ']'"}, {"{} {}", "something follows"}, {"{}x", "something follows"},
        {"1 1", "something follows"}, {"nul", "expected a value"}, {"truex", "something follows"}, {"True", "expected a value"},
        {"NaN", "expected a value"}, {"Infinity", "expected a value"}, {"-", "expected a digit"}, {"+1", "expected a value"},
        {"01", "leading zeros"}, {"-01", "leading zeros"}, {"1.", "after the decimal point"}, {".5", "expected a value"},
        {"1e", "in the exponent"}, {"1e+", "in the exponent"}, {"0x1", "something"}, {"\"a", "has no end"}, {"\"a\\", "has no end"},
        {"\"\\x\"", "unknown escape"}, {"\"\\u12\"", "hexadecimal"}, {"\"\\u12g4\"", "hexadecimal"}, {"\"\\ud800\"", "surrogate"},
        {"\"\\ud800\\u0041\"", "surrogate"}, {"\"\\udc00\"", "surrogate"}, {"\"a\nb\"", "control character"}, {"\"\\u0000\"", "\\u0000"},
        {"{\"\\u0000\":1}", "\\u0000"}, {"/*c*/1", "expected a value"}, {"\xef\xbb\xbf{}", "expected a value"}, {"\"\xff\"", "UTF-8"},
        {"\"\xc0\x80\"", "UTF-8"}, {"\"\xed\xa0\x80\"", "UTF-8"}, {"\"\xc3\"", "UTF-8"}, {"\"\xf4\x90\x80\x80\"", "UTF-8"},
        {"9007199254740993", "2^53"}, {"-9007199254740993", "2^53"}, {"99999999999999999999", "2^53"}, {"1e999", "too large"},
        {"0.0000000000000000000000000000000000000000000000000000000000000001", "63 characters"},
        {"{\"a\":1,\"a\":2}", "duplicate field `a`"}, {"{\"a\":1,\"\\u0061\":2}", "duplicate field `a`"},
        {"[{\"b\":{},\"b\":1}]", "duplicate field `b`"},
        {"{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"a\":2}", "duplicate field `a`"},
        {"{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"c\":2}", "duplicate field `c`"},
        {"[{\"a\":[{\"b\":\"\\n\",", "expected a key"}, {"{\"a\":1,\"b", "has no end"},
        {"{\"a\":{\"b\" 1", "expected ':'"},
        {"{\"i\":1,\"h\":1,\"g\":1,\"f\":1,\"e\":1,\"d\":1,\"c\":1,\"b\":1,\"a\":1,\"a\":2}", "duplicate field `a`"},
        {"\"\\ud800\\ue000\"", "surrogate"}, {"\"\x1f\"", "control character"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refused(cases[i].text, strlen(cases[i].text), cases[i].why);
    refused("\"a\0b\"", 5, "control character");
    refused("{}\0", 3, "something follows");
    refused("[\0]", 3, "expected a value");
}

TEST(test_position_is_named)
{
    refused("{\"cmd\":\"ls\",x}", 14, "at byte 13");
    refused("{\"cmd\":\"l", 9, "at byte 10");
}

TEST(test_every_cut_of_a_text_is_refused)
{
    static const char text[] = "{\"a\":[1,-2.5e3,\"\\ud83d\\ude00\xc3\xa9\",true,null],\"b\":{}}";
    for (size_t size = 0; size < sizeof(text) - 1; size++)
        refused(text, size, "at byte");
    json_free(parse(text));
}

TEST(test_depth)
{
    char text[20001];
    memset(text, '[', 10000);
    memset(text + 10000, ']', 10000);
    refused(text, 20000, "deeper than 64");
    for (size_t i = 0; i < 10000; i++)
        memcpy(text + (i % 4000) * 5, "{\"a\":", 5);
    refused(text, 20000, "deeper than 64");
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    text[128] = '\0';
    json_free(parse(text));
    memset(text, '[', 65);
    refused(text, 65, "deeper than 64");
    size_t len = (size_t)snprintf(text, sizeof(text), "[");
    for (int i = 0; i < 100; i++) /* beside each other */
        len += (size_t)snprintf(text + len, sizeof(text) - len, "[[]],{\"a\":[{}]},");
    snprintf(text + len - 1, sizeof(text) - len, "]");
    json_free(parse(text));
}

TEST(test_number_of_values_is_capped)
{
    size_t count = 300000;
    char *text = xmalloc(count * 2 + 2);
    text[0] = '[';
    for (size_t i = 0; i < count; i++)
        memcpy(text + 1 + i * 2, "0,", 2);
    text[count * 2] = ']';
    refused(text, count * 2 + 1, "262144 values");
    strcpy(text + 262143 * 2, "]"); /* the array is one, too */
    json_free(parse(text));
    strcpy(text + 262143 * 2, ",0]");
    refused(text, strlen(text), "262144 values");
    free(text);
}

TEST(test_integers)
{
    struct json *v = parse("[9007199254740992,-9007199254740992,0,-0,1.0,1.5,1e3,1e30]");
    static const int64_t whole[] = {JSON_INTEGER_MAX, -JSON_INTEGER_MAX, 0, 0, 1};
    const struct json *it = json_first(v);
    for (size_t i = 0; i < 5; i++, it = json_next(it)) {
        int64_t number = 77;
        assert_true(json_int(it, &number));
        assert_int_equal(number, whole[i]);
    }
    int64_t number = 77;
    assert_false(json_int(it, &number));
    it = json_next(it);
    assert_true(json_int(it, &number));
    assert_int_equal(number, 1000);
    assert_false(json_int(json_next(it), &number));
    json_free(v);
}

TEST(test_getters)
{
    struct json *v = parse("{\"Cmd\":\"x\",\"cmd\":\"y\\tz\",\"n\":5,\"t\":true,\"o\":{},\"l\":[1,2]}");
    size_t len = 0;
    int64_t n = 0;
    bool t = false;
    assert_string_equal(json_get_str(v, "cmd", &len), "y\tz");
    assert_int_equal(len, 3);
    assert_string_equal(json_get_str(v, "Cmd", NULL), "x");
    assert_null(json_get(v, "CMD"));
    assert_true(json_get_int(v, "n", &n) && n == 5);
    assert_true(json_get_bool(v, "t", &t) && t);
    assert_false(json_get_int(v, "cmd", &n));
    assert_null(json_get_str(v, "n", NULL));
    assert_null(json_get(json_get(v, "l"), "x"));
    assert_null(json_get(NULL, "x"));
    assert_int_equal(json_type(NULL), JSON_ABSENT);
    assert_int_equal(json_count(json_get(v, "l")), 2);
    json_rename(v, "cmd", "command");
    assert_null(json_get(v, "cmd"));
    assert_string_equal(json_get_str(v, "command", NULL), "y\tz");
    struct json *o = json_detach(v, "o");
    assert_int_equal(json_type(o), JSON_OBJECT);
    assert_null(json_get(v, "o"));
    assert_null(json_detach(v, "o"));
    json_free(o);
    json_free(v);
}

static char *print(const struct json *value)
{
    struct buf out = BUF_INIT;
    assert_true(json_print(&out, value));
    return buf_take(&out);
}

TEST(test_print)
{
    struct json *v = json_object_new();
    json_add_str(v, "s", "a\"\\\b\f\n\r\t\x01\x1b\x7f\0é😀", 18);
    json_add_int(v, "i", -JSON_INTEGER_MAX);
    json_add_double(v, "d", 0.1);
    json_add_double(v, "e", 1e300);
    json_add_bool(v, "b", false);
    json_add_null(v, "z");
    json_add_text(v, "absent", NULL);
    struct json *list = json_add_array(v, "l");
    json_add_text(list, NULL, "");
    json_add_object(list, NULL);
    json_add_array(list, NULL);
    char *text = print(v);
    assert_string_equal(text, "{\"s\":\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001b\\u007f\\u0000é😀\",\"i\":-9007199254740992,\"d\":0.1,"
                              "\"e\":1e+300,\"b\":false,\"z\":null,\"absent\":null,\"l\":[\"\",{},[]]}");
    struct err err = {0};
    struct json *again = json_parse_with(text, strlen(text), JSON_ALLOW_NUL, &err);
    assert_non_null(again);
    assert_true(json_equal(v, again));
    struct json *copy = json_copy(again);
    assert_true(json_equal(v, copy));
    json_free(copy);
    json_free(again);
    json_free(v);
    free(text);
}

TEST(test_strings_with_nul_keep_their_length)
{
    struct err err = {0};
    assert_null(json_parse_with("{\"\\u0000\":1}", 12, JSON_ALLOW_NUL, &err)); /* a key has none */
    static const char text[] = "[\"plain\",\"\\u0000\",{\"k\":\"a\\u0000\\u00e9\\ud83d\\ude00b\",\"j\":\"x\"},\"\\u0000\\u0000\"]";
    struct json *v = json_parse_with(text, sizeof(text) - 1, JSON_ALLOW_NUL, NULL);
    size_t len = 0;
    const struct json *it = json_next(json_first(v));
    assert_non_null(json_str(it, &len));
    assert_int_equal(len, 1);
    it = json_next(it);
    assert_memory_equal(json_get_str(it, "k", &len), "a\0é😀b", 9);
    assert_int_equal(len, 9);
    json_get_str(it, "j", &len);
    assert_int_equal(len, 1);
    json_str(json_next(it), &len);
    assert_int_equal(len, 2);
    json_free(v);
}

TEST(test_ill_formed_text_is_replaced)
{
    struct json *v = json_string_new("a\xff" "b\xc3", 4);
    char *text = print(v);
    assert_string_equal(text, "\"a\xef\xbf\xbd" "b\xef\xbf\xbd\"");
    free(text);
    json_free(v);
}

TEST(test_doubles_survive)
{
    static const double numbers[] = {0.1, 1.0 / 3, 12.3456, 1e-300, 5e-324,
                                     1.7976931348623157e308, -2.5, 9007199254740994.0, -18014398509481984.0, 123456789.125};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct json *v = json_double_new(numbers[i]);
        char *text = print(v);
        struct json *again = parse(text);
        assert_true(json_equal(v, again));
        json_free(again);
        free(text);
        json_free(v);
    }
}

TEST(test_a_member_moves)
{
    struct json *v = parse("{\"a\":1,\"b\":[2],\"c\":3}");
    json_add(v, "d", json_detach(v, "a"));
    json_add((struct json *)(uintptr_t)json_get(v, "b"), NULL, json_detach(v, "c"));
    assert_null(json_key(json_next(json_first(json_get(v, "b")))));
    char *text = print(v);
    assert_string_equal(text, "{\"b\":[2,3],\"d\":1}");
    free(text);
    json_free(v);
}

/* Runs of plain bytes, characters and escapes meet at each place. */
TEST(test_strings_in_pieces)
{
    static const char *const pieces[][2] = {
        {"", ""}, {"a", "a"}, {"\xc3\xa9", "\xc3\xa9"}, {"\\n", "\n"}, {"\\u00e9", "\xc3\xa9"},
        {"\\ud83d\\uDE00", "\xf0\x9f\x98\x80"}, {"\\/\\\"", "/\""},
    };
    enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };
    for (size_t i = 0; i < PIECES * PIECES * PIECES; i++) {
        const char *const *a = pieces[i % PIECES], *const *b = pieces[i / PIECES % PIECES];
        const char *const *c = pieces[i / PIECES / PIECES];
        char text[128], want[64];
        size_t len = 0;
        snprintf(text, sizeof(text), "{\"%s%s%s\":\"%s%s%s\"}", a[0], b[0], c[0], a[0], b[0], c[0]);
        snprintf(want, sizeof(want), "%s%s%s", a[1], b[1], c[1]);
        struct json *v = parse(text);
        assert_string_equal(json_get_str(v, want, &len), want);
        assert_int_equal(len, strlen(want));
        json_free(v);
    }
}

TEST(test_print_stops_at_the_cap)
{
    struct buf out;
    buf_init(&out, 16);
    struct json *v = json_array_new();
    json_add_text(v, NULL, "0123456789abcdefghij");
    assert_false(json_print(&out, v));
    assert_true(out.len <= 16);
    buf_fini(&out);
    json_free(v);
}

TEST(test_a_buffer_that_is_no_text)
{
    struct buf text = BUF_INIT;
    struct json *v = json_object_new();
    buf_append(&text, "a\x97z", 3);
    json_add_buf(v, "text", &text);
    assert_int_equal(text.len, 0);
    assert_string_equal(json_get_str(v, "text", NULL), "a\uFFFDz");
    json_free(v);
}

TEST(test_eight_mebibytes_of_text)
{
    size_t size = 8u << 20;
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < size; i++)
        buf_append_byte(&text, i % 80 == 78 ? '\r' : i % 80 == 79 ? '\n' : (char)('a' + i % 26));
    struct json *v = json_object_new();
    json_add_buf(v, "output", &text);
    assert_int_equal(text.len, 0);
    struct buf out = BUF_INIT;
    assert_true(json_print(&out, v));
    struct json *again = json_parse(out.data, out.len, NULL);
    assert_true(json_equal(v, again));
    json_free(again);
    json_free(v);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuses_what_is_no_json),
        cmocka_unit_test(test_position_is_named),
        cmocka_unit_test(test_every_cut_of_a_text_is_refused),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_number_of_values_is_capped),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_getters),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_strings_with_nul_keep_their_length),
        cmocka_unit_test(test_ill_formed_text_is_replaced),
        cmocka_unit_test(test_doubles_survive),
        cmocka_unit_test(test_a_member_moves),
        cmocka_unit_test(test_strings_in_pieces),
        cmocka_unit_test(test_print_stops_at_the_cap),
        cmocka_unit_test(test_a_buffer_that_is_no_text),
        cmocka_unit_test(test_eight_mebibytes_of_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
