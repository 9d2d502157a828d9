/* Which tools models are given under each [tools] shell_type and switch. */
#include "cmd/offer.h"
#include "tests/lib/test.h"
#include <string.h>

static enum offer offer_with(const char *lines, enum tool_id id)
{
    struct err err;
    struct config *cfg = config_parse("t.ini", lines, strlen(lines), &err);
    assert_non_null(cfg);
    enum offer offer = offer_of(&cfg->tools, &tools[id]);
    config_free(cfg);
    return offer;
}

static void expect(const char *lines, enum offer exec, enum offer write, enum offer shell_command, enum offer shell)
{
    assert_int_equal(offer_with(lines, TOOL_EXEC_COMMAND), exec);
    assert_int_equal(offer_with(lines, TOOL_WRITE_STDIN), write);
    assert_int_equal(offer_with(lines, TOOL_SHELL_COMMAND), shell_command);
    assert_int_equal(offer_with(lines, TOOL_SHELL), shell);
}

TEST(test_families)
{
    expect("", OFFER_SHOWN, OFFER_SHOWN, OFFER_HIDDEN, OFFER_HIDDEN);
    expect("[tools]\nshell_type = default\n", OFFER_SHOWN, OFFER_SHOWN, OFFER_HIDDEN, OFFER_HIDDEN);
    expect("[tools]\nshell_type = unified_exec\n", OFFER_SHOWN, OFFER_SHOWN, OFFER_HIDDEN, OFFER_HIDDEN);
    expect("[tools]\nshell_type = shell_command\n", OFFER_NO, OFFER_NO, OFFER_SHOWN, OFFER_HIDDEN);
    expect("[tools]\nshell_type = disabled\n", OFFER_NO, OFFER_NO, OFFER_NO, OFFER_NO);
}

TEST(test_switches)
{
    expect("[tools]\nshell_command = no\n", OFFER_SHOWN, OFFER_SHOWN, OFFER_NO, OFFER_NO);
    expect("[tools]\nexec_command = no\n", OFFER_NO, OFFER_SHOWN, OFFER_HIDDEN, OFFER_HIDDEN);
    expect("[tools]\nwrite_stdin = no\n", OFFER_SHOWN, OFFER_NO, OFFER_HIDDEN, OFFER_HIDDEN);
    static const struct { const char *lines; enum tool_id id; } others[] = {
        {"[tools]\napply_patch = no\n", TOOL_APPLY_PATCH}, {"[tools]\nlist_sessions = no\n", TOOL_LIST_SESSIONS},
        {"[tools]\nkill_session = no\n", TOOL_KILL_SESSION}, {"[tools]\nread_output = no\n", TOOL_READ_OUTPUT},
        {"[tools]\nread_screen = no\n", TOOL_READ_SCREEN}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(offer_with(others[i].lines, others[i].id), OFFER_NO);
        assert_int_equal(offer_with("[tools]\nshell_type = disabled\n", others[i].id), OFFER_SHOWN);
    }
    assert_int_equal(offer_with("[tools]\nshell_type = disabled\n", TOOL_STATUS), OFFER_SHOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
