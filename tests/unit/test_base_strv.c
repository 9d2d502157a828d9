/* strv: vectors of strings and environments. */
#include "base/mem.h"
#include "base/strv.h"
#include "tests/lib/test.h"
#include <stdlib.h>

static const char *const *as_const(struct strv *vec)
{
    return (const char *const *)vec->items;
}

TEST(grows_and_ends_with_null)
{
    struct strv vec = {0};
    for (int i = 0; i < 100; i++) {
        strv_addf(&vec, "item %d", i);
        assert_null(vec.items[vec.count]);
    }
    assert_int_equal(strv_len(as_const(&vec)), 100);
    assert_true(strv_bytes(as_const(&vec)) > 100);
    assert_int_equal(strv_bytes((const char *const[]){"ab", "", "c", NULL}), 6);
    assert_int_equal(strv_bytes(NULL), 0);
    char **copy = strv_dup(as_const(&vec));
    assert_string_equal(copy[0], "item 0");
    assert_string_equal(copy[99], "item 99");
    assert_null(copy[100]);
    strv_free(copy);
    strv_fini(&vec);
    strv_fini(&vec);
    char **none = strv_take(&vec);
    assert_null(none[0]);
    strv_free(none);
    strv_free(NULL);
    assert_int_equal(strv_len(NULL), 0);
    none = strv_dup(NULL);
    assert_null(none[0]);
    strv_free(none);
}

TEST(environment_has_one_entry_for_a_name)
{
    static const char *const start[] = {"A=1", "AB=2", "A=3", "NOTHING", "B=", NULL};
    struct strv env = {0};
    strv_add_all(&env, start);
    assert_string_equal(strv_env_get(as_const(&env), "A"), "1");
    assert_string_equal(strv_env_get(as_const(&env), "B"), "");
    assert_null(strv_env_get(as_const(&env), "NOTHING"));
    assert_null(strv_env_get(NULL, "A"));
    strv_env_set(&env, "A", strv_env_get(as_const(&env), "A")); /* a value that lives in the entry it replaces */
    assert_int_equal(env.count, 4);
    assert_string_equal(env.items[0], "A=1");
    strv_env_set(&env, "C", "new");
    assert_string_equal(env.items[4], "C=new");
    strv_env_set(&env, "AB", NULL);
    strv_env_set(&env, "missing", NULL);
    assert_int_equal(env.count, 4);
    assert_null(strv_env_get(as_const(&env), "AB"));
    strv_fini(&env);
}

TEST(words_are_quoted_as_a_shell_needs_them)
{
    static const char *const words[] = {"/bin/echo", "a  b", "", "it's", "x=1", "a;b", NULL};
    char **argv = strv_dup(words), *none[] = {NULL};
    char *line = strv_quoted(argv);
    assert_string_equal(line, "/bin/echo 'a  b' '' 'it'\\''s' x=1 'a;b'");
    free(line);
    strv_free(argv);
    line = strv_quoted(none);
    assert_string_equal(line, "");
    free(line);
}

TEST(memory_is_the_callers)
{
    char *text = xstrndup("abcdef", 3);
    assert_string_equal(text, "abc");
    text = xrealloc(text, 0);
    assert_non_null(text);
    free(text);
    text = xmemdup("x\0y", 3);
    assert_memory_equal(text, "x\0y", 3);
    mem_wipe(text, 3);
    assert_memory_equal(text, "\0\0\0", 3);
    free(text);
    void *none = xmalloc(0), *zeros = xcalloc(0, 8);
    assert_true(none && zeros);
    free(none);
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_ends_with_null), cmocka_unit_test(environment_has_one_entry_for_a_name),
        cmocka_unit_test(memory_is_the_callers),  cmocka_unit_test(words_are_quoted_as_a_shell_needs_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
