/* Loading: defaults, typed values, and every way a file can be wrong. */
#include "base/log.h"
#include "config/config.h"
#include "tests/lib/test.h"
#include "tests/lib/unit_config.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err err;

TEST(test_defaults)
{
    struct config *cfg = config_load(NULL, &err);
    assert_null(cfg->path);
    assert_null(cfg->muxd.state);
    assert_null(cfg->defaults.shell);
    assert_int_equal(cfg->muxd.log_level, LOG_INFO);
    assert_int_equal(cfg->muxd.kill_grace_ms, 500);
    assert_true(cfg->defaults.ready && cfg->defaults.login && cfg->env_policy.ignore_default_excludes);
    assert_int_equal(cfg->defaults.raw_quiet_ms, 150);
    assert_int_equal(cfg->defaults.yield_exec_ms, 10000);
    assert_int_equal(cfg->defaults.yield_write_ms, 250);
    assert_string_equal(cfg->defaults.term, "xterm-256color");
    assert_int_equal(cfg->defaults.on_slow, CONFIG_ON_SLOW_DROP);
    assert_int_equal(cfg->limits.max_sessions, 256);
    assert_int_equal(cfg->limits.keep_ended_ms, 3600000);
    assert_int_equal(cfg->limits.journal_bytes, 2097152);
    assert_int_equal(cfg->limits.head_bytes, 524288);
    assert_int_equal(cfg->limits.max_request_bytes, 8388608);
    assert_int_equal(cfg->limits.max_output_tokens, 262144);
    assert_int_equal(cfg->limits.memory_bytes, 0);
    assert_int_equal(cfg->tools.ignore_fields.count, 2);
    assert_string_equal(cfg->tools.ignore_fields.items[1], "wait_for_previous");
    assert_null(cfg->tools.ignore_fields.items[2]);
    assert_int_equal(cfg->env.vars.count, 10);
    assert_string_equal(cfg->env.vars.items[0].name, "NO_COLOR");
    assert_string_equal(cfg->env.vars.items[5].name, "COLORTERM");
    assert_string_equal(cfg->env.vars.items[5].value, "");
    assert_string_equal(cfg->env.vars.items[9].name, "CODEX_CI");
    assert_int_equal(cfg->nsessions, 0);
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++)
        assert_int_equal(cfg->lines[i], 0);
    config_free(cfg);
    config_free(NULL);
}

TEST(test_values)
{
    struct config *cfg = config_of("[muxd]\nlog = -\nlog_level = debug\nstate = /var/x\n"
                                   "[limits]\nmax_sessions = 3\nkeep_ended = 2d\njournal = 64k\n"
                                   "[defaults]\nready = no\non_slow = pause\nterm = a;b # c\n"
                                   "[tools]\nignore_fields =\n"
                                   "[env_policy]\ninherit = core\nexclude = A*, B?\nset.EDITOR = vi -c ':x ; y'\n");
    assert_string_equal(cfg->path, "m.ini");
    assert_string_equal(cfg->muxd.log, "-");
    assert_string_equal(cfg->muxd.state, "/var/x");
    assert_int_equal(cfg->muxd.log_level, LOG_DEBUG);
    assert_int_equal(cfg->limits.max_sessions, 3);
    assert_int_equal(cfg->lines[CONFIG_ROW_limits_max_sessions], 6);
    assert_int_equal(cfg->lines[CONFIG_ROW_limits_head], 0);
    assert_int_equal(cfg->limits.keep_ended_ms, 172800000);
    assert_int_equal(cfg->limits.journal_bytes, 65536);
    assert_false(cfg->defaults.ready);
    assert_string_equal(cfg->defaults.term, "a;b # c");
    assert_int_equal(cfg->defaults.on_slow, CONFIG_ON_SLOW_PAUSE);
    assert_int_equal(cfg->tools.ignore_fields.count, 0);
    assert_int_equal(cfg->env_policy.inherit, CONFIG_INHERIT_CORE);
    assert_string_equal(cfg->env_policy.exclude.items[1], "B?");
    assert_string_equal(cfg->env_policy.set.items[0].name, "EDITOR");
    assert_string_equal(cfg->env_policy.set.items[0].value, "vi -c ':x ; y'");
    assert_int_equal(cfg->env_policy.set.items[0].line, 18);
    config_free(cfg);
}

