/* what rules say of commands, however they are dressed up; rules files of Codex */
#include "guard/rules.h"
#include "guard/rules_import.h"
#include <stdlib.h>
#include "guard/shell_runs.h"
#include "tests/lib/test.h"
#include <string.h>

static struct config *rules_of(const char *text)
{
    struct err err = {0};
    struct config *cfg = config_parse("m.ini", text, strlen(text), &err);
    if (!cfg)
        fail_msg("%s", err.text);
    return cfg;
}

static enum rule_decision decision_of(const struct config *cfg, char *const *argv)
{
    struct rule_case judged;
    struct rule_verdict verdict;
    rules_open(&judged, argv);
    rules_judge(cfg, &judged, &verdict);
    rules_close(&judged);
    return verdict.decision;
}

static void says(const struct config *cfg, const char *script, enum rule_decision decision)
{
    const char *const argv[] = {"/bin/bash", "-lc", script, NULL};
    char **owned = strv_dup(argv);
    enum rule_decision got = decision_of(cfg, owned);
    strv_free(owned);
    if (got != decision)
        fail_msg("%s: %s, not %s", script, rule_decision_word(got), rule_decision_word(decision));
}

static const char base_rules[] =
    "[rule push]\nprefix = git push|send-pack\ndecision = forbidden\njustification = people push\n"
    "[rule pull]\nprefix = git pull\ndecision = prompt\n"
    "[rule git]\nprefix = git\nhost_executable = /usr/bin/git\n"
    "[rule make]\nprefix = make test\n"
    "[rule remove]\nprefix = rm -rf\ndecision = forbidden\n";

TEST(test_decisions)
{
    struct config *cfg = rules_of(base_rules);
    says(cfg, "ls", RULE_NONE);
    says(cfg, "git status", RULE_ALLOW);
    says(cfg, "git status && make test -j2", RULE_ALLOW);
    says(cfg, "git status && ls", RULE_NONE);
    says(cfg, "git status > f", RULE_NONE); /* not plain: the shell is judged */
    says(cfg, "git status; git pull", RULE_PROMPT);
    says(cfg, "git pull; git push", RULE_FORBIDDEN);
    says(cfg, "git send-pack x", RULE_FORBIDDEN);
    says(cfg, "/usr/bin/git status", RULE_ALLOW);
    says(cfg, "/tmp/git status", RULE_NONE);
    says(cfg, "/tmp/git push", RULE_FORBIDDEN);
    says(cfg, "make tests", RULE_NONE);
    says(cfg, "make", RULE_NONE);
    says(cfg, "git commit -F - <<'E'\ngit push\nE\n", RULE_ALLOW); /* text, not a command */
    char git[] = "git", push[] = "push", *const direct[] = {git, push, NULL};
    char *const one[] = {git, NULL};
    assert_int_equal(decision_of(cfg, direct), RULE_FORBIDDEN);
    assert_int_equal(decision_of(cfg, one), RULE_ALLOW);
    config_free(cfg);
}

