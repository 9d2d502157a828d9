/* Named keys into bytes: every spelling, every modifier, and what can't be expressed. */
#include "tests/lib/test.h"

#include "term/keys.h"
#include "term/paste.h"
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
    K("<up>", "\033[A") K("<C-Up>", "\033[1;5A") K("C-<up>", "\033[1;5A") K("RET", "\r") K("SPC", " ") K("KP5", "5") K("KPEnter", "\r") K("KP_Add", "+")
    K("F13", "\033[1;2P") K("F17", "\033[15;2~") K("C-F24", "\033[24;6~")
#undef K
};

TEST(every_spelling)
{
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

TEST(application_cursor)
{
    struct keys_modes modes = {.application_cursor = true};
    struct buf out = BUF_INIT;
    assert_int_equal(keys_append_modes(&out, "Up", &modes, NULL), 0);
    assert_int_equal(keys_append_modes(&out, "C-Up", &modes, NULL), 0);
    assert_string_equal(out.data, "\033OA\033[1;5A");
    buf_fini(&out);
}

#define CODED(modes_, ...) do { \
        static const struct { const char *name, *bytes; } table_[] = {__VA_ARGS__}; \
        for (size_t i_ = 0; i_ < sizeof table_ / sizeof *table_; i_++) \
            check_code(&(modes_), table_[i_].name, table_[i_].bytes); \
    } while (0)

/* bytes NULL: refused */
static void check_code(const struct keys_modes *modes, const char *name, const char *bytes)
{
    struct buf out = BUF_INIT;
    struct err err;
    int result = keys_append_modes(&out, name, modes, &err);
    buf_append_byte(&out, '\0');
    if (!bytes ? result != ERR_KEY : result != 0 || strcmp(out.data, bytes) != 0)
        fail_msg("%s: %s", name, result ? err.text : out.data + (out.data[0] == 033));
    buf_fini(&out);
}

TEST(application_keypad_and_backspace)
{
    const struct keys_modes keypad = {.application_keypad = true}, bs = {.backspace_is_bs = true};
    CODED(keypad, {"KP0", "\033Op"}, {"KP9", "\033Oy"}, {"KP+", "\033Ok"}, {"KP-", "\033Om"}, {"KP*", "\033Oj"}, {"KP/", "\033Oo"}, {"KP.", "\033On"},
          {"KPEnter", "\033OM"}, {"KP=", "\033OX"}, {"S-KP0", NULL}, {"Enter", "\r"});
    CODED(bs, {"BSpace", "\b"}, {"C-BSpace", "\177"}, {"M-BSpace", "\033\b"});
}

/* xterm, modifyOtherKeys */
TEST(other_keys)
{
    const struct keys_modes one = {.other_keys = 1}, two = {.other_keys = 2};
    CODED(one, {"C-c", "\003"}, {"M-x", "\033x"}, {"S-Enter", "\033[27;2;13~"}, {"C-Enter", "\033[27;5;13~"}, {"C-Tab", "\033[27;5;9~"}, {"C-1", "\033[27;5;49~"},
          {"C-S-a", "\033[27;6;65~"}, {"S-Tab", "\033[Z"}, {"Up", "\033[A"}, {"C-Up", "\033[1;5A"}, {"super+a", NULL}, {"C-\303\251", "\033[27;5;233~"});
    CODED(two, {"C-c", "\033[27;5;99~"}, {"M-x", "\033[27;3;120~"}, {"A", "A"}, {"S-a", "A"}, {"a", "a"}, {"Enter", "\r"}, {"C-Up", "\033[1;5A"}, {"Escape", "\033"});
}