TEST(test_env_section_replaces)
{
    struct config *cfg = config_of("[env]\nTERM = xterm\nX =\n");
    assert_int_equal(cfg->env.vars.count, 2);
    assert_string_equal(cfg->env.vars.items[0].value, "xterm");
    assert_string_equal(cfg->env.vars.items[1].value, "");
    config_free(cfg);
    cfg = config_of("[env]\n");
    assert_int_equal(cfg->env.vars.count, 0);
    config_free(cfg);
    config_refused("[env]\nA = 1\nB = 2\nA = 1\n", "m.ini:4: [env] A: it is there already, in line 2; remove one of them");
    config_refused("[env]\nA.B = 1\n",
                   "m.ini:2: [env] A.B: 'A.B' is no variable's name; allowed: letters, digits and _, no digit in front");
    config_refused("[env_policy]\nset. = 1\n",
                   "m.ini:2: [env_policy] set.: '' is no variable's name; allowed: letters, digits and _, no digit in front");
}

TEST(test_home)
{
    setenv("HOME", "/home/ada", 1);
    struct config *cfg = config_of("[muxd]\nstate = ~/s\nlog = ~\n");
    assert_string_equal(cfg->muxd.state, "/home/ada/s");
    assert_string_equal(cfg->muxd.log, "/home/ada");
    config_free(cfg);
}

TEST(test_wrong_values)
{
    config_refused("[limits]\nmax_sessions = 0\n", "m.ini:2: [limits] max_sessions: '0' is not allowed here; allowed: 1 to 65536");
    config_refused("[limits]\nmax_sessions = 65537\n", "m.ini:2: [limits] max_sessions: '65537' is not allowed here; allowed: 1 to 65536");
    config_refused("[limits]\nmax_sessions = -1\n", "m.ini:2: [limits] max_sessions: '-1' is not allowed here; allowed: 1 to 65536");
    config_refused("[limits]\nmax_sessions = 4294967297\n",
                   "m.ini:2: [limits] max_sessions: '4294967297' is not allowed here; allowed: 1 to 65536");
    config_refused("[limits]\nmax_sessions =\n", "m.ini:2: [limits] max_sessions: '' is not allowed here; allowed: 1 to 65536");
    config_refused("[limits]\n\nmax_sessions = 5 ; five\n", "m.ini:3: [limits] max_sessions: '5 ; five' is not allowed here "
                   "(a comment needs a line of its own); allowed: 1 to 65536");
    config_refused("[limits]\njournal = 1k\n", "m.ini:2: [limits] journal: '1k' is not allowed here; allowed: 64k to 1G");
    config_refused("[limits]\njournal = 99999999999G\n",
                   "m.ini:2: [limits] journal: '99999999999G' is not allowed here; allowed: 64k to 1G");
    config_refused("[limits]\nmax_wait = inf\n", "m.ini:2: [limits] max_wait: 'inf' is not allowed here; allowed: 1s to 7d");
    config_refused("[defaults]\nraw_quiet = 1\n", "m.ini:2: [defaults] raw_quiet: '1' is not allowed here; allowed: 10ms to 1m");
    config_refused("[defaults]\nready = maybe\n", "m.ini:2: [defaults] ready: 'maybe' is not allowed here; allowed: yes or no");
    config_refused("[defaults]\non_slow = disconnect\n",
                   "m.ini:2: [defaults] on_slow: 'disconnect' is not allowed here; allowed: drop or pause");
    config_refused("[muxd]\nlog_level = \"info\"\n",
                   "m.ini:2: [muxd] log_level: '\"info\"' is not allowed here; allowed: error, warn, info or debug");
    config_refused("[muxd]\nstate = var\n", "m.ini:2: [muxd] state: 'var' is not allowed here; allowed: an absolute path or ~/PATH");
    config_refused("[muxd]\nlog = ~bob/x\n", "m.ini:2: [muxd] log: '~bob/x' is not allowed here; allowed: an absolute path or ~/PATH or -");
    config_refused("[tools]\nignore_fields = a b a\n",
                   "m.ini:2: [tools] ignore_fields: 'a b a' is not allowed here; allowed: words separated by blanks, none twice");
    config_refused("[env_policy]\nexclude = [ab]\n", "m.ini:2: [env_policy] exclude: '[ab]' is not allowed here; allowed: patterns of "
                   "letters, digits, _, * and ?, separated by blanks, none twice");
}

