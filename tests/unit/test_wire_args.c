/* args: command lines against commands.def, and the help that is made from it. */
#include "tests/lib/test.h"
#include "wire/args.h"
#include "wire/help.h"
#include "wire/tool.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 32

/* Parses a line cut at blanks; "''" stands for an empty word. The words live in room. */
static int parse(struct args *args, const char *line, struct err *err)
{
    static char room[1000];
    char *argv[WORDS_MAX] = {(char *)(uintptr_t)"ue"};
    int argc = 1;
    strncpy(room, line, sizeof(room) - 1);
    *err = (struct err){0};
    for (char *word = strtok(room, " "); word != NULL && argc < WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    return args_parse(args, argc, argv, err);
}

static void good(struct args *args, const char *line)
{
    struct err err;
    if (parse(args, line, &err) != 0)
        fail_msg("ue %s: %s", line, err.text);
}

TEST(test_aliases)
{
    assert_ptr_equal(verb_by_name("ls"), &verbs[VERB_LIST]);
    assert_ptr_equal(verb_by_name("ps"), &verbs[VERB_LIST]);
    assert_ptr_equal(verb_by_name("a"), &verbs[VERB_ATTACH]);
    assert_null(verb_by_name("b"));
}

TEST(test_wrong_usage)
{
    static const struct {
        const char *line, *want;
    } cases[] = {
        {"", "no verb; 'ue help' lists them"},
        {"exce true", "'exce': unknown verb; did you mean 'exec'?"},
        {"bogus", "'bogus': unknown verb; 'ue help'"}, /* it is not 'logs' */
        {"quit", "'quit': unknown verb; C-\\ d leaves an attached session, 'ue kill SESSION' ends one, 'ue stop' the daemon"},
        {"kill-server", "'kill-server': unknown verb; 'ue stop' ends all sessions"},
        {"new-session", "'new-session': unknown verb; 'ue new NAME'"},
        {"new a b", "'b': one operand too many"},
        {"frobnicate", "'frobnicate': unknown verb; 'ue help'"},
        {"--json list", "'--json': stands before the verb"},
        {"-y 5 poll s", "'-y': stands before the verb"},
        {"--nonsense list", "'--nonsense': unknown option"},
        {"list --jsn", "'--jsn': unknown option; did you mean '--json'?"},
        {"list --xyzzy", "'--xyzzy': unknown option; 'ue list -h'"},
        {"list -x", "'-x': unknown option; 'ue list -h'"},
        {"write py -5", "'-5': unknown option"},
        {"kill -9 s", "'-9': unknown option; did you mean '-s 9'?"},
        {"exec -n", "'-n': needs a value: NAME"},
        {"exec --until", "'--until': needs a value: REGEX"},
        {"list --json=1", "'--json=1': takes no value"},
        {"exec -y soon x", "'-y soon': not a value"},
        {"exec -y -5 x", "'-y -5': not a value"},
        {"poll s --quiet=inf", "'--quiet inf': not a value"},
        {"poll s --quiet 0", "'--quiet 0': not a value"},
        {"exec -m many x", "'-m many': not a value"},
        {"poll --since=-1 s", "'--since -1': not a value"},
        {"exec --size 24 x", "'--size 24': not a value for it; give ROWSxCOLS, each from 1 to 1000"},
        {"exec -e K x", "'-e K': not a value for it; give NAME=VALUE"},
        {"exec -e =V x", "'-e =V'"},
        {"exec -e 1K=V x", "'-e 1K=V'"},
        {"kill -s HOP s", "'-s HOP': no signal of that name; did you mean 'HUP'?"},
        {"exec", "'exec': needs CMD…; 'ue exec -h'"},
        {"write", "'write': needs SESSION"},
        {"poll", "'poll': needs SESSION"},
        {"kill", "'kill': needs SESSION"},
        {"rename a", "'rename': needs SESSION NAME"},
        {"rename a b c", "'c': one operand too many for 'rename'"},
        {"write a b c", "'c': one operand too many"},
        {"status x", "'x': 'status' takes no operands"},
        {"poll --json --raw s", "'--json': can't stand beside '--raw'"},
        {"exec --ready --no-ready x", "can't stand beside"},
        {"exec --argv -s bash x", "can't stand beside"},
        {"exec -t --stdin x", "'--stdin': can't stand beside '--tty'"},
        {"exec --args {} ls", "'ls': '--args' stands in place of operands"},
        {"exec --args {} -n x", "'--name': '--args' stands in place of it; put `name` into the object"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct args args;
        struct err err;
        assert_int_equal(parse(&args, cases[i].line, &err), ERR_USAGE);
        if (strstr(err.text, cases[i].want) == NULL)
            fail_msg("ue %s: '%s', expected '%s'", cases[i].line, err.text, cases[i].want);
        args_fini(&args);
    }
}

TEST(test_spellings_of_an_option)
{
    static const char *const lines[] = {"exec -n foo x", "exec -nfoo x", "exec --name foo x", "exec --name=foo x", "exec -tnfoo x",
                                        "exec -n bar -n foo x", "-S /s exec -n foo x"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct args args;
        good(&args, lines[i]);
        assert_string_equal(args_get(&args, "name"), "foo");
        assert_int_equal(args.operand_count, 1);
        args_fini(&args);
    }
}

TEST(test_first_operand_of_exec_ends_options)
{
    struct args args;
    good(&args, "exec -t ls -la --json -- x");
    assert_true(args_has(&args, "tty"));
    assert_false(args_has(&args, "json"));
    assert_int_equal(args.operand_count, 5);
    assert_string_equal(args.operands[0], "ls");
    assert_string_equal(args.operands[3], "--");
    assert_null(args.operands[5]);
    args_fini(&args);
    good(&args, "exec --argv -- -odd -t");
    assert_int_equal(args.operand_count, 2);
    assert_string_equal(args.operands[0], "-odd");
    args_fini(&args);
}

TEST(test_options_after_operands)
{
    struct args args;
    good(&args, "write py -l 1+1 -y 30s");
    assert_int_equal(args.operand_count, 2);
    assert_string_equal(args.operands[1], "1+1");
    assert_true(args_has(&args, "line"));
    assert_int_equal(args_int(&args, "yield", -1), 30000);
    args_fini(&args);
    good(&args, "write py -- -l");
    assert_string_equal(args.operands[1], "-l");
    assert_false(args_has(&args, "line"));
    args_fini(&args);
    good(&args, "write py -");
    assert_string_equal(args.operands[1], "-");
    args_fini(&args);
    good(&args, "write py ''");
    assert_string_equal(args.operands[1], "");
    args_fini(&args);
}

TEST(test_repeated_options_keep_their_order)
{
    struct args args;
    good(&args, "write -k C-c py -k Up -kEnter");
    static const char *const want[] = {"C-c", "Up", "Enter"};
    size_t i = 0;
    for (const struct args_option *o = args_next(&args, "key", NULL); o != NULL; o = args_next(&args, "key", o))
        assert_string_equal(o->value, want[i++]);
    assert_int_equal(i, 3);
    args_fini(&args);
}

TEST(test_letters_mean_what_their_verb_says)
{
    struct args args;
    good(&args, "exec -e A=b=c -s zsh x");
    assert_string_equal(args_get(&args, "env"), "A=b=c");
    assert_string_equal(args_get(&args, "shell"), "zsh");
    args_fini(&args);
    good(&args, "write -e py a");
    assert_true(args_has(&args, "escapes"));
    args_fini(&args);
    good(&args, "kill -s sigint py");
    assert_int_equal(args_int(&args, "signal", -1), SIGINT);
    args_fini(&args);
}

TEST(test_values)
{
    struct args args;
    int rows = 0, cols = 0;
    good(&args, "exec -y inf --size 50x132 --quiet 2s --status-fd 3 -m 0 x");
    assert_true(args_int(&args, "yield", -1) == INT64_MAX);
    assert_true(args_size(&args, "size", &rows, &cols) && rows == 50 && cols == 132);
    assert_int_equal(args_int(&args, "quiet", -1), 2000);
    assert_int_equal(args_int(&args, "status-fd", -1), 3);
    assert_int_equal(args_int(&args, "max-tokens", -1), 0);
    assert_null(args_get(&args, "until"));
    args_fini(&args);
    good(&args, "poll -y 0 --since 9007199254740992 s");
    assert_int_equal(args_int(&args, "yield", -1), 0);
    assert_true(args_int(&args, "since", -1) == INT64_C(9007199254740992));
    args_fini(&args);
}

TEST(test_operands_that_need_not_be)
{
    static const char *const lines[] = {"exec -n py", "exec --args {}", "kill --all", "kill --args {}", "list", "list a b c",
                                        "write --args -",
                                        "help", "help exec", "call list_sessions", "start"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct args args;
        good(&args, lines[i]);
        args_fini(&args);
    }
}

TEST(test_help_and_version_insist_on_nothing)
{
    struct args args;
    good(&args, "--version");
    assert_true(args.wants_version);
    assert_null(args.verb);
    args_fini(&args);
    good(&args, "-h");
    assert_true(args.wants_help);
    args_fini(&args);
    good(&args, "rename -h");
    assert_true(args.wants_help);
    assert_ptr_equal(args.verb, &verbs[VERB_RENAME]);
    args_fini(&args);
    good(&args, "exec ls -h");
    assert_false(args.wants_help);
    args_fini(&args);
}

static void lines_fit(const char *text)
{
    while (*text != '\0') {
        size_t len = strcspn(text, "\n"), columns = 0;
        for (size_t i = 0; i < len; i++)
            columns += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (columns > 80)
            fail_msg("a line of %zu columns: %.*s", columns, (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static bool has_verb(const char *help, const char *name)
{
    char row[40];
    snprintf(row, sizeof(row), "\n  %s ", name);
    return strstr(help, row) != NULL;
}

TEST(test_help_has_everything)
{
    struct buf out = BUF_INIT;
    help_all(&out);
    lines_fit(out.data);
    for (size_t i = VERB_GLOBAL + 1; i < VERB_COUNT_; i++)
        assert_int_equal(has_verb(out.data, verbs[i].name), !verbs[i].hidden);
    for (size_t i = VERB_GLOBAL + 1; i < VERB_COUNT_; i++) {
        buf_clear(&out);
        help_verb(&out, &verbs[i]);
        lines_fit(out.data);
        assert_non_null(strstr(out.data, verbs[i].summary));
        for (const struct verb_option *option = verbs[i].options; option->name != NULL; option++)
            assert_non_null(strstr(out.data, option->name));
    }
    buf_fini(&out);
}

/* What the option gives is what its argument takes. */
static bool fits(const struct verb_option *option, const struct tool *tool, const struct tool_arg *arg)
{
    if (arg == NULL)
        return false;
    switch (option->type) {
    case OPTION_FLAG:
        return arg->type == ARG_BOOL ? option->sets == NULL || strcmp(option->sets, "false") == 0 : option->sets != NULL;
    case OPTION_UINT:
    case OPTION_MS:
        return arg->type == ARG_UINT;
    case OPTION_SIZE:
        return strcmp(arg->name, "rows") == 0 && tool_arg_by_name(tool, "cols") != NULL;
    case OPTION_ENV:
        return arg->type == ARG_ENV || arg->type == ARG_PATTERNS;
    case OPTION_TEXT:
    case OPTION_SIGNAL:
        return arg->type == ARG_STRING || arg->type == ARG_SESSION || ((arg->type == ARG_STRINGS || arg->type == ARG_PATTERNS) && option->repeats);
    }
    return false;
}

/* A row that names what isn't there would fail only when somebody uses it. */
TEST(test_rows_are_sound)
{
    for (size_t i = 0; i < VERB_COUNT_; i++) {
        const struct verb *verb = &verbs[i];
        const struct tool *tool = verb->tool != NULL ? tool_by_name(verb->tool) : NULL;
        assert_true((verb->tool == NULL) == (tool == NULL));
        for (const struct verb_option *option = verb->options; option->name != NULL; option++) {
            assert_ptr_equal(verb_option_by_name(verb, option->name, strlen(option->name)), option);
            assert_true(option->letter == 0 || verb_option_by_letter(verb, option->letter) == option);
            struct verb_option full = verb_option_full(verb, option);
            assert_true(full.type != 0 && full.help != NULL);
            assert_int_equal(full.type == OPTION_FLAG, full.metavar == NULL);
            assert_true(option->argument == NULL || fits(&full, tool, verb_argument(verb, option->argument)));
        }
        for (size_t at = 0; at < VERB_OPERANDS_MAX; at++)
            assert_true(verb->arguments[at] == NULL || verb_argument(verb, verb->arguments[at]) != NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_usage), cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_spellings_of_an_option),
        cmocka_unit_test(test_first_operand_of_exec_ends_options),
        cmocka_unit_test(test_options_after_operands),
        cmocka_unit_test(test_repeated_options_keep_their_order),
        cmocka_unit_test(test_letters_mean_what_their_verb_says),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_operands_that_need_not_be),
        cmocka_unit_test(test_help_and_version_insist_on_nothing),
        cmocka_unit_test(test_help_has_everything),
        cmocka_unit_test(test_rows_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
