/* the outcomes of the approval policies, and their texts (CODEX.md 15) */
#include "base/strv.h"
#include "guard/policy.h"
#include "tests/lib/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char rules[] = "[rule pull]\nprefix = git pull\ndecision = prompt\n"
                            "[rule fetch]\nprefix = git fetch\ndecision = prompt\njustification = it talks\n"
                            "[rule push]\nprefix = git push\ndecision = forbidden\n"
                            "[rule make]\nprefix = make\n[rule clean]\nprefix = rm -f\n";

struct asked {
    enum policy_answer answer;
    char words[600];
};

static struct asked ask_words(const char *policy, const char *const *argv, bool confined, bool escalated)
{
    struct err wrong = {0};
    struct buf text = BUF_INIT, words = BUF_INIT;
    buf_printf(&text, "%s[policy p]\n%s\n", rules, policy);
    struct config *cfg = config_parse("m.ini", text.data, text.len, &wrong);
    if (!cfg)
        fail_msg("%s", wrong.text);
    char **owned = strv_dup(argv);
    struct rule_case judged;
    struct policy_verdict verdict;
    rules_open(&judged, owned);
    policy_decide(cfg, config_policy_find(cfg, "p"), &judged, confined, escalated, &verdict);
    if (verdict.answer != POLICY_RUN)
        policy_words(config_policy_find(cfg, "p"), &judged, &verdict, "CMD", &words);
    struct asked asked = {.answer = verdict.answer};
    snprintf(asked.words, sizeof asked.words, "%s", words.data ? words.data : "");
    rules_close(&judged);
    strv_free(owned);
    config_free(cfg);
    buf_fini(&text);
    buf_fini(&words);
    return asked;
}

static struct asked ask_for(const char *policy, const char *script, bool confined, bool escalated)
{
    const char *const argv[] = {"/bin/bash", "-lc", script, NULL};
    return ask_words(policy, argv, confined, escalated);
}

static void says(const char *policy, const char *script, enum policy_answer answer, const char *words)
{
    struct asked asked = ask_for(policy, script, false, false);
    if (asked.answer != answer || strcmp(asked.words, words) != 0)
        fail_msg("%s: %s: %d %s", policy, script, asked.answer, asked.words);
}

#define RM "rm -f style commands are not permitted. Use a safer approach"
#define BY_POLICY "`CMD` requires approval by policy"
#define FORBIDS "`/bin/bash -lc 'git push'` rejected: policy forbids commands starting with `git push`"

TEST(test_never)
{
    const char *p = "approval = never";
    says(p, "touch x", POLICY_RUN, "");
    says(p, "rm -rf x", POLICY_REFUSE, "`CMD` rejected: " RM);
    says(p, "rm -f x", POLICY_RUN, ""); /* a rule allows it */
    says(p, "touch x; rm -rf x", POLICY_REFUSE, "`CMD` rejected: " RM);
    says(p, "git pull", POLICY_REFUSE, "approval required by policy, but AskForApproval is set to Never");
    says(p, "git push", POLICY_REFUSE, FORBIDS);
}

TEST(test_on_request)
{
    const char *p = "approval = on-request";
    says(p, "touch x > y", POLICY_RUN, "");
    says(p, "rm -rf x", POLICY_ASK, BY_POLICY);
    says(p, "for i in a; do rm -rf $i; done", POLICY_ASK, BY_POLICY);
    says(p, "git pull", POLICY_ASK, BY_POLICY);
    says(p, "git fetch", POLICY_ASK, "`CMD` requires approval: it talks");
    says(p, "git push", POLICY_REFUSE, FORBIDS);
    assert_int_equal(ask_for(p, "ls", false, true).answer, POLICY_RUN); /* nothing confines it anyway */
    assert_int_equal(ask_for(p, "ls", true, true).answer, POLICY_ASK);  /* safe, and asks all the same */
    assert_int_equal(ask_for(p, "ls", true, false).answer, POLICY_RUN);
    assert_int_equal(ask_for(p, "make", true, true).answer, POLICY_RUN); /* a rule allows it */
}