TEST(test_what_is_seen)
{
    static const char *const forms[] = {
        "git  push", "git -C x push", "git --no-pager push -f", "'git' \"push\"", "gi''t push",
        "g\\it push", "$'git' push", "$'\\x67it' push", "X=1 git push", "git push >f 2>&1",
        ">f git push", "(git push)", "{ git push; }", "! git push", "if true; then git push; fi",
        "for x in a; do git push; done", "while :; do git push; done", "f() { git push; }; f",
        "true && git push", "true | git push", "true & git push", "true\ngit push",
        "echo $(git push)", "echo \"$(git push)\"", "echo `git push`", "echo ${X:-$(git push)}",
        "X=$(git push)", "cat <(git push)", "cat <<E\n$(git push)\nE\n", "sh <<E\ngit push\nE\n",
        "sh <<<'git push'", "echo git push | sh", "echo -n git -C x push | sh", "printf 'git push\\n' | bash",
        "echo 'git push' >x; sh x", "echo git push > x && . ./x", "sh -c 'git push'",
        "bash -euo pipefail -c 'git push'", "bash -c 'bash -c \"git push\"'", "/bin/sh -c 'git push'",
        "eval git push", "eval 'git push'", "env git push", "env -i X=1 git push",
        "env -S 'git push'", "env -u X git push", "sudo git push", "sudo -u root git push",
        "sudo -n -- git push", "nohup git push", "nice -n 5 git push", "timeout 5 git push",
        "timeout -k 1 5 git push", "setsid -f git push", "time git push", "command git push",
        "exec git push", "xargs git push", "xargs -n 1 git push </dev/null",
        "find . -exec git push \\;", "find . -name x -execdir git push {} +", "su -c 'git push' me",
        "script -qc 'git push' /dev/null", "watch -n 1 git push", "watch 'git push'", "busybox env git push",
        "stdbuf -oL git push", "flock /tmp/x git push", "flock /tmp/x -c 'git push'",
        "trap 'git push' EXIT", "alias g='git push'; g", "unshare -r git push",
        "systemd-run --user git push", "ue exec git push", "case x in x) git push;; esac",
        "git push # nothing", "coproc git push", "nice git push &", "=git push", "sudo =git push",
        "=sudo git push", "true && =git push", "git${IFS}push", "git$IFS-C${IFS%??}x$IFS'push'",
        "$IFS git ${IFS} push", "sh -c 'git${IFS}push'", "'git'${IFS}push"};
    struct config *cfg = rules_of(base_rules);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        says(cfg, forms[i], RULE_FORBIDDEN);
    says(cfg, "rm x -rf", RULE_FORBIDDEN);
    says(cfg, "rm -v -rf x", RULE_FORBIDDEN);
    config_free(cfg);
}

TEST(test_what_only_looks_alike)
{
    static const char *const forms[] = {
        "echo git push", "echo 'git push'", "grep 'git push' f", "git log --grep push",
        "cat <<'E'\ngit push\nE\n", "echo git; echo push", "git-push", "legit push", "x/git.sh push",
        "git stash push", "cat > f <<'E'\n$(git push)\nE\n", "rm -r x", "rm rf", "man git push",
        "echo =git push", "git \"${IFS}push\"", "git$IFSX push", "git '$IFS'push", "= git push"};
    struct config *cfg = rules_of("[rule p]\nprefix = git push\ndecision = forbidden\n"
                                  "[rule r]\nprefix = rm -rf\ndecision = forbidden\n");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        says(cfg, forms[i], RULE_NONE);
    config_free(cfg);
}

TEST(test_more_than_is_looked_at)
{
    struct config *cfg = rules_of(base_rules), *allowing = rules_of("[rule a]\nprefix = a\n");
    struct buf script = BUF_INIT;
    for (int i = 0; i < SHELL_SCAN_MAX_COMMANDS + 1; i++)
        buf_append_text(&script, "a\n");
    says(cfg, script.data, RULE_FORBIDDEN);
    says(allowing, script.data, RULE_NONE);
    buf_clear(&script);
    buf_append_text(&script, "git");
    for (int i = 0; i < 5000; i++)
        buf_append_text(&script, " -c a=b");
    buf_append_text(&script, " status");
    says(cfg, script.data, RULE_FORBIDDEN); /* it gives up */
    buf_clear(&script);
    buf_append_text(&script, "git");
    for (int i = 0; i < 200; i++)
        buf_append_text(&script, " -c a=b");
    buf_append_text(&script, " status");
    says(cfg, script.data, RULE_ALLOW);
    buf_clear(&script);
    buf_append_text(&script, "git");
    for (int i = 0; i < 200; i++)
        buf_append_text(&script, " -c a=b");
    buf_append_text(&script, " push");
    says(cfg, script.data, RULE_FORBIDDEN);
    buf_clear(&script);
    buf_append_text(&script, "make test");
    for (int i = 0; i < 60000; i++)
        buf_append_text(&script, " x");
    says(cfg, script.data, RULE_FORBIDDEN);
    says(allowing, script.data, RULE_NONE);
    buf_fini(&script);
    config_free(cfg);
    config_free(allowing);
}

