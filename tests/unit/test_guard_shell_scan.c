/* which commands a script runs: plain ones exactly, of others what can be seen */
#include "base/buf.h"
#include "guard/shell_scan.h"
#include "tests/lib/test.h"
#include <string.h>

/* "a b|c" for the commands [a b] and [c]. */
static void scans(const char *script, bool plain, const char *commands)
{
    struct shell_scan scan;
    struct buf seen = BUF_INIT;
    shell_scan(&scan, script);
    for (size_t i = 0; i < scan.count; i++) {
        buf_append_text(&seen, i ? "|" : "");
        for (char **word = scan.commands[i].words; *word; word++)
            buf_printf(&seen, "%s%s", word == scan.commands[i].words ? "" : " ", *word);
    }
    if (scan.plain != plain)
        fail_msg("%s: plain is %d (%s)", script, scan.plain, scan.why ? scan.why : "-");
    assert_string_equal(seen.data ? seen.data : "", commands);
    assert_int_equal(scan.plain, scan.why == NULL);
    assert_false(scan.overflow);
    buf_fini(&seen);
    shell_scan_fini(&scan);
}

TEST(test_plain)
{
    scans("ls", true, "ls");
    scans("git status && make -j2 test; echo done", true, "git status|make -j2 test|echo done");
    scans("a | b || c", true, "a|b|c");
    scans("a\nb\n\n", true, "a|b");
    scans("a &&\n b", true, "a|b");
    scans("echo 'a b' \"c d\" e'f'g\"h\"", true, "echo a b c d efgh");
    scans("echo \"a\\\"b\" 'c;d' \"e && f\"", true, "echo a\"b c;d e && f");
    scans("ls;", true, "ls");
    scans("echo a=b --c=d", true, "echo a=b --c=d");
    scans("test a = b '=c'", true, "test a = b =c");
    scans("echo if then \xc3\xa4", true, "echo if then \xc3\xa4");
    scans("echo a#b", true, "echo a#b");
    scans("git commit -m 'a\nb'", true, "git commit -m a\nb");
}

TEST(test_not_plain)
{
    scans("", false, "");
    scans(" \n", false, "");
    scans("a > f", false, "a");
    scans("a 2>&1", false, "a");
    scans("a < f b", false, "a b");
    scans("a &> f; b", false, "a|b");
    scans("a &", false, "a");
    scans("a & b", false, "a|b");
    scans("X=1 a", false, "a");
    scans("X[1]+=2 a", false, "a");
    scans("X=1", false, "");
    scans("echo $X", false, "echo $X");
    scans("echo \"$X\"", false, "echo $X");
    scans("echo *.c", false, "echo *.c");
    scans("echo ~", false, "echo ~");
    scans("echo {a,b}", false, "echo {a,b}");
    scans("ec\\ho a", false, "echo a");
    scans("a \\\n b", false, "a b");
    scans("a # b; c", false, "a");
    scans("a |& b", false, "a|b");
    scans("(a)", false, "a");
    scans("f() { a; }; f", false, "f|a|f");
    scans("! a", false, "a");
    scans("if a; then b; else c; fi", false, "a|b|c");
    scans("while a; do b; done", false, "a|b");
    scans("case x in y) a;; z) b;; esac", false, "x in y|a|z|b");
    scans("$'\\x67it' push", false, "git push");
    scans("a &&", false, "a");
    scans("&& a", false, "a");
    scans("a ;; b", false, "a|b");
    scans("a 'b", false, "a b");
    scans("a \"b", false, "a b");
    scans("a >", false, "a");
    scans("; a", false, "a");
    scans("export PATH=x; a", false, "export PATH=x|a");
    scans("a; unset b", false, "a|unset b");
    scans("alias a=b", false, "alias a=b");
    scans("a b\r\nc", false, "a b\r|c");
    scans("a\vb", false, "a\vb");
    scans("=git push", false, "=git push");
    scans("test a == b", false, "test a == b");
    scans("git${IFS}push", false, "git push");
    scans("a ${IFS:0:1}b$IFS $IFS\"c\"", false, "a b c");
}

TEST(test_substitutions)
{
    scans("echo $(git push)", false, "git push|echo $(");
    scans("echo \"x $(git push) y\"", false, "git push|echo x $( y");
    scans("echo `git push`", false, "git push|echo ");
    scans("echo `echo \\`git push\\``", false, "git push|echo |echo ");
    scans("echo $(a $(b))", false, "b|a $(|echo $(");
    scans("echo ${X:-$(git push)}", false, "git push|echo ${X:-$(");
    scans("echo ${X:-${Y:-`git push`}}", false, "git push|echo ${X:-${Y:-");
    scans("diff <(git push) x", false, "git push|diff x");
    scans("X=$(git push)", false, "git push");
    scans("echo $(a", false, "a|echo $(");
    scans("echo $((1 + 2))", false, "1 + 2|echo $(");
}

TEST(test_heredocs)
{
    struct shell_scan scan;
    shell_scan(&scan, "cat <<'E' x\nrm $(a)\nE\n");
    assert_true(scan.heredoc_only);
    assert_false(scan.plain);
    assert_int_equal(scan.count, 1);
    assert_string_equal(scan.commands[0].words[1], "x");
    assert_string_equal(scan.fed.items[0], "rm $(a)\n");
    shell_scan_fini(&scan);
    shell_scan(&scan, "cat <<-E\n\ta `git push`\n\tE\ngit pull");
    assert_false(scan.heredoc_only);
    assert_int_equal(scan.count, 3);
    assert_string_equal(scan.commands[1].words[1], "push");
    assert_string_equal(scan.commands[2].words[1], "pull");
    shell_scan_fini(&scan);
    shell_scan(&scan, "sh <<< 'git push'");
    assert_string_equal(scan.fed.items[0], "git push");
    assert_false(scan.heredoc_only);
    shell_scan_fini(&scan);
    shell_scan(&scan, "cat <<E\nnever closed\n");
    assert_false(scan.heredoc_only);
    assert_false(scan.plain);
    shell_scan_fini(&scan);
    shell_scan(&scan, "cat <<E");
    assert_false(scan.heredoc_only);
    shell_scan_fini(&scan);
    shell_scan(&scan, "cat 3<<E\nE\n");
    assert_false(scan.heredoc_only);
    shell_scan_fini(&scan);
    shell_scan(&scan, "cat <<\nE\n\n");
    assert_false(scan.heredoc_only);
    shell_scan_fini(&scan);
}

TEST(test_caps)
{
    struct shell_scan scan;
    struct buf script = BUF_INIT;
    for (int i = 0; i < SHELL_SCAN_MAX_COMMANDS + 1; i++)
        buf_append_text(&script, "a\n");
    shell_scan(&scan, script.data);
    assert_true(scan.overflow);
    assert_false(scan.plain);
    shell_scan_fini(&scan);
    buf_clear(&script);
    for (int i = 0; i < 100000; i++)
        buf_append_text(&script, "$(");
    shell_scan(&scan, script.data);
    assert_true(scan.overflow);
    shell_scan_fini(&scan);
    buf_clear(&script);
    for (int i = 0; i < 100000; i++)
        buf_append_text(&script, "\"${");
    shell_scan(&scan, script.data);
    assert_true(scan.overflow);
    shell_scan_fini(&scan);
    buf_fini(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),    cmocka_unit_test(test_not_plain),
        cmocka_unit_test(test_substitutions), cmocka_unit_test(test_heredocs),
        cmocka_unit_test(test_caps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
