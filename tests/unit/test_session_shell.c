/* test_session_shell.c: which shell runs a string, how it is asked to, and what a session is called after it. */
#include "tests/lib/test.h"

#include "base/strv.h"
#include "base/value.h"
#include "session/shell.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/test_session_shell.XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) == 0 ? 0 : -1;
}

/* A file in the test's directory that may or may not be executed. */
static const char *make_file(const char *name, mode_t mode)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    return path;
}

static void assert_argv(char **argv, const char *const *want)
{
    assert_int_equal(strv_len((const char *const *)argv), strv_len(want));
    for (size_t i = 0; want[i]; i++)
        assert_string_equal(argv[i], want[i]);
    strv_free(argv);
}

TEST(test_string_that_looks_like_an_option)
{
    char **argv;
    struct err err;
    assert_int_equal(shell_argv("/bin/sh", true, "-n x", NULL, &argv, &err), 0);
    assert_argv(argv, (const char *const[]){"/bin/sh", "-lc", " -n x", NULL});
    assert_int_equal(shell_argv("/bin/sh", false, "+x", NULL, &argv, &err), 0);
    assert_argv(argv, (const char *const[]){"/bin/sh", "-c", " +x", NULL});
}

TEST(test_login_and_plain)
{
    char **argv;
    struct err err;
    assert_int_equal(shell_argv("/bin/sh", true, "echo 1", NULL, &argv, &err), 0);
    assert_argv(argv, (const char *const[]){"/bin/sh", "-lc", "echo 1", NULL});
    assert_int_equal(shell_argv("/bin/sh", false, "echo 1", NULL, &argv, &err), 0);
    assert_argv(argv, (const char *const[]){"/bin/sh", "-c", "echo 1", NULL});
}

TEST(test_fish_and_others)
{
    char **argv;
    struct err err;
    const char *fish = make_file("fish", 0755);
    assert_int_equal(shell_argv(fish, true, "x", NULL, &argv, &err), 0);
    assert_argv(argv, (const char *const[]){fish, "-l", "-c", "x", NULL});
    const char *other = make_file("tcsh", 0755);
    assert_int_equal(shell_argv(other, true, "x", NULL, &argv, &err), 0);
    assert_argv(argv, (const char *const[]){other, "-c", "x", NULL});
}

TEST(test_shell_of_env_and_path)
{
    char **argv, shell[160], path[160];
    struct err err;
    snprintf(shell, sizeof shell, "SHELL=%s", make_file("zsh", 0755));
    char *env[] = {shell, NULL};
    assert_int_equal(shell_argv(NULL, true, "x", env, &argv, &err), 0);
    assert_argv(argv, (const char *const[]){shell + 6, "-lc", "x", NULL});
    snprintf(path, sizeof path, "PATH=/nonexistent:%s", dir);
    char *with_path[] = {path, NULL};
    assert_int_equal(shell_argv("zsh", false, "x", with_path, &argv, &err), 0);
    assert_argv(argv, (const char *const[]){shell + 6, "-c", "x", NULL});
}

TEST(test_shell_of_env_that_is_gone)
{
    char **argv, gone[] = "SHELL=/nonexistent/sh";
    struct err err;
    char *env[] = {gone, NULL};
    assert_int_equal(shell_argv(NULL, false, "x", env, &argv, &err), 0);
    assert_string_not_equal(argv[0], "/nonexistent/sh");
    assert_int_equal(access(argv[0], X_OK), 0);
    strv_free(argv);
}

TEST(test_refused)
{
    char **argv = NULL;
    struct err err;
    const char *plain = make_file("plain", 0644);
    const char *wrong[] = {"/nonexistent/bash", "no-such-shell-anywhere", dir, plain};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (wrong[i] == plain && geteuid() == 0 && access(plain, X_OK) == 0)
            continue;
        assert_int_equal(shell_argv(wrong[i], true, "x", NULL, &argv, &err), ERR_SPAWN);
        assert_non_null(strstr(err.text, wrong[i]));
        assert_null(argv);
    }
    shell_argv("/nonexistent/bash", true, "x", NULL, &argv, &err);
    assert_non_null(strstr(err.text, "No such file or directory"));
}

TEST(test_default_names)
{
    static const struct { const char *cmd, *name; } cases[] = {
        {"python3 -q", "python3"},         {"/usr/bin/python3 -q", "python3"},   {"  ls -l", "ls"},
        {"A=1 B='x y' make -j2", "make"},  {"PATH+=:/x env", "env"},             {"'my prog' x", "my_prog"},
        {"my\\ prog", "my_prog"},          {"./run.sh", "run.sh"},               {"(cd /; ls)", "sh"},
        {"", "sh"},                        {"   ", "sh"},                        {"FOO=1", "sh"},
        {"123 x", "sh"},                   {"/", "sh"},                          {"[ -f x ]", "sh"},
        {"echo;ls", "echo"},               {"\"$SHELL\" -i", "_SHELL"},          {"# comment", "sh"},
        {"g++ x.cc", "g__"},               {"\xc3\xbc" "ber", "__ber"},          {".hidden", "hidden"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *name = shell_default_name(cases[i].cmd, NULL);
        assert_string_equal(name, cases[i].name);
        assert_true(value_session_name(name));
        free(name);
    }
}

TEST(test_default_names_of_argv)
{
    char word[] = "/opt/my tools/x y", arg[] = "z", *argv[] = {word, arg, NULL};
    char *name = shell_default_name(NULL, argv);
    assert_string_equal(name, "x_y");
    free(name);
    char *none = shell_default_name(NULL, NULL);
    assert_string_equal(none, "sh");
    free(none);
    char text[300];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    char *cut = shell_default_name(text, NULL);
    assert_int_equal(strlen(cut), 64);
    free(cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_string_that_looks_like_an_option),
        cmocka_unit_test(test_login_and_plain),           cmocka_unit_test(test_fish_and_others),
        cmocka_unit_test(test_shell_of_env_and_path),     cmocka_unit_test(test_shell_of_env_that_is_gone),
        cmocka_unit_test(test_refused),                   cmocka_unit_test(test_default_names),
        cmocka_unit_test(test_default_names_of_argv),
    };
    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
