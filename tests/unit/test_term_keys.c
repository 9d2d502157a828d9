/* Named keys into bytes: every spelling, every modifier, and what can't be expressed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "term/keys.h"
#include "wire/keynames.h"
#include <string.h>

static const struct { const char *name, *bytes; size_t size; } good[] = {
#define K(name, bytes) {name, bytes, sizeof bytes - 1},
    K("Enter", "\r") K("return", "\r") K("CR", "\r") K("Tab", "\t") K("BTab", "\033[Z") K("S-Tab", "\033[Z") K("shift+tab", "\033[Z")
    K("Escape", "\033") K("esc", "\033") K("Space", " ") K("BSpace", "\177") K("backspace", "\177") K("LF", "\n") K("a", "a") K("A", "A") K("-", "-")
    K("+", "+") K("^", "^") K("\303\251", "\303\251") K("U+20AC", "\342\202\254") K("0x1b", "\033") K("0x00", "\0") K("C-c", "\003") K("c-C", "\003")
    K("^C", "\003") K("^c", "\003") K("ctrl+c", "\003") K("Ctrl-c", "\003") K("C-@", "\0") K("C-Space", "\0") K("C-[", "\033") K("C-\\", "\034") K("C-]", "\035")
    K("C-^", "\036") K("C-_", "\037") K("C-/", "\037") K("C-?", "\177") K("^?", "\177") K("M-x", "\033x") K("alt+x", "\033x") K("C-M-x", "\033\030") K("M-C-x", "\033\030")
    K("S-a", "A") K("M-S-a", "\033A") K("M-Enter", "\033\r") K("C-BSpace", "\b") K("M-BSpace", "\033\177") K("Up", "\033[A") K("down", "\033[B") K("Right", "\033[C")
    K("Left", "\033[D") K("Home", "\033[H") K("End", "\033[F") K("S-Up", "\033[1;2A") K("M-Up", "\033[1;3A") K("C-Up", "\033[1;5A") K("ctrl+shift+up", "\033[1;6A")
    K("C-M-S-Left", "\033[1;8D") K("IC", "\033[2~") K("Insert", "\033[2~") K("DC", "\033[3~") K("Del", "\033[3~") K("PPage", "\033[5~") K("PgUp", "\033[5~") K("NPage", "\033[6~")
    K("C-PageDown", "\033[6;5~") K("F1", "\033OP") K("F4", "\033OS") K("S-F1", "\033[1;2P") K("F5", "\033[15~") K("F12", "\033[24~") K("C-F5", "\033[15;5~")
    K("F13", "\033[1;2P") K("F17", "\033[15;2~") K("C-F24", "\033[24;6~")
#undef K
};

static void every_spelling(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct buf out = BUF_INIT;
        struct err err;
        if (keys_append(&out, good[i].name, &err) < 0)
            fail_msg("%s: %s", good[i].name, err.text);
        if (out.len != good[i].size || memcmp(out.data, good[i].bytes, out.len) != 0)
            fail_msg("%s: other bytes (%zu of them)", good[i].name, out.len);
        buf_fini(&out);
    }
}

static void application_cursor(void **state)
{
    struct keys_modes modes = {.application_cursor = true};
    struct buf out = BUF_INIT;
    (void)state;
    assert_int_equal(keys_append_modes(&out, "Up", &modes, NULL), 0);
    assert_int_equal(keys_append_modes(&out, "C-Up", &modes, NULL), 0);
    assert_string_equal(out.data, "\033OA\033[1;5A");
    buf_fini(&out);
}

static void what_has_no_bytes_is_refused(void **state)
{
    static const char *const bad[] = {"C-1", "C-Enter", "S-Enter", "C-Tab", "C-S-x", "C-\303\251", "S-\303\251", "C-0x1b", "S-1", "S-F13", "U+D800", "U+110000"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf out = BUF_INIT;
        struct err err;
        assert_int_equal(keys_append(&out, bad[i], &err), ERR_KEY);
        assert_non_null(strstr(err.text, bad[i]));
        assert_int_equal(out.len, 0);
        buf_fini(&out);
    }
}

static void an_unknown_name_has_a_neighbour(void **state)
{
    struct buf out = BUF_INIT;
    struct err err;
    (void)state;
    assert_int_equal(keys_append(&out, "Entr", &err), ERR_KEY);
    assert_non_null(strstr(err.text, "'Enter'"));
    assert_int_equal(keys_append(&out, "", &err), ERR_KEY);
    assert_int_equal(keys_append(&out, "xyzzy-plugh", &err), ERR_KEY);
    assert_int_equal(keys_append(&out, "\377", &err), ERR_KEY);
    buf_fini(&out);
}

static void check_name(void *arg, const char *name)
{
    struct buf out = BUF_INIT;
    assert_int_equal(keys_append(&out, name, NULL), 0);
    assert_true(out.len > 0);
    ++*(int *)arg;
    buf_fini(&out);
}

static void every_offered_name_is_taken(void **state)
{
    int count = 0;
    (void)state;
    keyname_each(check_name, &count);
    assert_true(count > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_spelling), cmocka_unit_test(application_cursor), cmocka_unit_test(what_has_no_bytes_is_refused),
                                       cmocka_unit_test(an_unknown_name_has_a_neighbour), cmocka_unit_test(every_offered_name_is_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