TEST(test_examples)
{
    struct buf why = BUF_INIT;
    struct config *cfg = rules_of("[rule a]\nprefix = git push\nmatch = \"git push x\"\n"
                                  "not_match = \"git pull\"\n"
                                  "[rule b]\nprefix = git push\nmatch = \"git pull\"\n"
                                  "[rule c]\nprefix = git\nnot_match = \"git pull\"\n");
    assert_true(rule_check_examples(&cfg->rules[0], &why));
    assert_false(rule_check_examples(&cfg->rules[1], &why));
    assert_string_equal(why.data, "the rule does not match 'git pull' of 'match'; correct one of them");
    buf_clear(&why);
    assert_false(rule_check_examples(&cfg->rules[2], &why));
    assert_string_equal(why.data, "the rule matches 'git pull' of 'not_match'; correct one of them");
    buf_fini(&why);
    config_free(cfg);
}

static void refused(void *arg, int line, const char *why)
{
    struct buf *all = arg;
    buf_printf(all, "%sline %d: %s", all->len ? "\n" : "", line, why);
}

/* expected: all refusals, a line each, or else the sections. */
static void imports(const char *text, const char *expected)
{
    struct buf out = BUF_INIT, refusals = BUF_INIT;
    rules_import("x.rules", text, &out, refused, &refusals);
    assert_string_equal(refusals.len ? refusals.data : out.data, expected);
    config_free(rules_of(out.data));
    buf_fini(&out);
    buf_fini(&refusals);
}

