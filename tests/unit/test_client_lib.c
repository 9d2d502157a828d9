/* The tables of libue: each member of an argument struct is an argument of its tool, of the type that the tool takes. */
#include "tests/lib/test.h"
#include "client/lib/c/arguments.c"

static bool takes(enum arg_type type, enum kind kind)
{
    switch (kind) {
    case TEXT: return type == ARG_STRING || type == ARG_COMMAND || type == ARG_PATTERNS;
    case SESSION: return type == ARG_SESSION;
    case LIST: return type == ARG_STRINGS || type == ARG_COMMAND || type == ARG_PATTERNS;
    case ENV: return type == ARG_ENV;
    case JSON: return type == ARG_OBJECTS;
    case EXACT:
    case CHARS: return type == ARG_STRING;
    case YES:
    case CHOICE: return type == ARG_BOOL;
    default: return type == ARG_UINT;
    }
}

TEST(members_are_arguments_of_their_tools)
{
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        size_t count = 0;
        for (const struct field *it = rows[row].fields; it->name; it++, count++) {
            const struct tool_arg *arg = tool_arg_by_name(&tools[rows[row].tool], it->name);
            if (!arg || !takes(arg->type, it->kind))
                fail_msg("%s: '%s' is no argument of that type", tools[rows[row].tool].name, it->name);
            assert_true(it->at < rows[row].size && it->other < rows[row].size);
        }
        assert_true(count > 0);
    }
}

/* A program that was built with an older ue.h gives less, one with a newer ue.h more. */
TEST(structs_of_other_releases)
{
    struct {
        struct ue_kill_session_args known;
        char more[8];
    } args = {.known = {.session_id = "1000", .signal = "INT", .all = true}};
    struct err err;
    struct json *older = arguments_make(&tools[TOOL_KILL_SESSION], &args, offsetof(struct ue_kill_session_args, signal), &err);
    int64_t number;
    assert_true(json_count(older) == 1 && json_get_int(older, "session_id", &number) && number == 1000);
    json_free(older);
    struct json *newer = arguments_make(&tools[TOOL_KILL_SESSION], &args, sizeof args, &err);
    assert_int_equal(json_count(newer), 3);
    json_free(newer);
    args.more[7] = 1;
    assert_null(arguments_make(&tools[TOOL_KILL_SESSION], &args, sizeof args, &err));
    assert_non_null(strstr(err.text, "older than the program"));
    assert_null(json_get(newer = arguments_make(&tools[TOOL_KILL_SESSION], NULL, 0, &err), "session_id"));
    json_free(newer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_arguments_of_their_tools),
        cmocka_unit_test(structs_of_other_releases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
