/* What the shells are told about the last word of a command line; no daemon. */
#include "base/strv.h"
#include "client/verbs/complete.h"
#include "tests/lib/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The line is bash's; the answer is that for zsh, or for bash when behind (what readline replaces) is given. */
static char *answer(const char *line, const char *behind)
{
    struct place place;
    struct candidates all = {0};
    struct buf out = BUF_INIT;
    struct asked asked = {.shell = behind ? COMPLETE_BASH : COMPLETE_ZSH, .behind = behind};
    char **words = bash_words(line);
    place_find(&place, (const char *const *)words + 1, strv_len((const char *const *)words) - 1);
    candidates_of_place(&all, &place);
    complete_append(&out, &asked, &place, &all);
    char *text = strdup(out.data);
    buf_fini(&out);
    candidates_fini(&all);
    strv_free(words);
    return text;
}

static bool has_word(const char *text, const char *word)
{
    char line[80];
    snprintf(line, sizeof line, "\n%s\t", word);
    return strstr(text, line) != NULL;
}

TEST(test_what_can_stand_there)
{
    static const struct {
        const char *line, *head, *yes, *no; /* words between blanks */
    } cases[] = {
        {"ue ", "words 0 ", "exec kill status", "complete gen --help"},
        {"ue -", "words 0 ", "--socket -S --no-start", "--json exec"},
        {"ue -S /x ", "words 0 ", "exec", ""},
        {"ue --socket=/x ", "words 0 ", "exec", ""},
        {"ue -S ", "file 0 ", "", "exec"},
        {"ue --socket=/t", "file 9 ", "", ""},
        {"ue nonsense ", "words 0 ", "", "exec"},
        {"ue list -", "words 0 ", "--all -a --json --socket", "--until"},
        {"ue list --all -", "words 0 ", "--json", "--all -a"},
        {"ue list -a -", "words 0 ", "--json", "--all -a"},
        {"ue exec --ready -", "words 0 ", "--quiet", "--ready --no-ready"},
        {"ue write -k Up -", "words 0 ", "--key -k", ""},
        {"ue write --steal -", "words 0 ", "--paste", "--wait-keyboard"},
        {"ue write -k ", "words 0 ", "Enter PageUp", ""},
        {"ue write -l s ", "words 0 ", "", "Enter"},
        {"ue kill -s ", "words 0 ", "INT TERM WINCH", ""},
        {"ue kill -sWI", "words 2 ", "WINCH", ""},
        {"ue kill --signal=WI", "words 9 ", "WINCH", ""},
        {"ue kill --signal '' -", "words 0 ", "--all", "--signal -s"},
        {"ue record --format ", "words 0 ", "2 3", "1 4"},
        {"ue record s ", "file 0 ", "", ""},
        {"ue resize s ", "words 0 ", "24x80 leader smallest largest fixed config", ""},
        {"ue exec --size ", "words 0 ", "24x80", "leader"},
        {"ue exec -C ", "dir 0 ", "", ""},
        {"ue exec -C/t", "dir 2 ", "", ""},
        {"ue exec -tC ", "dir 0 ", "", ""},
        {"ue exec ", "command 0 2", "", ""},
        {"ue exec -t -n x l", "command 0 5", "", ""},
        {"ue exec -t ls -", "command 0 3", "", "--json"},
        {"ue exec -- ls -", "command 0 3", "", "--json"},
        {"ue -S /x sh ls a b ", "command 0 4", "", ""},
        {"ue exec -e ", "open 0 ", "A_VARIABLE=", ""},
        {"ue events -t ", "words 0 ", "end all", ""},
        {"ue tools --format ", "words 0 ", "openai anthropic mcp", ""},
        {"ue call ", "words 0 ", "exec_command", "_meta"},
        {"ue help ", "words 0 ", "exec", "complete"},
        {"ue status ", "words 0 ", "", "--json"},
        {"ue poll s -y ", "words 0 ", "", "--json"},
        {"ue 'kill' \"-s\" ", "words 0 ", "INT", ""},
        {"ue kill -- -", "words 0 ", "", "--all"},
    };
    setenv("A_VARIABLE", "1", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = answer(cases[i].line, NULL), words[200];
        if (strncmp(text, cases[i].head, strlen(cases[i].head)) != 0)
            fail_msg("%s: %s", cases[i].line, text);
        for (int no = 0; no < 2; no++) {
            snprintf(words, sizeof words, "%s", no ? cases[i].no : cases[i].yes);
            for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
                if (has_word(text, word) == no)
                    fail_msg("%s: %s '%s' in %s", cases[i].line, no ? "unexpected" : "missing",
                             word, text);
        }
        free(text);
    }
}

