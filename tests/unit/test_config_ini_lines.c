/* The traps of inih, one by one, and what a line may be. */
#include "base/buf.h"
#include "config/ini_lines.h"
#include "tests/lib/test.h"
#include <stdio.h>
#include <string.h>

struct seen {
    struct buf text; /* "[name]@line " and "key=<value>@line " */
    const char *stop_at;
    struct err *err;
};

static bool on_section(void *ctx, const char *name, int line)
{
    struct seen *seen = ctx;
    buf_printf(&seen->text, "[%s]@%d ", name, line);
    return true;
}

static bool on_value(void *ctx, const char *key, const char *value, int line)
{
    struct seen *seen = ctx;
    buf_printf(&seen->text, "%s=<%s>@%d ", key, value, line);
    if (!seen->stop_at || strcmp(seen->stop_at, key) != 0)
        return true;
    err_set(seen->err, ERR_CONFIG, "stopped");
    return false;
}

static struct seen seen;
static struct err err;

static int feed_bytes(const char *data, size_t size)
{
    struct ini_lines_events events = {on_section, on_value, &seen};
    buf_clear(&seen.text);
    seen.err = &err;
    err = (struct err){0};
    return ini_lines_read("f.ini", data, size, &events, &err);
}

static void expect(const char *text, const char *events)
{
    assert_int_equal(feed_bytes(text, strlen(text)), 0);
    assert_string_equal(seen.text.len ? seen.text.data : "", events);
}

static void expect_error(const char *text, const char *prefix, const char *part)
{
    assert_int_equal(feed_bytes(text, strlen(text)), ERR_CONFIG);
    if (strncmp(err.text, prefix, strlen(prefix)) != 0 || !strstr(err.text, part))
        fail_msg("'%s' does not begin with '%s' or lacks '%s'", err.text, prefix, part);
}

static int setup(void **state)
{
    (void)state;
    seen = (struct seen){.text = BUF_INIT};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_fini(&seen.text);
    return 0;
}

TEST(test_plain)
{
    expect("", "");
    expect("\n\n", "");
    expect("[a]", "[a]@1 ");
    expect("[a]\nk=v", "[a]@1 k=<v>@2 ");
    expect("; c\n# c\n  ; c\n\t# c\n[a]\n\n k = v \n[b]\nk=w\n", "[a]@5 k=<v>@7 [b]@8 k=<w>@9 ");
    expect("[a]\n[b]\n[c]\n", "[a]@1 [b]@2 [c]@3 ");
}

TEST(test_comment_characters_in_values)
{
    expect("[a]\nk = one ; two\n", "[a]@1 k=<one ; two>@2 ");
    expect("[a]\nk = one # two\n", "[a]@1 k=<one # two>@2 ");
    expect("[a]\nk =;x\n", "[a]@1 k=<;x>@2 ");
    expect("[a]\nk = #x\n", "[a]@1 k=<#x>@2 ");
    expect("[a]\nk = a\t; b \t;\n", "[a]@1 k=<a\t; b \t;>@2 ");
    expect("[a]\nk = echo one ; echo 'two # three' ; x=\"[y]\" z:=w\n", "[a]@1 k=<echo one ; echo 'two # three' ; x=\"[y]\" z:=w>@2 ");
    expect("[a]\nk = [b]\n", "[a]@1 k=<[b]>@2 ");
    expect("[a]\nk = \"b\"\nl = \"\nm = \" ;\" ;\n", "[a]@1 k=<\"b\">@2 l=<\">@3 m=<\" ;\" ;>@4 ");
    expect("[a]\nk = ; ; # #;\n", "[a]@1 k=<; ; # #;>@2 ");
    expect("[a]\nk = =\n", "[a]@1 k=<=>@2 ");
    expect("[a]\nk =\n", "[a]@1 k=<>@2 ");
    expect("[a]\nk = \xc2\xa0\xe2\x82\xac \xf0\x9f\x98\x80\n", "[a]@1 k=<\xc2\xa0\xe2\x82\xac \xf0\x9f\x98\x80>@2 ");
}

