/* intercept: which shell commands are patches, and which only look like one. */
#include "base/mem.h"
#include "patch/intercept.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <string.h>

#define BODY "*** Begin Patch\n*** Add File: foo\n+hi $HOME `x`\n*** End Patch\n"

static void expect_patch(const char *script, const char *workdir)
{
    struct patch_intercepted out;
    if (!patch_intercept(script, &out))
        fail_msg("not taken: %s", script);
    assert_false(out.bare);
    assert_string_equal(out.text, BODY);
    assert_int_equal(out.len, strlen(BODY));
    if (workdir == NULL)
        assert_null(out.workdir);
    else
        assert_string_equal(out.workdir, workdir);
    patch_intercepted_fini(&out);
}

TEST(the_forms)
{
    expect_patch("apply_patch <<'PATCH'\n" BODY "PATCH", NULL);
    expect_patch("apply_patch <<'PATCH'\n" BODY "PATCH\n", NULL);
    expect_patch("applypatch <<PATCH\n" BODY "PATCH\n\n  ", NULL);
    expect_patch("\n apply_patch<< \"END OF IT\" \n" BODY "END OF IT\n", NULL);
    expect_patch("apply_patch <<\\EOF\n" BODY "EOF", NULL);
    expect_patch("apply_patch <<'EOF'\n" BODY, NULL); /* the end of the script ends it */
    expect_patch("X=1 Y='a b' _z=\"\" apply_patch <<'EOF'\n" BODY "EOF", NULL);
    expect_patch("apply_patch <<-EOF\n\t" BODY "\t\tEOF\n", NULL);
    expect_patch("cd foo && apply_patch <<'EOF'\n" BODY "EOF", "foo");
    expect_patch("cd  /a/b-c.d_1  &&\n  applypatch <<EOF\n" BODY "EOF\n", "/a/b-c.d_1");
    expect_patch("cd 'foo bar' && apply_patch <<'EOF'\n" BODY "EOF", "foo bar");
    expect_patch("cd \"foo 'bar'\" && apply_patch <<'EOF'\n" BODY "EOF", "foo 'bar'");
    expect_patch("cd foo\\ bar&& apply_patch <<'EOF'\n" BODY "EOF", "foo bar");
    setenv("HOME", "/h", 1);
    expect_patch("cd ~/x && apply_patch <<'EOF'\n" BODY "EOF", "/h/x");
    expect_patch("cd ~ && apply_patch <<'EOF'\n" BODY "EOF", "/h");
}

