/* Arguments that a client has put into strings. */
#include "client/mcp/mcp.h"
#include "tests/lib/test.h"
#include <string.h>

static void expect(enum tool_id id, const char *given, const char *want)
{
    struct err err;
    struct buf out = BUF_INIT;
    struct json *arguments = json_parse(given, strlen(given), &err);
    assert_non_null(arguments);
    mcp_coerce(&tools[id], arguments);
    json_print(&out, arguments);
    assert_string_equal(out.data, want);
    buf_fini(&out);
    json_free(arguments);
}

TEST(test_what_must_be_no_string)
{
    expect(TOOL_EXEC_COMMAND, "{\"yield_time_ms\":\"250\"}", "{\"yield_time_ms\":250}");
    expect(TOOL_EXEC_COMMAND, "{\"tty\":\"true\"}", "{\"tty\":true}");
    expect(TOOL_EXEC_COMMAND, "{\"login\":\"false\"}", "{\"login\":false}");
    expect(TOOL_EXEC_COMMAND, "{\"env\":\"{\\\"A\\\":\\\"1\\\"}\"}", "{\"env\":{\"A\":\"1\"}}");
    expect(TOOL_WRITE_STDIN, "{\"keys\":\"[\\\"Up\\\"]\"}", "{\"keys\":[\"Up\"]}");
    expect(TOOL_SHELL_COMMAND, "{\"timeout\":\"7\"}", "{\"timeout\":7}");
}

TEST(test_what_stays)
{
    expect(TOOL_EXEC_COMMAND, "{\"cmd\":\"5\"}", "{\"cmd\":\"5\"}");
    expect(TOOL_WRITE_STDIN, "{\"session_id\":\"1000\",\"chars\":\"true\"}", "{\"session_id\":\"1000\",\"chars\":\"true\"}");
    expect(TOOL_EXEC_COMMAND, "{\"yield_time_ms\":\"soon\"}", "{\"yield_time_ms\":\"soon\"}");
    expect(TOOL_EXEC_COMMAND, "{\"tty\":\"perhaps\",\"rows\":\"[1]\"}", "{\"tty\":\"perhaps\",\"rows\":\"[1]\"}");
    expect(TOOL_EXEC_COMMAND, "{\"unknown\":\"1\"}", "{\"unknown\":\"1\"}");
    expect(TOOL_LIST_SESSIONS, "{}", "{}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_must_be_no_string),
        cmocka_unit_test(test_what_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