/* Each length around every seam, with the characters that mean something at one. */
TEST(test_long_values)
{
    static const char *const fills[] = {"x", " ;", "; ", "#", "[=", "\t\"", "\xc3\xa4", ": "};
    static char text[INI_LINES_MAX_VALUE + 200], value[INI_LINES_MAX_VALUE + 100];
    struct buf want = BUF_INIT;
    for (size_t fill = 0; fill < sizeof(fills) / sizeof(fills[0]); fill++)
        for (size_t size = 1; size <= INI_LINES_MAX_VALUE; size += size < 620 ? 1 : 869) {
            size_t step = strlen(fills[fill]), len = 0;
            for (value[len++] = 'b'; len + step < size; len += step)
                memcpy(value + len, fills[fill], step);
            value[len++] = 'e';
            value[len] = '\0';
            snprintf(text, sizeof(text), "[a]\nkey = %s\nnext = 1\n", value);
            buf_clear(&want);
            buf_printf(&want, "[a]@1 key=<%s>@2 next=<1>@3 ", value);
            expect(text, want.data);
        }
    for (size_t size = 1; size < 620; size++) { /* a piece that begins with a blank */
        snprintf(text, sizeof(text), "[a]\nkey = %0*d ;b\n", (int)size, 0);
        buf_clear(&want);
        buf_printf(&want, "[a]@1 key=<%0*d ;b>@2 ", (int)size, 0);
        expect(text, want.data);
    }
    buf_fini(&want);
}

TEST(test_value_at_its_cap)
{
    struct buf text = BUF_INIT;
    buf_append_text(&text, "[a]\nk =   ");
    for (int i = 0; i < INI_LINES_MAX_VALUE; i++)
        buf_append_byte(&text, "ab ;"[i % 4]);
    buf_append_text(&text, "   \n");
    assert_int_equal(feed_bytes(text.data, text.len), 0);
    assert_int_equal(seen.text.len, strlen("[a]@1 k=<>@2 ") + INI_LINES_MAX_VALUE);
    text.data[text.len - 2] = 'x'; /* the value now ends three bytes later */
    assert_int_equal(feed_bytes(text.data, text.len), ERR_CONFIG);
    assert_string_equal(err.text, "f.ini:2: the value of 'k' has 4099 bytes; at most 4096 are allowed");
    buf_fini(&text);
}

TEST(test_long_names)
{
    char key[INI_LINES_MAX_KEY + 2], text[5000], want[5000];
    memset(key, 'k', sizeof(key));
    key[INI_LINES_MAX_KEY] = '\0';
    snprintf(text, sizeof(text), "[a]\n%s = %0400d\n", key, 7);
    snprintf(want, sizeof(want), "[a]@1 %s=<%0400d>@2 ", key, 7);
    expect(text, want);
    snprintf(text, sizeof(text), "[session %.100s]\nk = v\n", key);
    snprintf(want, sizeof(want), "[session %.100s]@1 k=<v>@2 ", key);
    expect(text, want);
    snprintf(text, sizeof(text), "[a]\n%sk = 1\n", key);
    expect_error(text, "f.ini:2: ", "the key has 129 bytes");
    snprintf(text, sizeof(text), "[%s%s]\n", key, key);
    expect_error(text, "f.ini:1: ", "at most 128");
}

TEST(test_no_folding)
{
    expect("[a]\nk = v\n  l = w\n", "[a]@1 k=<v>@2 l=<w>@3 ");
    expect("[a]\nk = v\n\t[b]\n", "[a]@1 k=<v>@2 [b]@3 ");
    expect_error("[a]\nk = v\n  more\n", "f.ini:3: ", "'more' is neither a [section] nor key = value");
    expect_error("[a]\ncmd = sh \\\n  -c 'x=1'\n", "f.ini:3: ", "'-c 'x' is no key");
    expect_error("[a]\nk: v\n", "f.ini:2: ", "neither");
    expect_error("[a]\nk: v = 1\n", "f.ini:2: ", "'k: v' is no key");
}