TEST(what_is_left_to_the_shell)
{
    static const char *const rows[] = {
        "cd x; apply_patch <<'EOF'\n" BODY "EOF",
        "cd x || apply_patch <<'EOF'\n" BODY "EOF",
        "cd x | apply_patch <<'EOF'\n" BODY "EOF",
        "cd x & apply_patch <<'EOF'\n" BODY "EOF",
        "cd x && cd y && apply_patch <<'EOF'\n" BODY "EOF",
        "cd a b && apply_patch <<'EOF'\n" BODY "EOF",
        "cd && apply_patch <<'EOF'\n" BODY "EOF",
        "cd - && apply_patch <<'EOF'\n" BODY "EOF",
        "cd $X && apply_patch <<'EOF'\n" BODY "EOF",
        "cd \"$X\" && apply_patch <<'EOF'\n" BODY "EOF",
        "cd '' && apply_patch <<'EOF'\n" BODY "EOF",
        "cd a'b' && apply_patch <<'EOF'\n" BODY "EOF",
        "cd 'a'b && apply_patch <<'EOF'\n" BODY "EOF",
        "cd a* && apply_patch <<'EOF'\n" BODY "EOF",
        "cd ~other && apply_patch <<'EOF'\n" BODY "EOF",
        "cd 'unclosed && apply_patch <<EOF\n" BODY "EOF",
        "echo x && apply_patch <<'EOF'\n" BODY "EOF",
        "echo; cd x && apply_patch <<'EOF'\n" BODY "EOF",
        "apply_patch arg <<'EOF'\n" BODY "EOF",
        "cd x && apply_patch arg <<'EOF'\n" BODY "EOF",
        "apply_patch <<'EOF' && echo done\n" BODY "EOF",
        "apply_patch <<'EOF' > out\n" BODY "EOF",
        "apply_patch <<'EOF'\n" BODY "EOF\necho done",
        "apply_patch <<'EOF'\n" BODY "EOF && echo done",
        "apply_patch <<'EOF'\n" BODY "EOF \n",
        "apply_patch <<'EOF'\n" BODY "and more",
        "X=$(id) apply_patch <<'EOF'\n" BODY "EOF",
        "X=1apply_patch <<'EOF'\n" BODY "EOF",
        "X=1; apply_patch <<'EOF'\n" BODY "EOF",
        "1X=1 apply_patch <<'EOF'\n" BODY "EOF",
        "apply_patch <<'EOF\n" BODY "EOF",
        "apply_patch <<'EOF\"\n" BODY "EOF",
        "apply_patch <<<'EOF'\n" BODY "EOF",
        "apply_patch <<\n" BODY,
        "apply_patch",
        "apply_patch < file",
        "apply_patcher <<EOF\n" BODY "EOF",
        "cat <<'EOF'\n" BODY "EOF",
        "cat <<'EOF' | apply_patch\n" BODY "EOF",
        "*** Begin Patch\nnot one\n*** End Patch",
        "echo hello",
        "",
        "cd",
        "cd x",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct patch_intercepted out;
        if (patch_intercept(rows[i], &out))
            fail_msg("taken: %s", rows[i]);
        assert_null(out.text);
        assert_null(out.workdir);
    }
}

TEST(a_bare_patch)
{
    struct patch_intercepted out;
    assert_true(patch_intercept(BODY, &out) && out.bare);
    assert_null(out.text);
    assert_true(patch_intercept("<<'EOF'\n" BODY "EOF\n", &out) && out.bare);
    assert_true(patch_intercept_argv((const char *const[]){BODY, NULL}, &out) && out.bare);
    assert_true(patch_intercept_argv((const char *const[]){"bash", "-lc", BODY, NULL}, &out) && out.bare);
    patch_intercepted_fini(&out);
}

TEST(argument_vectors)
{
    const char *script = "cd d && apply_patch <<'EOF'\n" BODY "EOF";
    const char *const taken[][5] = {{"bash", "-lc", script},
                                    {"/usr/bin/zsh", "-c", script},
                                    {"sh", "-c", script},
                                    {"pwsh", "-Command", script},
                                    {"powershell.exe", "-NoProfile", "-Command", script},
                                    {"cmd", "/c", script}};
    const char *const left[][5] = {{"bash", "-x", script},
                                   {"fish", "-c", script},
                                   {"bash", "-lc", script, "more"},
                                   {script},
                                   {"bash", "-lc"},
                                   {"apply_patch", BODY, "more"},
                                   {"echo", BODY},
                                   {NULL}};
    struct patch_intercepted out;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        assert_true(patch_intercept_argv(taken[i], &out));
        assert_string_equal(out.text, BODY);
        assert_string_equal(out.workdir, "d");
        patch_intercepted_fini(&out);
    }
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        assert_false(patch_intercept_argv(left[i], &out));
    assert_true(patch_intercept_argv((const char *const[]){"apply_patch", "anything", NULL}, &out));
    assert_string_equal(out.text, "anything");
    patch_intercepted_fini(&out);
    assert_true(patch_intercept_argv((const char *const[]){"applypatch", BODY, NULL}, &out));
    patch_intercepted_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_forms), cmocka_unit_test(what_is_left_to_the_shell),
                                       cmocka_unit_test(a_bare_patch), cmocka_unit_test(argument_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
