/* schema: arguments against tools.def, one kind of mistake after the other, and what the handlers read afterwards. */
#include "tests/lib/test.h"
#include "wire/schema.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ignore[] = {"description", "wait_for_previous", NULL};

static struct json *parse(const char *text)
{
    struct err err = {0};
    struct json *value = json_parse(text, strlen(text), &err);
    if (value == NULL)
        fail_msg("%s: %s", text, err.text);
    return value;
}

static struct json *accepted(enum tool_id tool, const char *text)
{
    struct err err = {0};
    struct json *params = parse(text);
    if (schema_check(&tools[tool], params, ignore, &err) != 0)
        fail_msg("%s: %s", text, err.text);
    return params;
}

static void refused(enum tool_id tool, const char *text, int code, const char *want)
{
    struct err err = {0};
    struct json *params = parse(text);
    assert_int_equal(schema_check(&tools[tool], params, ignore, &err), code);
    assert_int_equal(err.code, code);
    if (code == ERR_ARGUMENTS && strncmp(err.text, "failed to parse function arguments: ", 36) != 0 && want[0] != '`')
        fail_msg("'%s' refused with '%s'", text, err.text);
    if (strstr(err.text, want) == NULL)
        fail_msg("'%s' refused with '%s', expected '%s'", text, err.text, want);
    json_free(params);
}

