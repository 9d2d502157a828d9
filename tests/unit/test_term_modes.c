/* What DECRQM answers is what the screen does: for each mode, and after any sequences. */
#include "tests/lib/test.h"

#include "term/internal.h"
#include "term/modes.h"
#include "term/responder.h"
#include <stdio.h>
#include <string.h>

struct terminal_of { /* a program's terminal, as both rooms know it */
    struct screen *screen;
    uint64_t modes;
    bool scheme;
    struct buf answers;
};

static int screen_mode_of(void *arg, int mode)
{
    const struct terminal_of *terminal = arg;
    return screen_report(terminal->screen, mode);
}

static void say(struct terminal_of *terminal, const char *text)
{
    struct scan_seq seq;
    for (size_t at = 0, from = 0; scan_next(text, strlen(text), &at, &seq); from = at) {
        screen_feed(terminal->screen, text + from, at - from);
        struct responder_facts facts = {
            .modes = terminal->modes, .scheme_told = terminal->scheme, .mode = screen_mode_of, .arg = terminal};
        terminal->scheme = modes_scheme(&seq) == MODES_SCHEME_SAME ? terminal->scheme : modes_scheme(&seq) == MODES_SCHEME_ON;
        if (!modes_apply(&terminal->modes, &seq))
            responder_answer(&terminal->answers, &seq, &facts);
    }
}

static int asked(struct terminal_of *terminal, bool private, int mode)
{
    char text[32];
    snprintf(text, sizeof text, "\033[%s%d$p", private ? "?" : "", mode);
    buf_clear(&terminal->answers);
    say(terminal, text);
    buf_append_byte(&terminal->answers, '\0');
    int size = snprintf(text, sizeof text, "\033[%s%d;", private ? "?" : "", mode);
    assert_memory_equal(terminal->answers.data, text, (size_t)size);
    assert_string_equal(terminal->answers.data + size + 1, "$y");
    return terminal->answers.data[size] - '0';
}

/* What the screen does about a mode; -1: nothing, keys and replies alone depend on it. */
static int done(const struct screen *screen, bool private, int mode)
{
    const struct screen_modes *modes = screen_modes(screen);
    if (!private)
        return mode == 4 ? modes->insert : modes->newline;
    switch (mode) {
    case 1: return modes->application_cursor;
    case 3: return screen->many_columns;
    case 5: return modes->reverse;
    case 6: return modes->origin;
    case 7: return modes->autowrap;
    case 25: return modes->cursor_visible;
    case 40: return screen->may_columns;
    case 66: return modes->application_keypad;
    case 9:
    case 1000:
    case 1002:
    case 1003: return (int)modes->mouse == mode;
    case 1004: return modes->focus;
    case 1005:
    case 1006:
    case 1015: return modes->mouse_encoding == mode;
    case 47:
    case 1047:
    case 1049: return screen_is_alternate(screen);
    case 1048: return screen->saved[screen->current].asked;
    case 2004: return modes->bracketed_paste;
    case 2026: return modes->synchronized;
    default: return -1; /* 67, 2031 */
    }
}

static const struct {
    bool private;
    int mode;
} known[] = {{false, 4},   {false, 20},  {true, 1},    {true, 3},    {true, 5},    {true, 6},    {true, 7},    {true, 9},    {true, 25},
             {true, 40},   {true, 47},   {true, 66},   {true, 67},   {true, 1000}, {true, 1002}, {true, 1003}, {true, 1004}, {true, 1005},
             {true, 1006}, {true, 1015}, {true, 1047}, {true, 1048}, {true, 1049}, {true, 2004}, {true, 2026}, {true, 2031}};
#define KNOWN (sizeof known / sizeof *known)

static void begin(struct terminal_of *terminal)
{
    *terminal = (struct terminal_of){.screen = screen_new(5, 20, 1 << 12)};
    buf_init(&terminal->answers, 1 << 14);
}

static void end(struct terminal_of *terminal)
{
    screen_free(terminal->screen);
    buf_fini(&terminal->answers);
}