TEST(kitty_disambiguates)
{
    const struct keys_modes modes = {.kitty = 1, .application_cursor = true};
    CODED(modes, {"a", "a"}, {"A", "A"}, {"S-a", "A"}, {"\303\251", "\303\251"}, {"Enter", "\r"}, {"Tab", "\t"}, {"BSpace", "\177"}, {"Escape", "\033[27u"}, {"C-c", "\033[99;5u"},
          {"C-C", "\033[99;5u"}, {"C-i", "\033[105;5u"}, {"C-S-a", "\033[97;6u"}, {"M-x", "\033[120;3u"}, {"M-X", "\033[120;4u"}, {"S-Enter", "\033[13;2u"}, {"C-Enter", "\033[13;5u"},
          {"BTab", "\033[9;2u"}, {"S-Tab", "\033[9;2u"}, {"C-Tab", "\033[9;5u"}, {"C-Space", "\033[32;5u"}, {"Up", "\033[A"}, {"C-Up", "\033[1;5A"}, {"F1", "\033[P"}, {"F3", "\033[13~"},
          {"C-F3", "\033[13;5~"}, {"F4", "\033[S"}, {"F5", "\033[15~"}, {"F13", "\033[57376u"}, {"S-F13", "\033[57376;2u"}, {"F35", "\033[57398u"}, {"Menu", "\033[57363u"}, {"KP5", "5"},
          {"C-KP5", "\033[57404;5u"}, {"KPEnter", "\033[57414u"}, {"super+a", "\033[97;9u"}, {"hyper+a", "\033[97;17u"}, {"C-1", "\033[49;5u"}, {"C-\303\251", "\033[233;5u"});
}

TEST(kitty_tells_everything)
{
    const struct keys_modes all = {.kitty = 8}, text = {.kitty = 8 | 16}, events = {.kitty = 1 | 2}, alternates = {.kitty = 8 | 4}, only_events = {.kitty = 2};
    CODED(all, {"a", "\033[97u"}, {"A", "\033[97;2u"}, {"Enter", "\033[13u"}, {"Tab", "\033[9u"}, {"Escape", "\033[27u"}, {"Up", "\033[A"}, {"KP5", "\033[57404u"});
    CODED(text, {"a", "\033[97;;97u"}, {"A", "\033[97;2;65u"}, {"C-a", "\033[97;5u"}, {"Enter", "\033[13u"});
    CODED(events, {"C-c", "\033[99;5u\033[99;5:3u"}, {"Up", "\033[A\033[1;1:3A"}, {"Enter", "\r"}, {"a", "a"});
    CODED(alternates, {"S-a", "\033[97:65;2u"}, {"a", "\033[97u"});
    CODED(only_events, {"C-c", "\003"}, {"Up", "\033[A\033[1;1:3A"}, {"M-x", "\033x"}, {"Enter", "\r"});
}

static void check_paste(const char *text, bool bracketed, const char *bytes)
{
    struct buf out = BUF_INIT;
    paste_append(&out, text, strlen(text), bracketed);
    buf_append_byte(&out, '\0');
    assert_string_equal(out.data, bytes);
    buf_fini(&out);
}

TEST(pasted_text)
{
    check_paste("a\nb\r\nc\td", false, "a\rb\rc\td");
    check_paste("a\nb", true, "\033[200~a\rb\033[201~");
    check_paste("x\033[201~rm\003y\302\2331m\177z", true, "\033[200~x[201~rmy1mz\033[201~");
    check_paste("\303\251\342\202\254", true, "\033[200~\303\251\342\202\254\033[201~");
    check_paste("", true, "\033[200~\033[201~");
}

TEST(what_has_no_bytes_is_refused)
{
    static const char *const bad[] = {"C-1", "C-Enter", "S-Enter", "C-Tab", "C-S-x", "C-\303\251", "S-\303\251", "C-0x1b", "S-1", "S-F13", "C-KP5", "super+a", "PrintScreen", "C-S-Tab", "C-M-Enter", "U+D800", "U+110000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct buf out = BUF_INIT;
        struct err err;
        assert_int_equal(keys_append(&out, bad[i], &err), ERR_KEY);
        assert_non_null(strstr(err.text, bad[i]));
        assert_int_equal(out.len, 0);
        buf_fini(&out);
    }
}

TEST(an_unknown_name_has_a_neighbour)
{
    struct buf out = BUF_INIT;
    struct err err;
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

TEST(every_offered_name_is_taken)
{
    int count = 0;
    keyname_each(check_name, &count);
    assert_true(count > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_spelling), cmocka_unit_test(application_cursor), cmocka_unit_test(application_keypad_and_backspace), cmocka_unit_test(other_keys),
                                       cmocka_unit_test(kitty_disambiguates), cmocka_unit_test(kitty_tells_everything), cmocka_unit_test(pasted_text),
                                       cmocka_unit_test(what_has_no_bytes_is_refused),
                                       cmocka_unit_test(an_unknown_name_has_a_neighbour), cmocka_unit_test(every_offered_name_is_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