TEST(test_long_wrong_value_is_cut)
{
    char text[4200];
    snprintf(text, sizeof(text), "[limits]\nmax_sessions = %04000d\n", 99999999);
    assert_null(config_parse("m.ini", text, strlen(text), &err));
    assert_non_null(strstr(err.text, "...' is not allowed here; allowed: 1 to 65536"));
}

TEST(test_unknown)
{
    config_refused("[limits]\nmax_sesions = 3\n", "m.ini:2: [limits] max_sesions: unknown key; did you mean 'max_sessions'?");
    config_refused("[muxd]\nKILL_GRACE = 3\n",
                   "m.ini:2: [muxd] KILL_GRACE: unknown key; allowed: state, log, log_level, keep_on_disk, kill_grace, leftovers");
    config_refused("[env_policy]\nxyzzyxyzzy = 3\n",
                   "m.ini:2: [env_policy] xyzzyxyzzy: unknown key; allowed: inherit, ignore_default_excludes, "
                   "exclude, set.NAME, include_only");
    config_refused("[limts]\n", "m.ini:1: [limts]: unknown section; did you mean 'limits'?");
    config_refused("[sesion py]\n", "m.ini:1: [sesion py]: unknown section; did you mean 'session'?");
    config_refused("[\xc2\x9b]\n",
                   "m.ini:1: [\\xc2\\x9b]: unknown section; allowed: muxd, defaults, env, env_policy, limits, tools, attach, "
                   "policy, audit, sandbox, session, hook, rule");
    config_refused("[limits x]\n", "m.ini:1: [limits x]: the section has no name of its own; write [limits]");
}

TEST(test_duplicates)
{
    config_refused("[limits]\nwaits = 3\nidle = 1\nwaits = 3\n",
                   "m.ini:4: [limits] waits: it is there already, in line 2; remove one of them");
    config_refused("[limits]\n[muxd]\n[limits]\n", "m.ini:3: [limits]: the section is there already, in line 1; put its keys together");
}

TEST(test_not_available)
{
    config_free(config_of("[policy]\n[sandbox]\n"));
    config_refused("[sandbox]\nx = y\n", "m.ini:2: [sandbox] x: not available in this version; remove the line");
    config_refused("[rule]\n", "m.ini:1: [rule]: the section needs a name; write [rule NAME]");
}