TEST(test_types)
{
    static const struct {
        enum tool_id tool;
        const char *text, *want;
    } cases[] = {
        {TOOL_EXEC_COMMAND, "{\"cmd\":5}", "invalid type: integer `5` for `cmd`, expected a string or an array of strings"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":[\"a\",5]}", "invalid type: integer `5` in `cmd`, expected a string or an array of strings"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":{}}", "invalid type: map for `cmd`"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"tty\":\"yes\"}", "invalid type: string \"yes\" for `tty`, expected a boolean"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"yield_time_ms\":\"5\"}", "invalid type: string \"5\" for `yield_time_ms`, expected a whole number"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"yield_time_ms\":-1}",
         "invalid value: integer `-1` for `yield_time_ms`, expected a whole number from 0 to"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"yield_time_ms\":1.5}", "invalid type: floating point `1.5` for `yield_time_ms`"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"yield_time_ms\":1e300}", "for `yield_time_ms`"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"rows\":0}", "invalid value: integer `0` for `rows`, expected a whole number from 1 to 1000"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"rows\":1001}", "for `rows`"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"env\":[]}", "invalid type: sequence for `env`, expected an object of strings"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"env\":{\"A\":1}}", "invalid type: integer `1` in `env`"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"env\":{\"A=B\":\"\"}}", "'A=B' in `env`"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"env\":{\"\":\"\"}}", "in `env`"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"encoding\":\"hex\"}", "unknown variant `hex` for `encoding`, expected one of `utf8`, `base64`"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"encoding\":\"utf\"}", "unknown variant `utf`"},
        {TOOL_WRITE_STDIN, "{\"chars\":\"x\"}", "missing field `session_id`"},
        {TOOL_WRITE_STDIN, "{\"session_id\":null}", "invalid type: null for `session_id`, expected a whole number or a name"},
        {TOOL_EXEC_COMMAND, "{}", "missing field `cmd`"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":null}", "invalid type: null for `cmd`, expected a string"},
        {TOOL_EXEC_COMMAND, "{\"cmd\":[]}", "`cmd` has 0 items"},
        {TOOL_SHELL_COMMAND, "{\"command\":[\"a\"]}", "invalid type: sequence for `command`, expected a string"},
        {TOOL_WRITE_STDIN, "{\"session_id\":true}", "invalid type: boolean `true` for `session_id`, expected a whole number or a name"},
        {TOOL_WRITE_STDIN, "{\"session_id\":1.5}", "for `session_id`"},
        {TOOL_WRITE_STDIN, "{\"session_id\":\"\"}", "an empty string for `session_id`"},
        {TOOL_WRITE_STDIN, "{\"session_id\":1,\"keys\":\"Up\"}", "invalid type: string \"Up\" for `keys`, expected an array of strings"},
        {TOOL_WRITE_STDIN, "{\"session_id\":1,\"quiet_ms\":0}", "for `quiet_ms`"},
        {TOOL_REMOVE_SESSION, "{\"sessions\":[]}", "`sessions` has 0 items"},
        {TOOL_REMOVE_SESSION, "{\"sessions\":[[]]}", "invalid type: sequence in `sessions`"},
        {TOOL_CANCEL, "{\"id\":1.5}", "for `id`"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refused(cases[i].tool, cases[i].text, ERR_ARGUMENTS, cases[i].want);
    char text[5000];
    snprintf(text, sizeof text, "{\"cmd\":\"x\",\"until\":\"%04097d\"}", 0);
    refused(TOOL_EXEC_COMMAND, text, ERR_ARGUMENTS, "`until` has 4097 bytes, at most 4096 are allowed");
}

TEST(test_unknown_fields)
{
    refused(TOOL_EXEC_COMMAND, "{\"cmd\":\"true\",\"nonsense\":1}", ERR_ARGUMENTS,
            "unknown field `nonsense`, expected one of `cmd`, `workdir`");
    refused(TOOL_EXEC_COMMAND, "{\"cmd\":\"true\",\"workdirr\":1}", ERR_ARGUMENTS, "unknown field `workdirr`, did you mean `workdir`?");
    refused(TOOL_EXEC_COMMAND, "{\"CMD\":\"true\"}", ERR_ARGUMENTS, "unknown field `CMD`");
    refused(TOOL_STATUS, "{\"x\":1}", ERR_ARGUMENTS, "unknown field `x`, there are no arguments");
    refused(TOOL_STATUS, "{\"a\\u001bb\":1}", ERR_ARGUMENTS, "unknown field `a\\x1bb`");
    char text[400] = "{\"";
    for (int i = 0; i < 100; i++)
        strcat(text, "é");
    strcat(text, "\":1}");
    refused(TOOL_STATUS, text, ERR_ARGUMENTS, "é…`");
    struct json *params = accepted(TOOL_EXEC_COMMAND, "{\"cmd\":\"true\",\"description\":\"what it does\",\"wait_for_previous\":{}}");
    assert_int_equal(json_count(params), 1);
    json_free(params);
    struct err err = {0};
    params = parse("{\"description\":1}");
    assert_int_equal(schema_check(&tools[TOOL_STATUS], params, NULL, &err), ERR_ARGUMENTS);
    json_free(params);
}

TEST(test_not_an_object)
{
    refused(TOOL_STATUS, "[]", ERR_ARGUMENTS, "invalid type: sequence, expected an object");
}

TEST(test_alias)
{
    struct json *params = accepted(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"cwd\":\"/usr\"}");
    assert_string_equal(schema_str(&tools[TOOL_EXEC_COMMAND], params, "workdir", NULL), "/usr");
    json_free(params);
    refused(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"cwd\":\"/usr\",\"workdir\":\"/\"}", ERR_ARGUMENTS, "duplicate field `workdir`");
    refused(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"workdir\":\"/usr\",\"cwd\":\"/\"}", ERR_ARGUMENTS, "duplicate field `workdir`");
    refused(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"cwd\":5}", ERR_ARGUMENTS, "for `workdir`");
}

TEST(test_a_name_stands_for_a_command)
{
    json_free(accepted(TOOL_EXEC_COMMAND, "{\"cmd\":\"\"}"));
    json_free(accepted(TOOL_EXEC_COMMAND, "{\"name\":\"py\"}"));
    json_free(accepted(TOOL_EXEC_COMMAND, "{\"cmd\":null,\"name\":\"py\"}"));
    json_free(accepted(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"tty\":null}"));
}

TEST(test_approval_fields)
{
    json_free(accepted(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"sandbox_permissions\":\"use_default\",\"justification\":\"why\","
                                          "\"prefix_rule\":[],\"additional_permissions\":{},\"with_escalated_permissions\":false}"));
    json_free(accepted(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"justification\":null,\"prefix_rule\":null}"));
    json_free(accepted(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"prefix_rule\":[\"git\"],\"with_escalated_permissions\":true}"));
    json_free(accepted(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"sandbox_permissions\":\"require_escalated\"}")); /* cmd/gate.c judges it */
    refused(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"sandbox_permissions\":\"all\"}", ERR_ARGUMENTS, "unknown variant `all`");
    refused(TOOL_EXEC_COMMAND, "{\"cmd\":\"x\",\"justification\":\"why\"}", ERR_ARGUMENTS,
            "`justification` requires an explicit `sandbox_permissions`; use `sandbox_permissions: \"require_escalated\"` for unsandboxed "
            "execution, or omit `justification`.");
}

TEST(test_meta)
{
    struct json *params = accepted(TOOL_STATUS, "{\"_meta\":{\"reader\":\"me\",\"cwd\":\"/\",\"env\":{\"BASH_FUNC_x%%\":\"() { :; }\"},"
                                                "\"umask\":18,\"verb\":true,\"no_deadline\":true,\"client\":null}}");
    const struct json *meta = schema_meta(params);
    assert_string_equal(schema_str(&tools[TOOL_META], meta, "reader", NULL), "me");
    assert_true(schema_bool(&tools[TOOL_META], meta, "verb", false));
    assert_false(schema_has(meta, "client"));
    assert_int_equal(schema_int(&tools[TOOL_META], meta, "umask", -1), 18);
    json_free(params);
    params = accepted(TOOL_STATUS, "{}");
    assert_null(schema_meta(params));
    assert_false(schema_bool(&tools[TOOL_META], schema_meta(params), "verb", true)); /* the row's default */
    json_free(params);
    refused(TOOL_STATUS, "{\"_meta\":5}", ERR_ARGUMENTS, "integer `5` for `_meta`");
    refused(TOOL_STATUS, "{\"_meta\":{\"raeder\":\"x\"}}", ERR_ARGUMENTS, "unknown field `_meta.raeder`, did you mean `reader`?");
    refused(TOOL_STATUS, "{\"_meta\":{\"umask\":512}}", ERR_ARGUMENTS, "`_meta.umask`");
    refused(TOOL_STATUS, "{\"_meta\":{\"_meta\":{}}}", ERR_ARGUMENTS, "unknown field `_meta._meta`");
    refused(TOOL_STATUS, "{\"_meta\":{\"no_deadline\":true}}", ERR_ARGUMENTS, "`no_deadline` needs `verb`");
    refused(TOOL_STATUS, "{\"_meta\":{\"cwd\":\"sub\"}}", ERR_ARGUMENTS, "'sub' for `_meta.cwd`, expected an absolute path");
    refused(TOOL_STATUS, "{\"_meta\":{\"reader\":\"\"}}", ERR_ARGUMENTS, "`_meta.reader`, expected a name");
    json_free(accepted(TOOL_STATUS, "{\"_meta\":null}"));
}

TEST(test_getters)
{
    const struct tool *tool = &tools[TOOL_WRITE_STDIN];
    struct json *params = accepted(TOOL_WRITE_STDIN, "{\"session_id\":1000,\"since\":null,\"quiet_ms\":7}");
    char room[SCHEMA_SESSION_ROOM];
    size_t len = 9;
    assert_string_equal(schema_session(json_get(params, "session_id"), room), "1000");
    assert_int_equal(schema_int(tool, params, "yield_time_ms", -1), 250);
    assert_int_equal(schema_int(tool, params, "since", -1), -1);
    assert_int_equal(schema_int(tool, params, "quiet_ms", -1), 7);
    assert_string_equal(schema_str(tool, params, "chars", &len), "");
    assert_int_equal(len, 0);
    assert_null(schema_str(tool, params, "until", NULL));
    assert_true(schema_bool(tool, params, "ready", true));
    assert_false(schema_bool(tool, params, "peek", true));
    json_free(params);
    params = accepted(TOOL_WRITE_STDIN, "{\"session_id\":\"py\",\"chars\":\"é\"}");
    assert_string_equal(schema_session(json_get(params, "session_id"), room), "py");
    schema_str(tool, params, "chars", &len);
    assert_int_equal(len, 2);
    json_free(params);
}

TEST(test_text_of_arguments)
{
    struct err err = {0};
    assert_null(schema_parse("{not json", 9, &err));
    assert_int_equal(err.code, ERR_ARGUMENTS);
    assert_non_null(strstr(err.text, "failed to parse function arguments: JSON is wrong at byte 2"));
    assert_null(schema_parse("[]", 2, &err));
    assert_string_equal(err.text, "failed to parse function arguments: invalid type: sequence, expected an object");
    struct json *empty = schema_parse(" \n", 2, &err);
    assert_int_equal(json_type(empty), JSON_OBJECT);
    json_free(empty);
}

TEST(test_schema_of_every_tool)
{
    for (size_t i = 0; i < TOOL_COUNT_; i++) {
        struct json *schema = schema_format(&tools[i], SCHEMA_ALL, SCHEMA_OPENAI, NULL);
        const struct json *parameters = json_get(schema, "parameters");
        if (tools[i].grammar != NULL) {
            assert_string_equal(json_get_str(schema, "type", NULL), "custom");
            assert_string_equal(json_get_str(json_get(schema, "format"), "definition", NULL), tools[i].grammar);
            json_free(schema);
            continue;
        }
        bool open = true, strict = true;
        assert_true(json_get_bool(parameters, "additionalProperties", &open) && !open);
        assert_true(json_get_bool(schema, "strict", &strict) && !strict);
        for (const struct tool_arg *arg = tools[i].args; arg->name != NULL; arg++) {
            const struct json *property = json_get(json_get(parameters, "properties"), arg->name);
            assert_int_equal(json_get(property, "type") == NULL, (arg->flags & ARG_UNSHOWN) != 0);
            if (arg->flags & ARG_UNSHOWN)
                continue;
            assert_non_null(json_get_str(property, "description", NULL));
        }
        json_free(schema);
    }
    struct json *schema = schema_view(&tools[TOOL_EXEC_COMMAND], SCHEMA_ALL, NULL);
    assert_string_equal(json_str(json_first(json_get(schema, "required")), NULL), "cmd");
    json_free(schema);
}

/* What asks for approvals is shown where the daemon says so, with the values that are left. */
TEST(test_schema_with_what_a_policy_lets_ask)
{
    struct err err;
    static const char text[] = "{\"with\":[{\"name\":\"sandbox_permissions\",\"choices\":\"use_default require_escalated\"},"
                               "{\"name\":\"justification\"}],\"without\":[\"login\"]}",
                      narrow[] = "{\"with\":[{\"name\":\"sandbox_permissions\",\"choices\":\"use_default\"}]}";
    struct json *listed = json_parse(text, sizeof text - 1, &err), *less = json_parse(narrow, sizeof narrow - 1, &err);
    for (int view = SCHEMA_CODEX; view <= SCHEMA_MODEL; view++) {
        struct json *schema = schema_view(&tools[TOOL_SHELL_COMMAND], (enum schema_view)view, listed),
                    *other = schema_view(&tools[TOOL_EXEC_COMMAND], (enum schema_view)view, less);
        const struct json *fields = json_get(schema, "properties"), *asks = json_get(fields, "sandbox_permissions");
        assert_string_equal(json_str(json_next(json_first(json_get(asks, "enum"))), NULL), "require_escalated");
        assert_int_equal(json_count(json_get(asks, "enum")), 2);
        assert_non_null(strstr(json_get_str(asks, "description", NULL), "approval"));
        assert_non_null(json_get(fields, "justification"));
        assert_null(json_get(fields, "prefix_rule"));
        assert_null(json_get(fields, "login"));
        asks = json_get(json_get(other, "properties"), "sandbox_permissions");
        assert_int_equal(json_count(json_get(asks, "enum")), 1);
        assert_null(strstr(json_get_str(asks, "description", NULL), "require_escalated"));
        json_free(schema);
        json_free(other);
    }
    json_free(listed);
    json_free(less);
}

/* Every default must itself pass the check, or the table is wrong. */
TEST(test_rows_are_sound)
{
    for (size_t i = 0; i < TOOL_COUNT_; i++) {
        assert_true(tools[i].kind == TOOL_INNER || tool_by_name(tools[i].name) == &tools[i]);
        for (const struct tool_arg *arg = tools[i].args; arg->name != NULL; arg++) {
            assert_ptr_equal(tool_arg_by_name(&tools[i], arg->name), arg);
            assert_true(arg->needs == NULL || (tool_arg_by_name(&tools[i], arg->needs) != NULL && arg->needs_text != NULL));
            if (arg->type == ARG_UINT && arg->fallback != NULL) {
                int64_t value = schema_int(&tools[i], NULL, arg->name, -1);
                assert_true(value >= arg->min && (arg->max == 0 || value <= arg->max));
            }
        }
    }
    assert_null(tool_by_name("_meta"));
    assert_null(tool_by_name("exec"));
    assert_string_equal(tool_nearest("exec_comand"), "exec_command");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_unknown_fields),
        cmocka_unit_test(test_not_an_object),
        cmocka_unit_test(test_alias),
        cmocka_unit_test(test_a_name_stands_for_a_command),
        cmocka_unit_test(test_approval_fields),
        cmocka_unit_test(test_meta),
        cmocka_unit_test(test_getters),
        cmocka_unit_test(test_text_of_arguments),
        cmocka_unit_test(test_schema_of_every_tool),
        cmocka_unit_test(test_schema_with_what_a_policy_lets_ask),
        cmocka_unit_test(test_rows_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
