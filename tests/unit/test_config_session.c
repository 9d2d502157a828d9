/* [session NAME]: its keys, what it inherits, and what a reload changes. */
#include "base/buf.h"
#include "config/config.h"
#include "tests/lib/test.h"
#include "tests/lib/unit_config.h"
#include <stdlib.h>
#include <string.h>

static struct err err;

TEST(test_all_keys)
{
    struct config *cfg = config_of("[session py]\ncmd = python3 -q ; echo '#'\nworkdir = /tmp\nshell = zsh\nlogin = no\ntty = no\n"
                                   "rows = 50\ncols = 132\nenv.A = 1\nenv.B_2 = x ; y\nstart = boot\nrestart = on-failure\n"
                                   "ready_pattern = [;#] $\non_start = import math\\n\non_slow = pause\nmemory = 1G\nidle = 5m\n");
    const struct config_session *py = config_session_find(cfg, "py");
    assert_non_null(py);
    assert_null(config_session_find(cfg, "p"));
    assert_int_equal(py->line, 1);
    assert_string_equal(py->cmd, "python3 -q ; echo '#'");
    assert_string_equal(py->workdir, "/tmp");
    assert_string_equal(py->shell, "zsh");
    assert_false(py->login || py->tty);
    assert_int_equal(py->rows, 50);
    assert_int_equal(py->cols, 132);
    assert_int_equal(py->env.count, 2);
    assert_string_equal(py->env.items[1].name, "B_2");
    assert_string_equal(py->env.items[1].value, "x ; y");
    assert_int_equal(py->start, CONFIG_START_BOOT);
    assert_int_equal(py->restart, CONFIG_RESTART_ON_FAILURE);
    assert_string_equal(py->ready_pattern, "[;#] $");
    assert_int_equal(py->on_start.size, 12);
    assert_memory_equal(py->on_start.data, "import math\n", 12);
    assert_int_equal(py->on_slow, CONFIG_ON_SLOW_PAUSE);
    assert_int_equal(py->memory_bytes, 1 << 30);
    assert_int_equal(py->idle_ms, 300000);
    config_free(cfg);
}