/* readline replaces what is behind its last word break; quotes count for nothing. */
TEST(test_bash)
{
    static const struct {
        const char *line, *behind, *want;
    } cases[] = {
        {"ue ren", "ren", "words 0 1\nren\nrename\n"},
        {"ue kill -s WIN", "WIN", "words 0 3\nWIN\nWINCH\n"},
        {"ue kill --signal=WIN", "WIN", "words 0 2\nWIN\nWINCH\n"},
        {"ue kill --signal=WIN", "--signal=WIN", "words 0 2\nWIN\n--signal=WINCH\n"},
        {"ue kill -sWIN", "-sWIN", "words 0 2\nWIN\n-sWINCH\n"},
        {"ue kill -s 'WIN", "WIN", "words 0 3\nWIN\nWINCH\n"},
        {"ue kill -s W\\IN", "W\\IN", "words 0 3\nWIN\nWINCH\n"},
        {"ue exec --workdir=/a:b/c", "b/c", "dir 3 2\n/a:b/c\n"},
        {"ue exec -C \"a b", "a b", "dir 0 3\na b\n"},
        {"ue exec ls a", "a", "file 0 2\na\n"},
        {"ue no", "no", "words 0 1\nno\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = answer(cases[i].line, cases[i].behind);
        if (strcmp(text, cases[i].want) != 0)
            fail_msg("%s: %s", cases[i].line, text);
        free(text);
    }
}

TEST(test_words_of_bash)
{
    static const struct {
        const char *line, *want; /* with | behind each */
    } cases[] = {
        {"", "|"},
        {"ue", "ue|"},
        {"ue  a\tb ", "ue|a|b||"},
        {"ue 'a b' \"c\\\"d\\e\" f\\ g", "ue|a b|c\"d\\e|f g|"},
        {"ue x'y z", "ue|xy z|"},
        {"ue \\", "ue|\\|"},
        {"ue ''", "ue||"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = BUF_INIT;
        char **words = bash_words(cases[i].line);
        for (char **at = words; *at; at++)
            buf_printf(&out, "%s|", *at);
        assert_string_equal(out.data, cases[i].want);
        buf_fini(&out);
        strv_free(words);
    }
}

TEST(test_kinds_of_operands)
{
    assert_int_equal(place_operand_kind(&verbs[VERB_EXEC], 0), COMPLETE_COMMAND);
    assert_int_equal(place_operand_kind(&verbs[VERB_EXEC], 5), COMPLETE_FILE);
    assert_int_equal(place_operand_kind(&verbs[VERB_KILL], 7), COMPLETE_SESSION);
    assert_int_equal(place_operand_kind(&verbs[VERB_ATTACH], 0), COMPLETE_STARTABLE);
    assert_int_equal(place_operand_kind(&verbs[VERB_WRITE], 1), COMPLETE_NONE);
    assert_int_equal(place_operand_kind(&verbs[VERB_POLL], 1), COMPLETE_NONE);
}

TEST(test_each_word_once)
{
    struct candidates all = {0};
    candidates_add(&all, "a", "first");
    candidates_add(&all, "b", NULL);
    candidates_add(&all, "a", "second");
    assert_int_equal(all.count, 2);
    assert_string_equal(all.list[0].description, "first");
    candidates_remove(&all, "a");
    assert_int_equal(all.count, 1);
    assert_string_equal(all.list[0].word, "b");
    candidates_fini(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_can_stand_there), cmocka_unit_test(test_bash),
        cmocka_unit_test(test_words_of_bash),        cmocka_unit_test(test_kinds_of_operands),
        cmocka_unit_test(test_each_word_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
