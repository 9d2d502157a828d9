/* The table itself, and one value of each type in and out. */
#include "base/buf.h"
#include "config/config_row.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <string.h>

TEST(test_table)
{
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++) {
        const struct config_row *row = &config_rows[i];
        assert_non_null(row->section);
        assert_non_null(row->help);
        assert_non_null(row->fallback);
        assert_true(row->help[0] && row->help[strlen(row->help) - 1] == '.');
        assert_non_null(config_section_find(row->section, strlen(row->section)));
        if (row->type == CONFIG_INT || row->type == CONFIG_BYTES || row->type == CONFIG_MS)
            assert_true(row->min < row->max);
        assert_true(row->type != CONFIG_ENUM || row->words);
        assert_true(row->type != CONFIG_VARS || row->prefix);
        for (size_t j = 0; j < i; j++)
            assert_false(strcmp(row->section, config_rows[j].section) == 0 && strcmp(row->key, config_rows[j].key) == 0);
        if (row->from == 0)
            continue;
        const struct config_row *from = &config_rows[row->from];
        assert_string_equal(row->key, from->key);
        assert_int_equal(row->type, from->type);
        assert_int_equal(row->min, from->min);
        assert_int_equal(row->max, from->max);
        assert_ptr_equal(row->words, from->words);
    }
    assert_null(config_section_find("session", 6));
    assert_null(config_section_find("sessions", 8));
}

/* Row id of what stands in [defaults], [limits] and so on, set to text, reads back as want. */
static void round_trip(struct config *cfg, enum config_row_id id, const char *text, const char *want)
{
    struct buf out = BUF_INIT, why = BUF_INIT;
    if (!config_row_set(&config_rows[id], cfg, text, &why))
        fail_msg("%s", why.data);
    config_row_format(&config_rows[id], cfg, &out);
    assert_string_equal(out.data ? out.data : "", want);
    /* What was shown means the same again. */
    assert_true(config_row_set(&config_rows[id], cfg, want, &why));
    buf_clear(&out);
    config_row_format(&config_rows[id], cfg, &out);
    assert_string_equal(out.data ? out.data : "", want);
    assert_int_equal(why.len, 0);
    buf_fini(&out);
    buf_fini(&why);
}

TEST(test_round_trips)
{
    struct config *cfg = config_default();
    round_trip(cfg, CONFIG_ROW_limits_max_sessions, "00012", "12");
    round_trip(cfg, CONFIG_ROW_defaults_ready, "Off", "no");
    round_trip(cfg, CONFIG_ROW_limits_journal, "65536", "64k");
    round_trip(cfg, CONFIG_ROW_limits_journal, "65537", "65537");
    round_trip(cfg, CONFIG_ROW_limits_journal, "1024MiB", "1G");
    round_trip(cfg, CONFIG_ROW_limits_memory, "0", "0");
    round_trip(cfg, CONFIG_ROW_limits_keep_ended, "86400", "86400ms");
    round_trip(cfg, CONFIG_ROW_limits_keep_ended, "48h", "2d");
    round_trip(cfg, CONFIG_ROW_limits_keep_ended, "90m", "90m");
    round_trip(cfg, CONFIG_ROW_limits_keep_ended, "0", "0");
    round_trip(cfg, CONFIG_ROW_muxd_log_level, "warn", "warn");
    round_trip(cfg, CONFIG_ROW_muxd_log, "-", "-");
    round_trip(cfg, CONFIG_ROW_muxd_state, "/a b", "/a b");
    round_trip(cfg, CONFIG_ROW_muxd_state, "", "");
    round_trip(cfg, CONFIG_ROW_tools_ignore_fields, " a,\tb ,c", "a b c");
    round_trip(cfg, CONFIG_ROW_tools_ignore_fields, "", "");
    round_trip(cfg, CONFIG_ROW_env_policy_exclude, "A*,?B", "A* ?B");
    config_free(cfg);
}

