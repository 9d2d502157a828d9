/* A paste whose end does not come: who is in it gets out, and what it holds is obeyed never. */
#include "tests/lib/test.h"

#include "client/attach/torn.h"
#include <string.h>

struct typist {
    struct torn torn;
    struct prefix prefix;
    struct buf out;
    enum prefix_command command;
};

static void take(struct typist *typist, const char *data, size_t size)
{
    for (size_t at = 0; at < size && typist->command == PREFIX_NONE;)
        at += prefix_take(&typist->prefix, data + at, size - at, &typist->out, &typist->command);
}

static void come(struct typist *typist, int64_t at_ms, const char *data)
{
    if (!torn_hold(&typist->torn, &typist->prefix, data, strlen(data), &typist->out, at_ms))
        take(typist, data, strlen(data));
}

static void wait_until(struct typist *typist, int64_t at_ms)
{
    char data[TORN_HELD];
    take(typist, data, torn_due(&typist->torn, &typist->prefix, data, &typist->out, at_ms));
}

static struct typist begin(void)
{
    struct typist typist = {.prefix = {.key = PREFIX_DEFAULT, .pastes = true}};
    buf_init(&typist.out, 4096);
    come(&typist, 10000, "\033[200~torn");
    return typist;
}

static void end(struct typist *typist, const char *passed, enum prefix_command command)
{
    buf_append_byte(&typist->out, '\0');
    assert_string_equal(typist->out.data, passed);
    assert_int_equal(typist->command, command);
    buf_fini(&typist->out);
}

TEST(the_prefix_key_alone_is_typed)
{
    static const char *const detach[][2] = {
        {"\034d", ""}, {"\034", "d"}, {"\033[92;5u", "\033[100u"}, {"\033[92;5u\033[92;5:3u", "d"}, {"\033[27;5;92~", "d"}};
    for (size_t i = 0; i < sizeof detach / sizeof *detach; i++) {
        struct typist typist = begin();
        come(&typist, 10300, detach[i][0]);
        assert_int_equal(typist.torn.due_ms, 10600);
        wait_until(&typist, 10599);
        assert_int_equal(typist.out.len, strlen("\033[200~torn"));
        if (detach[i][1][0]) {
            come(&typist, 10599, detach[i][1]);
            wait_until(&typist, 10898);
            assert_int_equal(typist.command, PREFIX_NONE);
            wait_until(&typist, 10899);
        } else {
            wait_until(&typist, 10600);
        }
        assert_int_equal(typist.torn.due_ms, 0);
        end(&typist, "\033[200~torn\033[201~", PREFIX_DETACH);
    }
}

TEST(a_slow_second_key_is_a_command)
{
    struct typist typist = begin();
    come(&typist, 10300, "\034");
    wait_until(&typist, 10600);
    assert_true(typist.prefix.pending);
    come(&typist, 20000, "d");
    end(&typist, "\033[200~torn\033[201~", PREFIX_DETACH);
}

TEST(in_the_flow_it_is_text)
{
    struct typist typist = begin();
    come(&typist, 10299, "\034d"); /* too soon behind the rest */
    wait_until(&typist, 12000);
    come(&typist, 12000, "\034d more"); /* too much for keys */
    come(&typist, 13000, "\034");
    come(&typist, 13299, "more"); /* too soon before the rest */
    come(&typist, 14000, "\034d");
    come(&typist, 14100, "\033[201~"); /* the end comes */
    wait_until(&typist, 20000);
    assert_false(typist.prefix.paste.open);
    end(&typist, "\033[200~torn\034d\034d more\034more\034d\033[201~", PREFIX_NONE);
}

TEST(the_mark_in_two_pieces)
{
    struct typist typist = begin();
    come(&typist, 11000, "\034");
    come(&typist, 11001, "\033[20");
    come(&typist, 11002, "1~");
    assert_false(typist.prefix.paste.open);
    come(&typist, 11003, "\034d");
    end(&typist, "\033[200~torn\034\033[201~", PREFIX_DETACH);
}

TEST(later_it_is_typed)
{
    struct typist typist = begin();
    come(&typist, 12999, "a");
    come(&typist, 15999, "b");
    end(&typist, "\033[200~torna\033[201~b", PREFIX_NONE);
}

TEST(the_program_ends_the_mode)
{
    struct typist typist = begin();
    come(&typist, 10300, "\034");
    typist.prefix.pastes = false;
    come(&typist, 10301, "x");
    end(&typist, "\033[200~torn\034x", PREFIX_NONE);
}

TEST(the_terminal_goes)
{
    struct typist typist = begin();
    come(&typist, 10300, "\034");
    torn_end(&typist.torn, &typist.out);
    end(&typist, "\033[200~torn\034", PREFIX_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_prefix_key_alone_is_typed), cmocka_unit_test(a_slow_second_key_is_a_command),
        cmocka_unit_test(in_the_flow_it_is_text),        cmocka_unit_test(the_mark_in_two_pieces),
        cmocka_unit_test(later_it_is_typed),             cmocka_unit_test(the_program_ends_the_mode),
        cmocka_unit_test(the_terminal_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