TEST(each_mode)
{
    for (size_t i = 0; i < KNOWN; i++) {
        bool private = known[i].private;
        int mode = known[i].mode, first = private && (mode == 7 || mode == 25) ? 1 : 2;
        char set[32], reset[32];
        struct terminal_of terminal;
        begin(&terminal);
        say(&terminal, private && mode == 3 ? "\033[?40h" : "");
        snprintf(set, sizeof set, "\033[%s%dh", private ? "?" : "", mode);
        snprintf(reset, sizeof reset, "\033[%s%dl", private ? "?" : "", mode);
        assert_int_equal(asked(&terminal, private, mode), first);
        say(&terminal, set);
        assert_int_equal(asked(&terminal, private, mode), 1);
        assert_int_not_equal(done(terminal.screen, private, mode), 0);
        say(&terminal, reset);
        /* ?1048l puts the cursor back, and it can do so again */
        assert_int_equal(asked(&terminal, private, mode), mode == 1048 ? 1 : 2);
        say(&terminal, "\033c");
        assert_int_equal(asked(&terminal, private, mode), first);
        end(&terminal);
    }
}

TEST(the_wheel_always_sends_arrow_keys_to_full_screen_programs)
{
    struct terminal_of terminal;
    begin(&terminal);
    assert_int_equal(asked(&terminal, true, 1007), 3);
    say(&terminal, "\033[?1007l");
    assert_int_equal(asked(&terminal, true, 1007), 3);
    end(&terminal);
}

TEST(saved_cursor)
{
    struct terminal_of terminal;
    begin(&terminal);
    assert_int_equal(asked(&terminal, true, 1048), 2);
    say(&terminal, "\0337\033[?1049h"); /* each screen has its own */
    assert_int_equal(asked(&terminal, true, 1048), 2);
    say(&terminal, "\033[s");
    assert_int_equal(asked(&terminal, true, 1048), 1);
    say(&terminal, "\033[?1049l");
    assert_int_equal(asked(&terminal, true, 1048), 1);
    say(&terminal, "\033c\033[?6h\0337\033[?6l");
    assert_int_equal(asked(&terminal, true, 6), 2);
    say(&terminal, "\0338");
    assert_int_equal(asked(&terminal, true, 6), 1);
    end(&terminal);
}

static uint32_t pick(uint32_t *at, uint32_t of)
{
    *at = *at * 1664525 + 1013904223;
    return (*at >> 8) % of;
}

TEST(any_sequences)
{
    static const char *const others[] = {"\0337", "\0338", "\033[s", "\033[u", "\033=", "\033>", "\033[!p", "\033[2;3r", "\033c", "\033[>4;2m", "\033[=3;1u"};
    for (uint32_t seed = 1; seed <= 300; seed++) {
        struct terminal_of terminal;
        uint32_t at = seed;
        begin(&terminal);
        for (int step = 0; step < 40; step++) {
            size_t one = pick(&at, KNOWN);
            char text[32];
            snprintf(text, sizeof text, "\033[%s%d%c", known[one].private ? "?" : "", known[one].mode, pick(&at, 3) ? 'h' : 'l');
            uint32_t what = pick(&at, 40);
            say(&terminal, what < sizeof others / sizeof *others ? others[what] : text);
            if (what == 39)
                screen_resize(terminal.screen, 2 + (int)pick(&at, 9), 2 + (int)pick(&at, 200));
            for (size_t i = 0; i < KNOWN; i++) {
                int is = done(terminal.screen, known[i].private, known[i].mode);
                if (is >= 0)
                    assert_int_equal(asked(&terminal, known[i].private, known[i].mode), is ? 1 : 2);
            }
            assert_int_equal(modes_other_keys(terminal.modes), screen_modes(terminal.screen)->modify_other_keys);
            assert_int_equal(modes_kitty(terminal.modes), screen_modes(terminal.screen)->kitty);
            assert_int_equal(screen_cols(terminal.screen) == MODES_COLUMNS || !terminal.screen->many_columns, true);
        }
        end(&terminal);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mode),
        cmocka_unit_test(the_wheel_always_sends_arrow_keys_to_full_screen_programs),
        cmocka_unit_test(saved_cursor),
        cmocka_unit_test(any_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