TEST(test_session_round_trips)
{
    struct config *cfg = config_default();
    void *session = config_named_add(&config_kinds[0], cfg, "s", 1);
    round_trip(session, CONFIG_ROW_session_argv, "a  'b c' \"\" \\\\ 'd\"e'", "a \"b c\" \"\" \"\\\\\" \"d\\\"e\"");
    round_trip(session, CONFIG_ROW_session_argv, "[ -f\" a b\" ]", "\"[\" \"-f a b\" ]"); /* as [ "-f a b" ] it would be a JSON list */
    round_trip(session, CONFIG_ROW_session_argv, "", "");
    round_trip(session, CONFIG_ROW_session_on_start, "a\\tb\\x0d\\n\\\\\\x00\\x20", "a\\tb\\r\\n\\\\\\x00\\x20");
    round_trip(session, CONFIG_ROW_session_on_start, "\xc3\xa4\\u00e4", "\xc3\xa4\xc3\xa4");
    round_trip(session, CONFIG_ROW_session_on_start, "\xc3\xa4\\xff", "\\xc3\\xa4\\xff");
    round_trip(session, CONFIG_ROW_session_on_start, "", "");
    config_free(cfg);
}

/* A wrong text leaves the old value. */
TEST(test_wrong_keeps)
{
    struct config *cfg = config_default();
    static const struct { enum config_row_id id; const char *text; } wrong[] = {
        {CONFIG_ROW_limits_waits, "x"}, {CONFIG_ROW_limits_waits, "1.5"}, {CONFIG_ROW_limits_journal, "2m3"},
        {CONFIG_ROW_limits_keep_ended, "-1s"}, {CONFIG_ROW_defaults_on_slow, "Drop"}, {CONFIG_ROW_muxd_log, "--"},
        {CONFIG_ROW_tools_ignore_fields, "a,a"}, {CONFIG_ROW_env_policy_include_only, "a.b"}, {CONFIG_ROW_defaults_login, ""},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct buf before = BUF_INIT, after = BUF_INIT, why = BUF_INIT;
        config_row_format(&config_rows[wrong[i].id], cfg, &before);
        assert_false(config_row_set(&config_rows[wrong[i].id], cfg, wrong[i].text, &why));
        assert_non_null(strstr(why.data, "; allowed: "));
        config_row_format(&config_rows[wrong[i].id], cfg, &after);
        assert_string_equal(before.data ? before.data : "", after.data ? after.data : "");
        buf_fini(&before);
        buf_fini(&after);
        buf_fini(&why);
    }
    config_free(cfg);
}

/* Both ends of every range are allowed, what lies beyond is not. */
TEST(test_ranges)
{
    struct config *cfg = config_default();
    void *session = config_named_add(&config_kinds[0], cfg, "s", 1), *policy = config_named_add(&config_kinds[3], cfg, "p", 1);
    for (size_t i = 0; i < CONFIG_ROW_COUNT; i++) {
        const struct config_row *row = &config_rows[i];
        void *base = strcmp(row->section, "session") == 0 ? session : strcmp(row->section, "policy") == 0 ? policy : cfg;
        if (row->type != CONFIG_INT && row->type != CONFIG_BYTES && row->type != CONFIG_MS)
            continue;
        const int64_t numbers[] = {row->min - 1, row->min, row->max, row->max + 1};
        for (int n = 0; n < 4; n++) {
            struct buf text = BUF_INIT, why = BUF_INIT;
            buf_printf(&text, "%lld", (long long)numbers[n]);
            if (config_row_set(row, base, text.data, &why) != (n == 1 || n == 2))
                fail_msg("[%s] %s = %s: %s", row->section, row->key, text.data, why.data ? why.data : "was accepted");
            buf_fini(&text);
            buf_fini(&why);
        }
    }
    config_free(cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),       cmocka_unit_test(test_round_trips), cmocka_unit_test(test_session_round_trips),
        cmocka_unit_test(test_wrong_keeps), cmocka_unit_test(test_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
