/* The texts made from a config and from the table: ue config, the sample file, the man page's lists. */
#include "base/buf.h"
#include "config/config_row.h"
#include "tests/lib/test.h"
#include "tests/lib/unit_config.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err err;

TEST(test_print)
{
    static const char text[] = "[limits]\njournal = 4096k\nidle = 90s\n[env]\nA = x ; y\n[session py]\ncmd = python3\non_start = 1\\n\n";
    struct config *cfg = config_of(text);
    struct buf out = BUF_INIT;
    assert_true(config_print(&out, cfg, NULL));
    static const char *const lines[] = {
        "default\t[limits] max_sessions = 256\n", "m.ini:2\t[limits] journal = 4M\n",          "m.ini:3\t[limits] idle = 90s\n",
        "m.ini:5\t[env] A = x ; y\n",             "m.ini:7\t[session py] cmd = python3\n",     "m.ini:8\t[session py] on_start = 1\\n\n",
        "default\t[session py] tty = yes\n",      "m.ini:3\t[session py] idle = 90s\n",        "default\t[defaults] shell =\n",
        "default\t[defaults] raw_quiet = 150ms\n", "default\t[tools] ignore_fields = description wait_for_previous\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (!strstr(out.data, lines[i]))
            fail_msg("'%s' is not in:\n%s", lines[i], out.data);
    assert_null(strstr(out.data, "NO_COLOR"));
    buf_fini(&out);
    assert_true(config_print(&out, cfg, "env"));
    assert_string_equal(strchr(out.data, '\t'), "\t[env] A = x ; y\n");
    buf_fini(&out);
    assert_int_equal(config_check_section("session", &err), 0);
    assert_int_equal(config_check_section("limit", &err), ERR_ARGUMENTS);
    assert_non_null(strstr(err.text, "did you mean 'limits'?"));
    buf_init(&out, 100);
    assert_false(config_print(&out, cfg, NULL));
    buf_fini(&out);
    config_free(cfg);
}

static void count_item(void *ctx, const struct config_item *item)
{
    assert_non_null(item->section);
    assert_non_null(item->value);
    assert_true((strcmp(item->section, "session") == 0) == (item->name != NULL));
    ++*(size_t *)ctx;
}

TEST(test_each)
{
    struct config *cfg = config_default();
    size_t count = 0, first, end, policies, last;
    config_each(cfg, NULL, count_item, &count);
    config_section_rows("policy", &policies, &last);
    config_section_rows("session", &first, &end);
    assert_int_equal(count, first - (last - policies) - 2 + cfg->env.vars.count); /* env.* and env_policy.set.* are one row each */
    config_free(cfg);
}

/* Takes the '#' from every line that is a setting: sample lines begin with "#x", explanations with "# ". */
static void uncomment(struct buf *text)
{
    for (size_t i = 0; i + 1 < text->len; i++)
        if (text->data[i] == '#' && text->data[i + 1] != ' ' && (i == 0 || text->data[i - 1] == '\n'))
            text->data[i] = ' ';
}

static void note_change(void *ctx, const struct config_change *change)
{
    (void)ctx;
    bool named = strcmp(change->section, "session") == 0 || strcmp(change->section, "hook") == 0 || strcmp(change->section, "rule") == 0 ||
                 strcmp(change->section, "policy") == 0;
    if (!named || change->key)
        fail_msg("[%s] %s changed from '%s' to '%s'", change->section, change->key, change->old_value, change->new_value);
}

TEST(test_sample)
{
    struct buf text = BUF_INIT;
    assert_true(config_sample(&text));
    struct config *defaults = config_default(), *commented = config_of_bytes(text.data, text.len);
    assert_int_equal(config_diff(defaults, commented, NULL, NULL), 0);
    uncomment(&text);
    struct config *cfg = config_of_bytes(text.data, text.len);
    assert_int_equal(config_diff(defaults, cfg, note_change, NULL), 5); /* the two example sessions, a hook, a rule and a policy */
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++) {
        const struct config_row *row = &config_rows[i];
        const int *lines = strcmp(row->section, "policy") == 0    ? cfg->policies[0].lines
                           : strcmp(row->section, "hook") == 0      ? cfg->hooks[0].lines
                           : strcmp(row->section, "rule") == 0    ? cfg->rules[0].lines
                           : strcmp(row->section, "session") != 0 ? cfg->lines
                                                                  : cfg->sessions[i == CONFIG_ROW_session_argv].lines;
        if (lines[i] == 0 && (row->type != CONFIG_VARS || *row->fallback))
            fail_msg("[%s] %s is not in the sample", row->section, row->key);
    }
    assert_int_equal(cfg->nsessions, 2);
    assert_string_equal(cfg->sessions[0].cmd, "python3 -q");
    assert_int_equal(cfg->sessions[1].argv.count, 3);
    config_free(cfg);
    config_free(commented);
    config_free(defaults);
    buf_fini(&text);
    buf_init(&text, 200);
    assert_false(config_sample(&text));
    buf_fini(&text);
}

TEST(test_man)
{
    struct buf out = BUF_INIT;
    assert_true(config_man(&out));
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++) {
        char want[100];
        if (config_rows[i].type == CONFIG_VARS)
            snprintf(want, sizeof(want), "\n.B %sNAME\n", config_rows[i].prefix);
        else
            snprintf(want, sizeof(want), "\n.B %s\n", config_rows[i].key);
        assert_non_null(strstr(out.data, want));
    }
    assert_non_null(strstr(out.data, ".SS [session NAME]\n"));
    assert_non_null(strstr(out.data, "Allowed: 1 to 65536. Default: 256.\n"));
    assert_non_null(strstr(out.data, "\\en is Enter"));
    buf_fini(&out);
}

TEST(test_gen)
{
    char dir[] = "/tmp/muxd-test-gen-XXXXXX", path[100];
    assert_non_null(mkdtemp(dir));
    assert_int_equal(config_gen(dir, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "No such file"));
    snprintf(path, sizeof(path), "%s/conf", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(config_gen(dir, &err), 0);
    snprintf(path, sizeof(path), "%s/conf/muxd.ini", dir);
    struct config *cfg = config_load(path, &err);
    assert_non_null(cfg);
    config_free(cfg);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/conf/muxd.ini.5", dir);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/conf", dir);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_man),
        cmocka_unit_test(test_gen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
