/* value: every kind of word, right, wrong and at its limits. */
#include "base/value.h"
#include "tests/lib/test.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *const unused = "untouched";

TEST(reads_integers)
{
    static const struct {
        const char *text;
        int64_t min, max, want;
        bool right;
    } rows[] = {
        {"0", 0, 10, 0, true}, {"10", 0, 10, 10, true}, {"11", 0, 10, 0, false}, {"-1", 0, 10, 0, false}, {"-1", -1, 10, -1, true},
        {"-2", -1, 10, 0, false}, {"+1", 0, 10, 0, false}, {"", 0, 10, 0, false}, {"-", -5, 5, 0, false}, {" 1", 0, 10, 0, false},
        {"1 ", 0, 10, 0, false}, {"1x", 0, 10, 0, false}, {"0x1", 0, 10, 0, false}, {"1.0", 0, 10, 0, false},
        {"9223372036854775807", 0, INT64_MAX, INT64_MAX, true}, {"9223372036854775808", 0, INT64_MAX, 0, false},
        {"-9223372036854775808", INT64_MIN, 0, INT64_MIN, true}, {"-9223372036854775809", INT64_MIN, 0, 0, false},
        {"18446744073709551616", 0, INT64_MAX, 0, false}, {"--1", -5, 5, 0, false}, {"007", 0, 10, 7, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t out = 12345;
        assert_int_equal(value_int(rows[i].text, rows[i].min, rows[i].max, &out), rows[i].right);
        assert_int_equal(out, rows[i].right ? rows[i].want : 12345);
    }
}

TEST(reads_booleans)
{
    static const char *const yes[] = {"yes", "true", "on", "1", "YES"}, *const no[] = {"no", "false", "off", "0", "Off"};
    static const char *const wrong[] = {"", "y", "ja", "2", " yes", "yes ", "00"};
    bool out;
    for (size_t i = 0; i < 5; i++) {
        assert_true(value_bool(yes[i], &out) && out);
        assert_true(value_bool(no[i], &out) && !out);
    }
    out = true;
    for (size_t i = 0; i < 7; i++)
        assert_false(value_bool(wrong[i], &out));
    assert_true(out);
}

TEST(reads_bytes_and_times)
{
    typedef bool reader(const char *, int64_t *);
    static const struct {
        reader *read;
        const char *text;
        int64_t want; /* -1: refused */
    } rows[] = {
        {value_bytes, "4096", 4096}, {value_bytes, "512k", 512 << 10}, {value_bytes, "8M", 8 << 20},
        {value_bytes, "2G", INT64_C(2) << 30},
        {value_bytes, "8MiB", 8 << 20}, {value_bytes, "1KiB", 1024}, {value_bytes, "0", 0}, {value_bytes, "8MB", -1},
        {value_bytes, "8 M", -1},
        {value_bytes, "M", -1}, {value_bytes, "", -1}, {value_bytes, "-1", -1}, {value_bytes, "1.5M", -1}, {value_bytes, "9999999999G", -1},
        {value_bytes, "9223372036854775807", INT64_MAX}, {value_bytes, "9223372036854775808", -1},
        {value_ms, "250", 250}, {value_ms, "250ms", 250}, {value_ms, "10s", 10000}, {value_ms, "5m", 300000}, {value_ms, "1h", 3600000},
        {value_ms, "2d", 172800000}, {value_ms, "inf", INT64_MAX}, {value_ms, "infinite", -1}, {value_ms, "10 s", -1}, {value_ms, "s", -1},
        {value_ms, "-5", -1}, {value_ms, "1w", -1}, {value_ms, "99999999999999999d", -1}, {value_ms, "10ss", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t out = -1;
        assert_int_equal(rows[i].read(rows[i].text, &out), rows[i].want >= 0);
        assert_int_equal(out, rows[i].want);
    }
}

TEST(reads_sizes)
{
    int rows = 7, cols = 8;
    static const char *const wrong[] = {"", "24", "24x", "x80", "0x80", "24x0",
                                        "1001x80", "24x1001", "24x80x2", "24X80", " 24x80", "-1x80"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(value_size(wrong[i], &rows, &cols));
    assert_true(rows == 7 && cols == 8);
    assert_true(value_size("24x80", &rows, &cols) && rows == 24 && cols == 80);
    assert_true(value_size("1000x1", &rows, &cols) && rows == 1000 && cols == 1);
}

TEST(knows_names)
{
    assert_true(value_env_name("PATH", 4));
    assert_true(value_env_name("_x9=", 3));
    assert_false(value_env_name("9x", 2));
    assert_false(value_env_name("", 0));
    assert_false(value_env_name("A-B", 3));
    assert_false(value_env_name("A\0B", 3));
    static const char *const right[] = {"a", "_", "build-2", "1a", "a.b_c-d", "1.2"};
    static const char *const wrong[] = {"", "1000", "-a", ".a", "a b", "a/b", "\xC3\xA9", "a\n"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_true(value_session_name(right[i]));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(value_session_name(wrong[i]));
    char name[67];
    memset(name, 'a', sizeof name);
    name[64] = 0;
    assert_true(value_session_name(name));
    name[64] = 'a';
    name[65] = 0;
    assert_false(value_session_name(name));
}

TEST(knows_signals)
{
    static const struct {
        const char *text;
        int want; /* 0: refused */
    } rows[] = {
        {"9", SIGKILL}, {"KILL", SIGKILL}, {"SIGKILL", SIGKILL}, {"sigterm", SIGTERM}, {"Int", SIGINT}, {"USR1", SIGUSR1}, {"CLD", SIGCHLD},
        {"0", 0}, {"65", 0}, {"-9", 0}, {"", 0}, {"SIG", 0}, {"KIL", 0}, {"SIGSIGKILL", 0}, {"9x", 0}, {"64", 64},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int signo = 0;
        assert_int_equal(value_signal(rows[i].text, &signo), rows[i].want != 0);
        assert_int_equal(signo, rows[i].want);
    }
    assert_string_equal(value_signal_name(SIGKILL), "KILL");
    assert_string_equal(value_signal_name(SIGHUP), "HUP");
    assert_null(value_signal_name(0));
    assert_null(value_signal_name(-1));
    assert_null(value_signal_name(1000));
    for (int i = 1; i < 32; i++) {
        int back = 0;
        const char *name = value_signal_name(i);
        assert_true(!name || (value_signal(name, &back) && back == i));
    }
}

TEST(decodes_escapes)
{
    static const struct {
        const char *text, *want;
        long size;
    } rows[] = {
        {"plain", "plain", 5}, {"", "", 0}, {"a\\nb\\t\\r", "a\nb\t\r", 5}, {"\\e[A", "\033[A", 3}, {"\\a\\b\\f\\v", "\a\b\f\v", 4},
        {"\\\\\\'\\\"", "\\'\"", 3}, {"\\x41\\x0a", "A\n", 2}, {"\\0", "\0", 1}, {"\\033[", "\033[", 2}, {"\\1012", "A2", 2},
        {"\\377", "\377", 1}, {"\\u00e9", "\xC3\xA9", 2}, {"\\u2026", "\xE2\x80\xA6", 3}, {"\\x414", "A4", 2}, {"\\x00z", "\0z", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[32];
        const char *bad = unused;
        assert_int_equal(value_unescape(rows[i].text, out, &bad), rows[i].size);
        assert_memory_equal(out, rows[i].want, (size_t)rows[i].size);
        assert_ptr_equal(bad, unused);
    }
    static const char *const wrong[] = {"ab\\", "ab\\q", "ab\\x4", "ab\\xg0", "ab\\x", "ab\\u12", "ab\\ud800", "ab\\400", "ab\\8", "ab\\N"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char out[32];
        const char *bad = NULL;
        assert_int_equal(value_unescape(wrong[i], out, &bad), -1);
        assert_ptr_equal(bad, wrong[i] + 2);
    }
}

TEST(finds_the_nearest)
{
    static const char *const verbs[] = {"exec", "write", "poll", "kill", "list", "rename", "resize", "status"};
    static const struct {
        const char *word, *want;
    } rows[] = {
        {"exce", "exec"}, {"wirte", "write"}, {"lst", "list"}, {"satus", "status"}, {"poll", "poll"}, {"resise", "resize"},
        {"frobnicate", NULL}, {"", NULL}, {"xy", NULL}, {"kil", "kill"}, {"renmae", "rename"}, {"killl", "kill"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *found = value_nearest(rows[i].word, verbs, sizeof verbs / sizeof verbs[0]);
        if (!rows[i].want)
            assert_null(found);
        else
            assert_string_equal(found, rows[i].want);
    }
    static const char *const alike[] = {"wired", "write"};
    assert_string_equal(value_nearest("wirte", alike, 2), "write"); /* a swap is one mistake */
    char *monster = malloc(100001);
    memset(monster, 'a', 100000);
    monster[100000] = 0;
    assert_null(value_nearest(monster, verbs, 8));
    const char *const one[] = {monster};
    assert_null(value_nearest("aaa", one, 1));
    const char *const short_one = "b";
    assert_null(value_nearest("a", &short_one, 1));
    assert_string_equal(value_nearest("b2", &short_one, 1), "b");
    free(monster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_integers), cmocka_unit_test(reads_booleans), cmocka_unit_test(reads_bytes_and_times),
        cmocka_unit_test(reads_sizes), cmocka_unit_test(knows_names), cmocka_unit_test(knows_signals),
        cmocka_unit_test(decodes_escapes), cmocka_unit_test(finds_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