TEST(test_untrusted)
{
    const char *p = "approval = untrusted";
    says(p, "ls; cat x | wc -l", POLICY_RUN, "");
    says(p, "make all && ls", POLICY_RUN, "");
    says(p, "ls > x", POLICY_ASK, BY_POLICY); /* not plain */
    says(p, "ls $X", POLICY_ASK, BY_POLICY);
    says(p, "'ls'", POLICY_ASK, BY_POLICY);
    says(p, "./ls", POLICY_ASK, BY_POLICY);
    says(p, "ls; touch x", POLICY_ASK, BY_POLICY);
    says(p, "cat <<'E'\nx\nE\n", POLICY_ASK, BY_POLICY);
    says(p, "git push", POLICY_REFUSE, FORBIDS);
}

TEST(test_untrusted_shells)
{
    static const struct { const char *shell; enum policy_answer answer;
    } shells[] = {{"bash", POLICY_RUN}, {"/bin/sh", POLICY_RUN}, {"/usr/bin/zsh", POLICY_RUN}, {"/usr/local/bin/ksh", POLICY_RUN},
                  {"dash", POLICY_RUN}, {"/tmp/bash", POLICY_ASK}, {"./sh", POLICY_ASK}, {"bin/bash", POLICY_ASK},
                  {"/usr/bin/../../tmp/bash", POLICY_ASK}, {"fish", POLICY_ASK}, {"/usr/bin/fish", POLICY_ASK}, {"yash", POLICY_ASK}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        const char *const safe[] = {shells[i].shell, "-c", "ls", NULL}, *const allowed[] = {shells[i].shell, "-c", "make all", NULL},
                          *const strict[] = {shells[i].shell, "-c", "git push", NULL};
        if (ask_words("approval = untrusted", safe, false, false).answer != shells[i].answer ||
            ask_words("approval = untrusted", allowed, false, false).answer != shells[i].answer)
            fail_msg("%s -c", shells[i].shell);
        assert_int_equal(ask_words("approval = untrusted", strict, false, false).answer, POLICY_REFUSE);
    }
}

TEST(test_untrusted_looks_at_every_word)
{
    const char *words[203] = {"find", "."};
    for (size_t i = 2; i < 201; i++)
        words[i] = "-name";
    assert_int_equal(ask_words("approval = untrusted", words, false, false).answer, POLICY_RUN);
    words[201] = "-delete";
    assert_int_equal(ask_words("approval = untrusted", words, false, false).answer, POLICY_ASK);
}

TEST(test_granular)
{
    says("approval = granular", "rm -rf x", POLICY_ASK, BY_POLICY);
    says("approval = granular", "git pull", POLICY_ASK, BY_POLICY);
    says("approval = granular\nrules = no", "git pull", POLICY_REFUSE,
         "approval required by policy rule, but AskForApproval::Granular.rules is false");
    says("approval = granular\nrules = no", "rm -rf x", POLICY_ASK, BY_POLICY);
    says("approval = granular\nsandbox_approval = no", "rm -rf x", POLICY_REFUSE, RM);
    says("approval = granular\nsandbox_approval = no", "git pull", POLICY_ASK, BY_POLICY);
    struct asked asked = ask_for("approval = granular\nsandbox_approval = no", "touch x", true, true);
    assert_int_equal(asked.answer, POLICY_REFUSE);
    assert_string_equal(asked.words, "approval required by policy, but AskForApproval::Granular.sandbox_approval is false");
}

TEST(test_off)
{
    says("", "rm -rf x", POLICY_RUN, "");
    says("", "git pull", POLICY_REFUSE, "approval required by policy, but AskForApproval is set to Never");
    says("", "git push", POLICY_REFUSE, FORBIDS);
}