TEST(test_rules)
{
    struct config *cfg = config_of("[rule a]\nprefix = git push|pull\ndecision = forbidden\n[rule b]\nprefix = \"a b\"\n");
    assert_int_equal(cfg->nrules, 2);
    assert_string_equal(cfg->rules[0].prefix.items[1], "push|pull");
    assert_int_equal(cfg->rules[0].decision, CONFIG_DECISION_FORBIDDEN);
    assert_int_equal(cfg->rules[1].decision, CONFIG_DECISION_ALLOW);
    assert_string_equal(cfg->rules[1].prefix.items[0], "a b");
    config_free(cfg);
    config_refused("[hook a]\nrun = true\n\non = start end\n", "m.ini:4: [hook a] on: 'start' is no event; ue help events lists them");
    config_refused("\n[hook a]\non = end\n", "m.ini:2: [hook a]: it has no command; add 'run'");
    config_refused("[rule a]\ndecision = allow\n", "m.ini:1: [rule a]: it has no command; add 'prefix', as in 'prefix = git push'");
    config_refused("[rule a]\nprefix = a|\n", "m.ini:1: [rule a]: 'a|' in 'prefix' has an empty alternative; write 'a|b'");
    config_refused("[rule a]\nprefix = git|got\nhost_executable = /usr/bin/gut\n",
                   "m.ini:1: [rule a]: '/usr/bin/gut' in 'host_executable' does not end with 'git|got'");
}

TEST(test_policies)
{
    struct config *cfg = config_of("[policy]\napproval = untrusted\n[policy mcp]\napproval = granular\nrules = no\n"
                                   "ask_timeout = 5s\n[session py]\ncmd = python3\nprofile = mcp\n");
    assert_int_equal(cfg->npolicies, 2);
    assert_int_equal(config_policy_find(cfg, "")->approval, CONFIG_APPROVAL_UNTRUSTED);
    assert_int_equal(config_policy_find(cfg, "")->ask_timeout_ms, 600000);
    assert_int_equal(config_policy_find(cfg, "mcp")->approval, CONFIG_APPROVAL_GRANULAR);
    assert_false(config_policy_find(cfg, "mcp")->rules);
    assert_true(config_policy_find(cfg, "mcp")->sandbox_approval);
    assert_null(config_policy_find(cfg, "m"));
    config_free(cfg);
    cfg = config_of("[policy x]\n");
    assert_int_equal(config_policy_find(cfg, "x")->approval, CONFIG_APPROVAL_OFF);
    config_free(cfg);
    config_refused("[policy]\napproval = on-failure\n",
                   "m.ini:2: [policy] approval: 'on-failure' is not allowed here; allowed: off, never, on-request, untrusted or granular");
    config_refused("[policy]\n[policy]\n", "m.ini:2: [policy]: the section is there already, in line 1; put its keys together");
    config_refused("[policy -x]\n", "m.ini:1: [policy -x]: not a policy's name; allowed: as for a session, letters, digits, '_', '.' and '-'");
    config_refused("[session a]\ncmd = x\nprofile = p\n", "m.ini:1: [session a]: there is no [policy p], which 'profile' names; add it");
}

static struct config *image_of(const char *text, size_t size, struct err *why)
{
    return config_from_image("d/m.ini", text, size, why);
}

TEST(test_rules_file)
{
    struct err wrong = {0};
    static const char text[] = "[rule a]\nprefix = a\n\0\n[rule b]\nprefix = b\n";
    struct config *cfg = image_of(text, sizeof text - 1, &wrong), *again;
    struct buf image = BUF_INIT;
    assert_non_null(cfg);
    assert_int_equal(cfg->nrules, 2);
    assert_string_equal(config_rule_path(cfg, &cfg->rules[0]), "d/m.ini");
    assert_string_equal(config_rule_path(cfg, &cfg->rules[1]), "d/m.rules");
    assert_int_equal(cfg->rules[1].line, 2);
    config_image(cfg, &image);
    again = image_of(image.data, image.len, &wrong);
    assert_int_equal(again->nrules, 2);
    config_free(again);
    config_free(cfg);
    buf_fini(&image);
    static const char foreign[] = "\0[limits]\nwaits = 3\n", twice[] = "[rule a]\nprefix = a\n\0[rule a]\nprefix = b\n",
                      bad[] = "\0[rule a]\n";
    assert_null(image_of(foreign, sizeof foreign - 1, &wrong));
    assert_string_equal(wrong.text, "d/m.rules:1: [limits]: only [rule NAME] sections may stand in this file");
    assert_null(image_of(twice, sizeof twice - 1, &wrong));
    assert_string_equal(wrong.text, "d/m.rules:1: [rule a]: the section is there already, in line 1 of 'd/m.ini'; rename one of them");
    assert_null(image_of(bad, sizeof bad - 1, &wrong));
    assert_string_equal(wrong.text, "d/m.rules:1: [rule a]: it has no command; add 'prefix', as in 'prefix = git push'");
    static const char together[] = "[limits]\njournal = 1M\njournal_total = 512k\n\0[rule a]\nprefix = a\n";
    assert_null(image_of(together, sizeof together - 1, &wrong));
    assert_string_equal(wrong.text, "d/m.ini:2: [limits] journal: it does not fit '[limits] journal_total'; allowed: at most 512k");
    char *other = config_rules_path("x/muxd.conf");
    assert_string_equal(other, "x/muxd.conf.rules");
    free(other);
}

