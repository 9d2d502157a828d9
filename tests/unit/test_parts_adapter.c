/* Which programs are asked to write marks, and the lines that they are given. */
#include "tests/lib/test.h"

#include "parts/commands/adapter.h"
#include <string.h>

TEST(knows_programs_by_name)
{
    assert_non_null(adapter_of("bash"));
    assert_ptr_equal(adapter_of("bash"), adapter_of("sh"));
    assert_ptr_equal(adapter_of("python"), adapter_of("python3.11"));
    assert_ptr_not_equal(adapter_of("python"), adapter_of("sh"));
    static const char *const none[] = {"", "bas", "bashh", "python-", "pytho", "ssh", "*"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_true(!adapter_of(none[i]) || strncmp(none[i], "python", 6) == 0);
    struct buf names = BUF_INIT;
    adapter_names(&names);
    assert_non_null(strstr(names.data, "zsh") && strstr(names.data, ", python") && !strchr(names.data, '*') ? names.data : NULL);
    buf_fini(&names);
}

/* What is typed into a script that reads its input must not be a question of ours. */
TEST(asks_prompts_and_no_scripts)
{
    static const char *const prompts[] = {"bash", "-bash", "bash --norc -l", "/bin/sh -i x", "bash --rcfile /x", "bash -O extglob", "bash -li -c x",
                                          "zsh -f", "busybox sh", "python3", "python3 -q", "python3 -X dev -q", "python3 -i x.py", "bash +o x", "bash -o vi"};
    assert_true(adapter_prompts(adapter_of("ipython3"), "/usr/bin/python3 /usr/bin/ipython3 --no-banner"));
    assert_true(adapter_prompts(adapter_of("gdb"), "gdb -q ./a.out"));
    assert_true(adapter_prompts(adapter_of("irb"), "ruby /usr/bin/irb"));
    assert_false(adapter_prompts(adapter_of("node"), "node server.js"));
    assert_false(adapter_prompts(adapter_of("ipython3"), "/usr/bin/python3 /usr/bin/ipython3 x.py"));
    static const char *const others[] = {"bash x.sh", "bash -c read", "sh -ec read", "bash --norc x.sh", "bash -- x", "busybox sh x.sh", "python3 x.py",
                                         "python3 -c x", "python3 -m http.server", "python3 -qc x", "bash --rcfile /x y", "sh -s x"};
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++)
        if (!adapter_prompts(adapter_of(strncmp(prompts[i], "py", 2) == 0 ? "python" : "sh"), prompts[i]))
            fail_msg("'%s' is not asked", prompts[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (adapter_prompts(adapter_of(strncmp(others[i], "py", 2) == 0 ? "python" : "sh"), others[i]))
            fail_msg("'%s' is asked", others[i]);
}

/* A terminal that gives lines keeps 4,095 bytes of one, and a control in it would act as a key. */
TEST(lines_fit_and_are_filled_in)
{
    static const char nonce[] = "00112233445566778899aabbccddeeff";
    static const char *const words[] = {"bash", "zsh", "", "python", "ipython", "gdb", "lua", "irb", "node", "fish", "psql"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct buf line = BUF_INIT;
        assert_true(adapter_line(&line, words[i], nonce, UINT64_MAX >> 4, 2));
        assert_in_range(line.len, 150, 4000);
        for (size_t at = 0; at < line.len; at++) /* psql is given three lines */
            assert_true(((unsigned char)line.data[at] >= ' ' && line.data[at] != 0177) || (line.data[at] == '\n' && words[i][0] == 'p'));
        assert_non_null(strstr(line.data, "ue=00112233445566778899aabbccddeeff;1152921504606846975"));
        assert_null(strstr(line.data, "@T"));
        assert_null(strstr(line.data, "@R"));
        assert_null(strstr(line.data, "@S"));
        buf_fini(&line);
    }
    struct buf line = BUF_INIT;
    assert_false(adapter_line(&line, "cobol", nonce, 1, 1));
    buf_fini(&line);
    static const char *const programs[] = {"sh", "python3", "ipython3", "gdb", "lua5.4", "irb", "node", "fish", "psql"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        assert_in_range(strlen(adapter_of(programs[i])->ask), 20, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_programs_by_name),
        cmocka_unit_test(asks_prompts_and_no_scripts),
        cmocka_unit_test(lines_fit_and_are_filled_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