TEST(test_argv)
{
    struct config *cfg = config_of("[session a]\nargv = sh -c 'a; b  # c' \"x \\\"y\\\" \\n\" '' p\\ q r's't\n");
    const struct config_words *argv = &cfg->sessions[0].argv;
    const char *want[] = {"sh", "-c", "a; b  # c", "x \"y\" \\n", "", "p q", "rst"};
    assert_int_equal(argv->count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(argv->items[i], want[i]);
    assert_null(argv->items[7]);
    config_free(cfg);
    static const char allowed[] = "is not allowed here; allowed: words separated by blanks, quoted as in a shell";
    static const char *const wrong[] = {"a 'b", "a \"b", "a\\", "'' b", "[\"a\", \"b\"]"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct buf text = BUF_INIT;
        buf_printf(&text, "[session a]\nargv = %s\n", wrong[i]);
        assert_null(config_parse("m.ini", text.data, text.len, &err));
        assert_memory_equal(err.text, "m.ini:2: [session a] argv: '", 28);
        assert_non_null(strstr(err.text, allowed));
        buf_fini(&text);
    }
    config_free(config_of("[session t]\nargv = [ -f x ]\n"));
}

TEST(test_inherits)
{
    /* Also from a section that stands behind it. */
    struct config *cfg = config_of("[session a]\ncmd = x\nrows = 30\n[session b]\ncmd = y\n[defaults]\nrows = 40\nshell = fish\n"
                                   "login = no\non_slow = pause\n[limits]\nmemory = 1000\nopen_files = 9\nidle = 1500ms\n");
    const struct config_session *a = config_session_find(cfg, "a"), *b = config_session_find(cfg, "b");
    assert_int_equal(a->rows, 30);
    assert_int_equal(b->rows, 40);
    assert_int_equal(b->cols, 80);
    assert_string_equal(b->shell, "fish");
    assert_false(b->login);
    assert_true(b->tty);
    assert_int_equal(b->on_slow, CONFIG_ON_SLOW_PAUSE);
    assert_int_equal(b->memory_bytes, 1000);
    assert_int_equal(b->open_files, 9);
    assert_int_equal(b->idle_ms, 1500);
    assert_int_equal(b->lifetime_ms, 0);
    assert_int_equal(b->start, CONFIG_START_DEMAND);
    assert_int_equal(b->restart, CONFIG_RESTART_NEVER);
    assert_null(b->workdir);
    assert_int_equal(b->on_start.size, 0);
    config_free(cfg);
}

TEST(test_wrong)
{
    config_refused("[session]\n", "m.ini:1: [session]: the section needs a name; write [session NAME]");
    config_refused("\n[session 12]\ncmd = x\n", "m.ini:2: [session 12]: not a session's name; allowed: up to 64 letters, digits, '_', '.' "
                   "and '-', not only digits, no '.' or '-' in front");
    config_refused("[session a]\ncmd = x\n[session a]\ncmd = y\n",
                   "m.ini:3: [session a]: the section is there already, in line 1; put its keys together");
    config_refused("[session a]\ncmd = x\ncmd = y\n", "m.ini:3: [session a] cmd: it is there already, in line 2; remove one of them");
    config_refused("[session a]\nrows = 5\n", "m.ini:1: [session a]: it has no command; add 'cmd' or 'argv'");
    config_refused("[session a]\ncmd =\n", "m.ini:1: [session a]: it has no command; add 'cmd' or 'argv'");
    config_refused("[session a]\ncmd = x\nargv = y\n", "m.ini:1: [session a]: it has both 'cmd' and 'argv'; remove one of them");
    config_refused("[session a]\nstart = onboot\n",
                   "m.ini:2: [session a] start: 'onboot' is not allowed here; allowed: boot, demand or manual");
    config_refused("[session a]\nworkdir = src\n",
                   "m.ini:2: [session a] workdir: 'src' is not allowed here; allowed: an absolute path or ~/PATH");
    config_refused("[session a]\non_start = \\q\n",
                   "m.ini:2: [session a] on_start: '\\q' is not allowed here; allowed: text with the escapes of C");
    config_refused("[session a]\nenv.A = 1\nenv.A = 2\n", "m.ini:3: [session a] env.A: it is there already, in line 2; remove one of them");
    config_refused("[session a]\nworkdri = /\n", "m.ini:2: [session a] workdri: unknown key; did you mean 'workdir'?");
}

TEST(test_many)
{
    struct buf text = BUF_INIT;
    for (int i = 0; i < CONFIG_MAX_SESSIONS; i++)
        buf_printf(&text, "[session s%d]\ncmd = x\n", i);
    struct config *cfg = config_of(text.data);
    assert_int_equal(cfg->nsessions, CONFIG_MAX_SESSIONS);
    assert_string_equal(config_session_find(cfg, "s1023")->cmd, "x");
    config_free(cfg);
    buf_append_text(&text, "[session more]\n");
    config_refused(text.data, "m.ini:2049: [session more]: too many sessions; allowed: 1024");
    buf_fini(&text);
}

static void note_change(void *ctx, const struct config_change *change)
{
    static const char *const when[] = {"now", "new", "restart"};
    buf_printf(ctx, "%s/%s/%s %s>%s %s\n", change->section, change->name ? change->name : "", change->key ? change->key : "",
               change->old_value ? change->old_value : "(none)", change->new_value ? change->new_value : "(none)", when[change->reload]);
}

static void expect_diff(const char *was, const char *is, size_t count, const char *want)
{
    struct config *a = config_of(was), *b = config_of(is);
    struct buf seen = BUF_INIT;
    assert_int_equal(config_diff(a, b, note_change, &seen), count);
    assert_string_equal(seen.data ? seen.data : "", want);
    assert_int_equal(config_diff(a, b, NULL, NULL), count);
    buf_fini(&seen);
    config_free(a);
    config_free(b);
}

TEST(test_diff)
{
    expect_diff("", "", 0, "");
    expect_diff("[limits]\nwaits = 1024\n", "\n\n", 0, "");
    expect_diff("[limits]\nwaits = 5\n[muxd]\nstate = /a\n", "[muxd]\nlog_level = debug\n", 3,
                "muxd//state /a> restart\nmuxd//log_level info>debug now\nlimits//waits 5>1024 now\n");
    expect_diff("[env]\nA = 1\nB = 2\n", "[env]\nB = 3\nC = 4\n", 3, "env//A 1>(none) new\nenv//B 2>3 new\nenv//C (none)>4 new\n");
    expect_diff("[session a]\ncmd = x\n[session b]\ncmd = y\n[session c]\ncmd = z\n",
                "[session d]\ncmd = w\n[session c]\ncmd = z\n[session b]\ncmd = y2\nstart = boot\nenv.K = v\n", 5,
                "session/a/ a>(none) now\nsession/b/cmd y>y2 new\nsession/b/env.K (none)>v new\nsession/b/start demand>boot now\n"
                "session/d/ (none)>d now\n");
    expect_diff("[session a]\ncmd = x\n", "[session a]\ncmd = x\n[limits]\nidle = 1h\n", 2,
                "limits//idle 0>1h new\nsession/a/idle 0>1h new\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_keys), cmocka_unit_test(test_argv), cmocka_unit_test(test_inherits), cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_many),     cmocka_unit_test(test_diff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