TEST(test_together)
{
    config_refused("[limits]\njournal = 1M\njournal_total = 512k\n",
                   "m.ini:2: [limits] journal: it does not fit '[limits] journal_total'; allowed: at most 512k");
    config_refused("[limits]\njournal_total = 1M\n",
                   "m.ini:2: [limits] journal_total: it does not fit '[limits] journal'; allowed: at least 2M");
    config_refused("[limits]\nmax_output_tokens = 5\n",
                   "m.ini:2: [limits] max_output_tokens: it does not fit '[defaults] max_output_tokens'; allowed: at least 10000");
    config_refused("[limits]\nmax_wait = 1s\n", "m.ini:2: [limits] max_wait: it does not fit '[defaults] yield_exec'; allowed: at least 10s");
}

TEST(test_many_variables)
{
    struct buf text = BUF_INIT;
    buf_append_text(&text, "[env]\n");
    for (int i = 0; i < CONFIG_MAX_VARS; i++)
        buf_printf(&text, "V%d = %d\n", i, i);
    config_free(config_of(text.data));
    buf_append_text(&text, "ONE = more\n");
    config_refused(text.data, "m.ini:1026: [env] ONE: too many variables; allowed: 1024 in a section");
    buf_fini(&text);
}

static char dir[] = "/tmp/muxd-test-config-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

TEST(test_files)
{
    char path[100], want[300];
    snprintf(path, sizeof(path), "%s/muxd.ini", dir);
    assert_null(config_load(path, &err));
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_non_null(strstr(err.text, "No such file"));
    assert_null(config_load(dir, &err));
    snprintf(want, sizeof(want), "'%s' is no regular file; name an ini file", dir);
    assert_string_equal(err.text, want);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(config_load(path, &err)); /* and does not wait for a writer */
    assert_int_equal(unlink(path), 0);

    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs("[limits]\nwaits = 77\nbroken", file);
    fclose(file);
    assert_null(config_load(path, &err));
    snprintf(want, sizeof(want), "%s:3: ", path);
    assert_memory_equal(err.text, want, strlen(want));
    assert_int_equal(truncate(path, 20), 0);
    struct config *cfg = config_load(path, &err);
    assert_non_null(cfg);
    assert_int_equal(cfg->limits.waits, 77);
    assert_string_equal(cfg->path, path);
    config_free(cfg);

    assert_int_equal(truncate(path, CONFIG_MAX_FILE + 1), 0);
    assert_null(config_load(path, &err));
    assert_non_null(strstr(err.text, "is larger than 1048576 bytes"));
    assert_int_equal(unlink(path), 0);
    cfg = config_load("/dev/null", &err);
    assert_non_null(cfg);
    config_free(cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_env_section_replaces),
        cmocka_unit_test(test_home),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_long_wrong_value_is_cut),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_not_available), cmocka_unit_test(test_rules),
        cmocka_unit_test(test_policies), cmocka_unit_test(test_rules_file), cmocka_unit_test(test_together),
        cmocka_unit_test(test_many_variables),
        cmocka_unit_test_setup_teardown(test_files, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