TEST(test_names)
{
    static const struct { const char *text, *name; } names[] = {
        {"", "Never"}, {"approval = never", "Never"}, {"approval = on-request", "OnRequest"}, {"approval = untrusted", "UnlessTrusted"},
        {"approval = granular\nrules = no", "Granular(GranularApprovalConfig { sandbox_approval: true, rules: false, skill_approval: "
                                            "false, request_permissions: false, mcp_elicitations: false })"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct err wrong;
        struct buf text = BUF_INIT, name = BUF_INIT;
        buf_printf(&text, "[policy]\n%s\n", names[i].text);
        struct config *cfg = config_parse("m.ini", text.data, text.len, &wrong);
        policy_name(config_policy_find(cfg, ""), &name);
        assert_string_equal(name.data, names[i].name);
        config_free(cfg);
        buf_fini(&text);
        buf_fini(&name);
    }
}

static char **words_of(const char *text)
{
    struct strv words = {0};
    char *copy = strdup(text), *rest = copy;
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        strv_add(&words, word);
    free(copy);
    return strv_take(&words);
}

TEST(test_banned_prefixes)
{
    static const char *const banned[] = {"bash", "/bin/bash", "bash -lc", "sh -c", "zsh -lc", "dash", "ksh -c", "fish -c", "env", "git", "rm",
                                         "sudo", "python", "python3 -c", "python -", "py -3", "node -e", "perl -e", "php -r", "deno eval",
                                         "bun run", "npm run", "pnpm run", "yarn run", "cmd.exe /c", "pwsh -ec", "Rscript", "osascript"},
                            *const fine[] = {"git pull", "npm test", "npm", "python3 -m", "python -c print(1)", "make", "ls -l", "bash x.sh",
                                             "rm -r x"};
    for (size_t i = 0; i < sizeof banned / sizeof *banned + sizeof fine / sizeof *fine; i++) {
        bool bad = i < sizeof banned / sizeof *banned;
        const char *text = bad ? banned[i] : fine[i - sizeof banned / sizeof *banned];
        char **words = words_of(text);
        if (policy_is_banned_prefix(words) != bad)
            fail_msg("%s: %s", text, bad ? "not banned" : "banned");
        strv_free(words);
    }
}

static void offers(const char *script, const char *wish, const char *offered)
{
    struct err wrong;
    static const char text[] = "[rule make]\nprefix = make\n[policy p]\napproval = untrusted\n";
    struct config *cfg = config_parse("m.ini", text, strlen(text), &wrong);
    const char *const argv[] = {"bash", "-lc", script, NULL};
    char **owned = strv_dup(argv), **words = wish ? words_of(wish) : NULL;
    struct rule_case judged;
    struct policy_verdict verdict;
    rules_open(&judged, owned);
    policy_decide(cfg, config_policy_find(cfg, "p"), &judged, false, false, &verdict);
    char **got = policy_offer(cfg, &judged, &verdict, words);
    char *shown = got ? strv_quoted(got) : NULL;
    if ((shown != NULL) != (offered != NULL) || (shown && strcmp(shown, offered) != 0))
        fail_msg("%s, %s: %s", script, wish ? wish : "-", shown ? shown : "nothing");
    free(shown);
    strv_free(got);
    strv_free(words);
    strv_free(owned);
    rules_close(&judged);
    config_free(cfg);
}

TEST(test_offers)
{
    offers("npm test -- x", NULL, "npm test -- x");
    offers("npm test -- x", "npm test", "npm test");
    offers("npm test && npm lint", "npm", "npm");
    offers("npm test && touch x", "npm", "npm test");
    offers("python3 -c x", "python3 -c", "python3 -c x");
    offers("python3", "python3", NULL);
    offers("make; npm test", "npm", "npm test"); /* a rule matches a part */
    offers("npm test > x", "npm", NULL);
    offers("cat <<'E'\nx\nE\n", NULL, NULL);
    offers("npm 'a\nb'", NULL, NULL);
    offers("npm 'a|b'", NULL, NULL);
    offers("npm a\u202eb", NULL, NULL);
    offers("npm a\x9b", NULL, NULL);
    offers("npm ''", NULL, NULL);
    offers("npm \u00e4", NULL, "npm '\u00e4'");
    offers("ls; npm test", "cargo", "npm test");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never),     cmocka_unit_test(test_on_request), cmocka_unit_test(test_untrusted),
        cmocka_unit_test(test_untrusted_shells), cmocka_unit_test(test_untrusted_looks_at_every_word),
        cmocka_unit_test(test_granular),  cmocka_unit_test(test_off),        cmocka_unit_test(test_names),
        cmocka_unit_test(test_banned_prefixes), cmocka_unit_test(test_offers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
