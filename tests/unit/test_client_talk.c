/* Exit statuses and --status-fd lines from answers; text for terminals; the environment of a daemon. */
#include "base/strv.h"
#include "client/rpc/params.h"
#include "client/print/say.h"
#include "client/rpc/talk.h"
#include "tests/lib/test.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_status(const char *wanted_text, const char *result_text, int status, const char *line)
{
    int fds[2];
    char told[128] = "";
    struct err err;
    struct json *wanted = json_parse(wanted_text, strlen(wanted_text), &err), *result = json_parse(result_text, strlen(result_text), &err);
    assert_non_null(wanted);
    assert_non_null(result);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    struct ue ue = {.status_fd = fds[1]};
    assert_int_equal(talk_status(&ue, wanted, result), status);
    close(fds[1]);
    assert_true(read(fds[0], told, sizeof told - 1) >= 0);
    assert_string_equal(told, line);
    close(fds[0]);
    json_free(wanted);
    json_free(result);
}

TEST(test_statuses)
{
    assert_status("{}", "{\"state\":\"exited\",\"exit_code\":125,\"reason\":\"exit\"}", 125, "exited 125\n");
    assert_status("{}", "{\"state\":\"signaled\",\"exit_code\":137,\"reason\":\"exit\"}", 137, "signaled 137\n");
    assert_status("{}", "{\"state\":\"running\",\"number\":1000,\"reason\":\"deadline\"}", 0, "running 1000\n");
    assert_status("{\"until\":\"x\"}", "{\"state\":\"running\",\"number\":1000,\"reason\":\"deadline\"}", 124, "deadline 1000\n");
    assert_status("{\"until\":\"x\"}", "{\"state\":\"running\",\"number\":1000,\"reason\":\"until\"}", 0, "running 1000\n");
    assert_status("{\"exit\":true}", "{\"state\":\"running\",\"number\":1000,\"reason\":\"until\"}", 124, "deadline 1000\n");
    assert_status("{\"quiet_ms\":5}", "{\"state\":\"exited\",\"exit_code\":0,\"reason\":\"exit\"}", 124, "exited 0\n");
    assert_status("{\"ready\":false}", "{\"state\":\"exited\",\"exit_code\":0,\"reason\":\"exit\"}", 0, "exited 0\n");
    assert_status("{\"until\":\"x\",\"exit\":true}", "{\"state\":\"exited\",\"exit_code\":3,\"reason\":\"exit\"}", 3, "exited 3\n");
    assert_status("{}", "{\"state\":\"running\",\"number\":1,\"reason\":\"stopping\"}", 69, "stopping 1\n");
    assert_status("{}", "{\"sessions\":[]}", 0, "");
}

static void assert_shown(const char *text, const char *expected)
{
    struct buf out = BUF_INIT;
    say_for_terminal(&out, text, strlen(text));
    assert_string_equal(out.data ? out.data : "", expected);
    buf_fini(&out);
}

TEST(test_terminals_get_no_control_characters)
{
    assert_shown("", "");
    assert_shown("a\r\nb", "a\nb\n");
    assert_shown("a\n\n", "a\n\n");
    assert_shown("\033[31mred\033[0m\n", "\\x1b[31mred\\x1b[0m\n");
    assert_shown("one\rtwo\r\n", "one\\x0dtwo\n");
}

TEST(test_environment_of_a_daemon)
{
    setenv("MUXD_SESSION", "work", 1);
    setenv("MUXD_SESSION_ID", "1000", 1);
    setenv("MUXD_THING", "kept", 1);
    setenv("XDG_STATE_HOME", "/state", 1);
    setenv("LD_PRELOAD_NOT", "x", 1);
    char **env = launch_environment("/the/socket");
    const char *const *view = (const char *const *)env;
    assert_null(strv_env_get(view, "MUXD_SESSION"));
    assert_null(strv_env_get(view, "MUXD_SESSION_ID"));
    assert_null(strv_env_get(view, "LD_PRELOAD_NOT"));
    assert_string_equal(strv_env_get(view, "MUXD_THING"), "kept");
    assert_string_equal(strv_env_get(view, "XDG_STATE_HOME"), "/state");
    assert_string_equal(strv_env_get(view, "MUXD_SOCKET"), "/the/socket");
    strv_free(env);
}

TEST(test_context_of_a_request)
{
    struct ue ue = {.status_fd = -1};
    struct err err;
    const char given[] = "{\"_meta\":{\"cwd\":\"/given\"}}";
    struct json *params = json_parse(given, sizeof given - 1, &err);
    setenv("A_VARIABLE", "its value", 1);
    setenv("NO_TEXT", "\xff\xfe", 1);
    params_meta(&ue, params, META_PLACE | META_ID);
    const struct json *meta = json_get(params, "_meta"), *env = json_get(meta, "env");
    assert_string_equal(json_get_str(meta, "cwd", NULL), "/given");
    assert_int_equal(strlen(json_get_str(meta, "request_id", NULL)), 16);
    assert_string_equal(json_get_str(env, "A_VARIABLE", NULL), "its value");
    assert_null(json_get(env, "NO_TEXT"));
    assert_null(json_get(meta, "verb"));
    json_free(params);
}

TEST(test_argument_objects)
{
    struct err err;
    struct json *params = params_parse("", true, &err);
    assert_int_equal(json_type(params), JSON_OBJECT);
    json_free(params);
    assert_null(params_parse(" \n", false, &err));
    assert_int_equal(err.code, ERR_ARGUMENTS);
    assert_null(params_parse("{not json", true, &err));
    assert_non_null(strstr(err.text, "failed to parse function arguments: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_terminals_get_no_control_characters),
        cmocka_unit_test(test_environment_of_a_daemon),
        cmocka_unit_test(test_context_of_a_request),
        cmocka_unit_test(test_argument_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
