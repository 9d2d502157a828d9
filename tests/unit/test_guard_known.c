/* the tables of safe and of dangerous commands, row by row, and what looks like them */
#include "guard/known.h"
#include "guard/shell_runs.h"
#include "guard/shell_scan.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <string.h>

static bool is_safe(const char *script)
{
    struct shell_scan scan;
    shell_scan(&scan, script);
    if (!scan.plain || scan.count != 1)
        fail_msg("%s: not one plain command", script);
    bool safe = known_is_safe(scan.commands[0].words);
    shell_scan_fini(&scan);
    return safe;
}

static void all_are(const char *const *scripts, size_t count, bool safe)
{
    for (size_t i = 0; i < count; i++)
        if (is_safe(scripts[i]) != safe)
            fail_msg("%s: %s", scripts[i], safe ? "not safe" : "safe");
}

TEST(test_safe)
{
    static const char *const safe[] = {
        "cat f", "cd x", "cut -c1 f", "echo -n a", "expr 1 + 1", "false", "grep -r x .",
        "head -3 f", "id -u", "ls -la", "nl f", "paste f", "pwd", "rev f", "seq 3", "stat f",
        "tail -f f", "tr a b", "true", "uname -a", "uniq f", "uniq -c", "uniq -c -", "uniq -- f", "wc -l f", "which ls", "whoami",
        "numfmt 3", "tac f", "/bin/cat f", "/usr/bin/ls",
        "base64 f", "base64 -d f", "find . -name x", "find . -type f -print",
        "rg x", "rg -n --pretty x", "sed -n 3p f", "sed -n 1,20p f", "sed -n 5p",
        "git status", "git log --oneline", "git diff HEAD", "git show x", "git branch",
        "git branch -a", "git branch --show-current", "git branch --list -v",
    };
    all_are(safe, sizeof safe / sizeof *safe, true);
}

TEST(test_not_safe)
{
    static const char *const not[] = {
        "uniq f g", "uniq - g", "uniq f -c g", "uniq -c -- -f -g", "uniq -f 1 f",
        "rm x", "touch x", "python3", "sh", "catx f", "lss", "LS", "/tmp/ls", "./cat f",
        "bin/ls", "/usr/bin/../../tmp/ls", "/bin//ls", "env ls", "awk x",
        "base64 -o f x", "base64 --output=f x", "base64 --out f x", "base64 -do f x",
        "find . -exec rm x ';'", "find . -execdir x ';'", "find . -ok x ';'", "find . -okdir x ';'",
        "find . -delete", "find . -fls f", "find . -fprint f", "find . -fprint0 f",
        "find . -fprintf f x", "rg --pre x y", "rg --pre=x y", "rg --hostname-bin=x y",
        "rg --search-zip x", "rg -z x", "rg -nz x",
        "sed 3p f", "sed -n 3d f", "sed -n 3w f", "sed -n p f", "sed -n 1,p f", "sed -n ,3p f",
        "sed -n 3p f g", "sed -n 3p -i", "sed -i -n 3p f", "sed -n '3p;w x' f",
        "git", "git push", "git -C x status", "git -c a=b status", "git -p log",
        "git --paginate log", "git --git-dir=x status", "git --git-dir x status",
        "git --work-tree=x status", "git --exec-path=x status", "git --namespace=x status",
        "git --super-prefix=x status", "git --config-env=x status", "git -Cx status",
        "git diff --output=f", "git diff --output f", "git diff --ext-diff", "git log --textconv",
        "git diff --outp=f", "git show --exec=x", "git branch x", "git branch -d x",
        "git branch -D x", "git branch --list x", "git branch -m a b", "/tmp/git status",
    };
    all_are(not, sizeof not / sizeof *not, false);
}

static bool is_dangerous(const char *script)
{
    char *argv[] = {(char[]){"bash"}, (char[]){"-lc"}, strdup(script), NULL};
    struct shell_runs runs;
    shell_runs(&runs, argv);
    bool dangerous = runs.dangerous;
    shell_runs_fini(&runs);
    free(argv[2]);
    return dangerous;
}

TEST(test_dangerous)
{
    static const char *const dangerous[] = {
        "rm -f x", "rm -rf x", "rm -fr x", "rm x -f", "rm -r -f x", "rm -Rvf x", "rm --force x",
        "rm --forc x", "/bin/rm -f x", "sudo rm -f x", "sudo -u a rm -f x", "env A=b rm -f x",
        "trap 'rm -f x' EXIT", "bash -c 'rm -f x'", "sh -c \"bash -c 'rm -f x'\"",
        "for i in a; do rm -f $i; done", "if true; then rm -f x; fi", "echo $(rm -f x)",
        "ls | xargs rm -f", "true && rm -f x", "( rm -f x )", "{ rm -f x; }", "echo `rm -f x`",
        "while true; do rm -rf x; done", "'rm' -f x", "r\"m\" -f x", "\\rm -f x",
        "find . -exec rm -f '{}' ';'",
        ("rm 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 "
         "4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 -f"),
    };
    static const char *const harmless[] = {
        "rm x", "rm -r x", "rm -- -f", "rm -i x", "rm -r -- --force", "echo 'rm -f x'",
        "$RM -f x", "rmdir -f", "ls -f", "rm --no-preserve-root x", "git rm -f x", "# rm -f x",
    };
    for (size_t i = 0; i < sizeof dangerous / sizeof *dangerous; i++)
        if (!is_dangerous(dangerous[i]))
            fail_msg("%s: not dangerous", dangerous[i]);
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (is_dangerous(harmless[i]))
            fail_msg("%s: dangerous", harmless[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_safe),
        cmocka_unit_test(test_not_safe),
        cmocka_unit_test(test_dangerous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