TEST(test_import)
{
    imports("# comment\nprefix_rule(pattern=[\"git\", [\"push\", 'pull']], decision=\"prompt\",\n"
            "  justification=\"ask\", match=[[\"git\", \"push\"], \"git pull x\"], not_match=['git log'],)\n"
            "host_executable(name=\"git\", paths=[\"/usr/bin/git\"])\n",
            "# Rules of 'x.rules', read by ue policy import.\n\n[rule imported-2]\n"
            "prefix = \"git\" \"push|pull\"\ndecision = prompt\njustification = ask\n"
            "match = \"git push\" \"git pull x\"\nnot_match = \"git log\"\nhost_executable = /usr/bin/git\n");
    imports("prefix_rule(pattern=[\"a\"])\n",
            "# Rules of 'x.rules', read by ue policy import.\n\n[rule imported-1]\nprefix = \"a\"\ndecision = allow\n");
    imports("\n\nprefix_rule(pattern=[])", "line 3: pattern cannot be empty");
    imports("prefix_rule(pattern=[\"a\", []])", "line 1: pattern alternatives cannot be empty");
    imports("prefix_rule(pattern=[\"a\"], decision=\"maybe\")", "line 1: invalid decision: maybe");
    imports("x = 1", "line 1: 'x = 1': only literal calls of prefix_rule and host_executable are taken");
    imports("network_rule(host=\"a\")",
            "line 1: network_rule: a sandbox here has all of the network or none ([policy] network), so no rule of the config can say it");
    imports("prefix_rule(pattern=\"a\")",
            "line 1: expected '[' before a list; only literal calls of prefix_rule and host_executable are taken");
    imports("prefix_rule(pattern=[\"a\"]", "line 1: expected ')' or ',' behind an argument; only literal calls of "
                                            "prefix_rule and host_executable are taken; the statement has no end: nothing behind it is read");
    imports("prefix_rule(pattern=[a])", "line 1: not a string in simple quotes; write it as one");
    imports("prefix_rule(pattern=[\"a\nb\"])", "line 1: the string has no end in its line; the statement has no end: nothing behind it is read");
    imports("prefix_rule(pattern=[\"a\\nb\"])", "line 1: 'a\\nb': muxd.ini has no way to say this string");
    imports("prefix_rule(pattern=[\"a\"], decision=\"allow\", decision=\"allow\")", "line 1: 'decision' is there twice");
    imports("prefix_rule(pattern=[\"a\"], justification=\" \")", "line 1: invalid rule: justification cannot be empty");
    imports("prefix_rule(pattern=[[\"git\", \"hg\"]])\nhost_executable(name=\"hg\", paths=[\"/bin/hg\"])\n"
            "host_executable(name=\"git\", paths=[\"/bin/git\", \"/opt/git\"])\n",
            "# Rules of 'x.rules', read by ue policy import.\n\n[rule imported-1]\nprefix = \"git|hg\"\ndecision = allow\n"
            "host_executable = /bin/git /opt/git /bin/hg\n");
    imports("\nprefix_rule(pattern=[\"a\"])\nhost_executable(name=\"a\", paths=[\"/bin/b\"])",
            "line 3: invalid rule: host_executable path `/bin/b` must have basename `a`");
    imports("prefix_rule([\"a\"], \"prompt\", not_match=[\"b\"])\n",
            "# Rules of 'x.rules', read by ue policy import.\n\n[rule imported-1]\nprefix = \"a\"\ndecision = prompt\nnot_match = \"b\"\n");
    imports("prefix_rule(pattern=[\"a|b\"])", "line 1: 'a|b': muxd.ini has no way to say this word: it is empty, or holds '|'");
    imports("prefix_rule(pattern=[[\"a|b\", \"c\"]])", "line 1: 'a|b': muxd.ini has no way to say this word: it is empty, or holds '|'");
    imports("prefix_rule(pattern=[\"a\"], match=[\"b\"])",
            "line 1: the rule does not match 'b' of 'match'; correct one of them");
    imports("prefix_rule(pattern=[\"a\"], justification=\" b\")",
            "line 1: muxd.ini has no way to say its texts as they are");
}

/* What is refused never changes what else is taken, and nothing is taken that depends on it. */
TEST(test_import_goes_on)
{
    struct buf out = BUF_INIT, refusals = BUF_INIT;
    size_t taken = rules_import("x.rules",
                                "network_rule(\n host=\"prefix_rule(\", # )\n protocol='''\n)''')\n"
                                "prefix_rule(pattern=[\"a\"])\n"
                                "if True:\n  prefix_rule(pattern=[\"b\"])\n"
                                "prefix_rule(pattern=[\"c\"]) if x else y\n"
                                "x = 1; prefix_rule(pattern=[\"d\"])\n"
                                "prefix_rule(pattern=[\"e\"], decision=\"no\")\n"
                                "prefix_rule(pattern=[\"f\"]) # taken\n"
                                "x = (\nprefix_rule(pattern=[\"g\"])\n",
                                &out, refused, &refusals);
    assert_int_equal(taken, 2);
    assert_string_equal(out.data, "# Rules of 'x.rules', read by ue policy import.\n"
                                  "\n[rule imported-5]\nprefix = \"a\"\ndecision = allow\n"
                                  "\n[rule imported-11]\nprefix = \"f\"\ndecision = allow\n");
    const char *at = refusals.data;
    static const int lines[] = {1, 6, 7, 8, 9, 10, 12};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(strtol(at + strlen("line "), NULL, 10), lines[i]);
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : "";
    }
    assert_string_equal(at, "");
    assert_non_null(strstr(refusals.data, "nothing behind it is read"));
    buf_fini(&out);
    buf_fini(&refusals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_what_is_seen),
        cmocka_unit_test(test_what_only_looks_alike),
        cmocka_unit_test(test_more_than_is_looked_at),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_import),
        cmocka_unit_test(test_import_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