TEST(test_line_ends)
{
    expect("\xef\xbb\xbf[a]\r\nk = v\r\n\r\nl=\r\n", "[a]@1 k=<v>@2 l=<>@4 ");
    expect("\xef\xbb\xbf", "");
    expect("[a]\nk = v \r\n", "[a]@1 k=<v>@2 ");
    expect_error("[a]\rk = v\n", "f.ini:1: ", "control byte 0x0d in column 4");
    expect_error("[a]\n\xef\xbb\xbfk = v\n", "f.ini:2: ", "is no key");
}

TEST(test_headings)
{
    expect("[ a  b ] ; c\nk=v\n", "[a  b]@1 k=<v>@2 ");
    expect("[a]# c\n[a;b # c]\n", "[a]@1 [a;b # c]@2 ");
    expect("[a]\n[;b]\nk = 1\n", "[a]@1 [;b]@2 k=<1>@3 ");
    expect_error("[a]\nk = 1\n[b ; c]\n", "f.ini:3: ", "a comment in a section's name");
    expect_error("[a\nk = v\n", "f.ini:1: ", "']' is missing");
    expect_error("[a] b = c\n", "f.ini:1: ", "behind a section's ']'");
    expect_error("[]\n", "f.ini:1: ", "without a name");
    expect_error("[  ]\n", "f.ini:1: ", "without a name");
    expect_error("k = v\n", "f.ini:1: ", "'k' stands before the first [section]");
    expect_error("[a]\n = v\n", "f.ini:2: ", "nothing in front of '='");
    expect_error("[a]\nk\xc3\xa4 = v\n", "f.ini:2: ", "is no key");
}

TEST(test_bytes)
{
    assert_int_equal(feed_bytes("[a]\nk = a\0b\n", 12), ERR_CONFIG);
    assert_string_equal(err.text, "f.ini:2: control byte 0x00 in column 6; remove it");
    expect_error("[a]\n; \xff\n", "f.ini:2: ", "UTF-8");
    expect_error("[a]\nk = \xc3\n", "f.ini:2: ", "UTF-8");
    expect_error("[a]\nk = \xed\xa0\x80\n", "f.ini:2: ", "UTF-8");
    for (int byte = 1; byte < 0x20; byte++) {
        char text[] = "[a]\nk = axb\n";
        text[9] = (char)byte;
        if (byte != '\t' && byte != '\n')
            expect_error(text, "f.ini:2: ", "control byte");
    }
    expect_error("[a]\nk = \x7f\n", "f.ini:2: ", "0x7f");
}

TEST(test_stops_at_the_first_error)
{
    const char *text = "[a]\nk = 1\nl = 2\nm = 3\n";
    seen.stop_at = "l";
    assert_int_equal(feed_bytes(text, strlen(text)), ERR_CONFIG);
    assert_string_equal(err.text, "stopped");
    assert_string_equal(seen.text.data, "[a]@1 k=<1>@2 l=<2>@3 ");
    seen.stop_at = "m"; /* the last value counts, too */
    assert_int_equal(feed_bytes(text, strlen(text)), ERR_CONFIG);
    seen.stop_at = NULL;
    expect_error("[a]\nk = 1\nbroken\n", "f.ini:3: ", "neither");
    assert_string_equal(seen.text.data, "[a]@1 k=<1>@2 ");
}

TEST(test_without_err)
{
    struct ini_lines_events events = {on_section, on_value, &seen};
    assert_int_equal(ini_lines_read("f", "x\n", 2, &events, NULL), ERR_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_comment_characters_in_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_value_at_its_cap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_folding, setup, teardown),
        cmocka_unit_test_setup_teardown(test_line_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_headings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stops_at_the_first_error, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_err, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
