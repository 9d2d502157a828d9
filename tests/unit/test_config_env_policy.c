/* Which variables get through, in the order of CODEX.md 11. */
#include "base/buf.h"
#include "config/env_policy.h"
#include "tests/lib/test.h"
#include "tests/lib/unit_config.h"
#include <stdlib.h>
#include <string.h>

static const char *const env[] = {"PATH=/bin", "home=/h",  "API_KEY=k", "GitHub_Token=t", "my_secret_x=s",
                                  "EMPTY=",    "A=b=c",    "NOEQUALS",  "=x",             "LC_TIME=C",
                                  "openai_identity_token_file=f", "EDITOR=ed", NULL};

/* The names that pass, joined. */
static void expect(const char *policy_text, const char *want)
{
    struct config *cfg = config_of(policy_text);
    struct strv out = {0};
    struct buf seen = BUF_INIT;
    env_policy_filter(&cfg->env_policy, env, &out);
    for (size_t i = 0; i < out.count; i++)
        buf_printf(&seen, "%s%s", i ? " " : "", out.items[i]);
    assert_string_equal(seen.data ? seen.data : "", want);
    buf_fini(&seen);
    strv_fini(&out);
    config_free(cfg);
}

TEST(test_filter)
{
    expect("", "PATH=/bin home=/h API_KEY=k GitHub_Token=t my_secret_x=s EMPTY= A=b=c LC_TIME=C EDITOR=ed");
    expect("[env_policy]\nignore_default_excludes = no\n", "PATH=/bin home=/h EMPTY= A=b=c LC_TIME=C EDITOR=ed");
    expect("[env_policy]\ninherit = core\n", "PATH=/bin home=/h");
    expect("[env_policy]\ninherit = none\n", "");
    expect("[env_policy]\nexclude = *_* e?itor a\n", "PATH=/bin home=/h EMPTY=");
    expect("[env_policy]\ninclude_only = PATH A* editor\n", "PATH=/bin API_KEY=k A=b=c EDITOR=ed");
}

TEST(test_set)
{
    expect("[env_policy]\ninherit = none\nset.X = 1 2\nset.Y =\n", "X=1 2 Y=");
    expect("[env_policy]\ninherit = core\nset.PATH = /opt\n", "PATH=/opt home=/h");
    /* set comes after exclude, include_only after set, and some names never pass. */
    expect("[env_policy]\ninherit = core\nexclude = PATH\nset.PATH = /opt\n", "PATH=/opt home=/h");
    expect("[env_policy]\nset.X = 1\ninclude_only = HOME\n", "home=/h");
    expect("[env_policy]\ninherit = none\nset.OPENAI_IDENTITY_TOKEN_FILE = f\n", "");
}

TEST(test_empty)
{
    struct config *cfg = config_default();
    struct strv out = {0};
    env_policy_filter(&cfg->env_policy, NULL, &out);
    assert_int_equal(out.count, 0);
    config_free(cfg);
}

TEST(test_overlay)
{
    struct config *cfg = config_default();
    struct strv out = {0};
    strv_add(&out, "TERM=xterm");
    strv_add(&out, "KEEP=1");
    strv_add(&out, "TERM=again");
    env_policy_overlay(&out, &cfg->env.vars);
    assert_int_equal(out.count, 11);
    assert_string_equal(strv_env_get((const char *const *)out.items, "TERM"), "dumb");
    assert_string_equal(strv_env_get((const char *const *)out.items, "COLORTERM"), "");
    assert_string_equal(strv_env_get((const char *const *)out.items, "KEEP"), "1");
    strv_fini(&out);
    config_free(cfg);
}

TEST(test_match)
{
    static const struct { const char *pattern, *name; bool match; } cases[] = {
        {"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "abc", true}, {"a", "A", true}, {"a", "ab", false}, {"?", "", false},
        {"a?c", "abc", true}, {"*key*", "MONKEY", true}, {"*key*", "ke", false}, {"a*b*c", "aXbYbZc", true}, {"a*b*c", "acb", false},
        {"***a", "bba", true}, {"*a?", "aab", true}, {"*ab", "aab", true}, {"a**", "a", true}, {"[", "{", false}, {"@", "`", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (env_policy_match(cases[i].pattern, cases[i].name, strlen(cases[i].name)) != cases[i].match)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
    assert_true(env_policy_match("PATH", "PATH=/bin", 4));
    /* Many stars against a long name that nearly matches: fast, or the test runs into its time limit. */
    static char name[200000];
    memset(name, 'a', sizeof(name));
    assert_false(env_policy_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name, sizeof(name)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter), cmocka_unit_test(test_set),     cmocka_unit_test(test_empty),
        cmocka_unit_test(test_overlay), cmocka_unit_test(test_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
