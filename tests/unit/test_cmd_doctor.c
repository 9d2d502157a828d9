/* what ue doctor makes of the kernel's settings, of what sandboxes need, and of policies that ask
 */
#include "cmd/doctor.h"
#include "tests/lib/test.h"
#include <string.h>

static const struct json *row_of(const struct json *rows, const char *name)
{
    for (const struct json *it = json_first(rows); it; it = json_next(it))
        if (strcmp(json_get_str(it, "name", NULL), name) == 0)
            return it;
    fail_msg("no row %s", name);
    return NULL;
}

static void says(const struct json *rows, const char *name, const char *state, const char *key,
                 const char *words)
{
    const struct json *row = row_of(rows, name);
    const char *got = json_get_str(row, "state", NULL), *text = json_get_str(row, key, NULL);
    if (strcmp(got, state) != 0 || (words && (!text || !strstr(text, words))))
        fail_msg("%s: %s, %s: %s", name, got, key, text ? text : "-");
    if (strcmp(state, "ok") != 0 && !json_get(row, "do"))
        fail_msg("%s: %s says nothing to do", name, state);
}

TEST(test_name_spaces)
{
    static const struct {
        struct doctor_userns found;
        bool works;
        const char *state, *todo;
    } cases[] = {
        {{-1, 100, -1, false}, false, "ok", NULL},
        {{1, 100, 0, false}, false, "ok", NULL},
        {{0, 100, 0, false}, false, "advice", "kernel.unprivileged_userns_clone=1"},
        {{1, 0, 0, false}, false, "advice", "user.max_user_namespaces="},
        {{1, 100, 1, false}, false, "advice", "kernel.apparmor_restrict_unprivileged_userns=0"},
        {{0, 0, 1, true}, false, "ok", NULL},
        {{0, 100, 1, false}, true, "ok", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *rows = json_array_new();
        doctor_userns(rows, &cases[i].found, cases[i].works);
        says(rows, "userns", cases[i].state, "do", cases[i].todo);
        json_free(rows);
    }
}

static struct config *doctor_config_of(const char *text)
{
    struct err err = {0};
    struct config *config = config_parse("m.ini", text, strlen(text), &err);
    if (!config)
        fail_msg("%s", err.text);
    return config;
}

TEST(test_sandboxes)
{
    char helper[] = "/x/muxd-confine", bwrap[] = "/usr/bin/bwrap", why[] = "no name spaces";
    const struct confine_able
        all = {.helper = helper, .bwrap = bwrap, .tried = true, .landlock_abi = 6},
        old = {.helper = helper, .landlock_abi = 4},
        broken = {
            .helper = helper, .bwrap = bwrap, .tried = true, .bwrap_why = why, .landlock_abi = 7};
    struct config *plain = doctor_config_of(""),
                  *policy = doctor_config_of("[policy mcp]\nsandbox = workspace-write\n"),
                  *wanting = doctor_config_of("[session s]\ncmd = true\nsandbox = read-only\n");
    struct {
        const struct confine_able *able;
        const struct config *config;
        const char *sandbox, *bubblewrap, *landlock, *words;
    } cases[] = {
        {&all, wanting, "ok", "ok", "ok", "read-only: landlock; workspace-write: bubblewrap"},
        {&old, plain, "advice", "advice", "advice", "read-only: nothing"},
        {&old, wanting, "bad", "advice", "advice", "read-only: nothing"},
        {&broken, policy, "bad", "advice", "ok", "workspace-write: nothing"},
        {&broken, wanting, "advice", "advice", "ok", "workspace-write: nothing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *rows = json_array_new();
        doctor_sandboxes(
            &(struct doctor){.rows = rows, .config = cases[i].config, .able = cases[i].able});
        says(rows, "sandbox", cases[i].sandbox, "found", cases[i].words);
        says(rows, "bubblewrap", cases[i].bubblewrap, "found", NULL);
        says(rows, "landlock", cases[i].landlock, "found", NULL);
        json_free(rows);
    }
    config_free(plain);
    config_free(policy);
    config_free(wanting);
}

TEST(test_order)
{
    struct json *some = json_array_new(), *others = json_array_new();
    doctor_add(some, DOCTOR_CONFIG, (struct doctor_say){DOCTOR_BAD, "m", "d"}, "%s", "c");
    doctor_add(some, DOCTOR_DAEMON, DOCTOR_FINE, "%s", "a");
    doctor_add(others, DOCTOR_PERSON, DOCTOR_FINE, "%s", "b");
    doctor_add(others, DOCTOR_CONFIG, DOCTOR_FINE, "%s", "d");
    struct json *all = doctor_sorted(some, others);
    struct buf found = BUF_INIT;
    for (const struct json *it = json_first(all); it; it = json_next(it))
        buf_append_text(&found, json_get_str(it, "found", NULL));
    assert_string_equal(found.data, "abcd");
    assert_int_equal(doctor_count(all, DOCTOR_BAD), 1);
    assert_int_equal(doctor_count(all, DOCTOR_OK), 3);
    buf_fini(&found);
    json_free(some);
    json_free(others);
    json_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name_spaces),
        cmocka_unit_test(test_sandboxes),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
