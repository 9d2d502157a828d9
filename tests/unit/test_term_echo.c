/* What of a terminal's output repeats what was typed. */
#include "term/echo.h"
#include "tests/lib/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One session: what was printed before, what is typed, what comes then. Of that, `want` has for each byte e (a match of it alone does not
 * count), . (it counts) or h (it isn't decided), when all of it has come. */
static const struct {
    const char *name;
    enum echo_by by;
    const char *before, *typed, *output, *want;
} cases[] = {
    {"kernel", ECHO_BY_KERNEL, "$ ", "hello\r", "hello\r\nhello\r\n", "eeeee........."},
    {"kernel, a part of the line", ECHO_BY_KERNEL, "$ ", "hel", "hello", "eee.."},
    {"kernel, not all has come", ECHO_BY_KERNEL, "$ ", "hello\r", "hel", "hhh"},
    {"kernel, output before it", ECHO_BY_KERNEL, "", "0\r", "10\r\n0\r\n0\r\n", "....e....."},
    {"kernel, behind output", ECHO_BY_KERNEL, "", "hello\r", "xhello\r\nhello\r\n", ".eeeee........."},
    {"the mode has changed meanwhile", ECHO_BY_KERNEL, "\033[?2004h", "hello\r", "$ hello\r\nhello\r\n", "..eeeee........."},
    {"the mode has changed the other way", ECHO_BY_PROGRAM, "x ", "hello\r", "\r\nhello\r\nhello\r\n", "..eeeee........."},
    {"kernel, another word", ECHO_BY_KERNEL, "$ ", "hello\r", "help", "...."},
    {"kernel, keys", ECHO_BY_KERNEL, "", "ab\177c\003", "ab\b \bc^C\r\n", "eeeeeeee.."},
    {"kernel, wrapped", ECHO_BY_KERNEL, "$ ", "123456789012345678901\r", "123456789012345678901\r\n1", "eeeeeeeeeeeeeeeeeeeee..."},
    {"bash", ECHO_BY_PROGRAM, "\033[?2004h$ ", "id\r", "id\r\n\033[?2004l\rid\r\n\033[?2004h$ ", "ee........................."},
    {"node", ECHO_BY_PROGRAM, "> ", "'a'\r", "'a'\r\r\n'a'\r\n> ", "eee.........."},
    {"node, text that was not typed", ECHO_BY_PROGRAM, "> ", "x", "xyz", "e.."},
    {"no echo at all", ECHO_BY_PROGRAM, "", "y", "yes\r\n", "e...."},
    {"zsh", ECHO_BY_PROGRAM, "$ \033[?2004h", "ls\r", "l\bls\033[?2004l\r\r\nls", "eeeeeeeeeeee....."},
    {"wrapped by an editor", ECHO_BY_PROGRAM, "$ \033[?2004h", "123456789012345678901\r",
     "1\b123456789012345678 \r\033[K901\033[?2004l\r\r\n1", "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee...."},
    {"fish: drawn twice, a hint, a title", ECHO_BY_PROGRAM, "\033[?2004h> \033[K\r\033[2C", "ls\r",
     "ls\033[2m -l\r\033[4C\033[K\b\b\033[34mls\033[m\r\n\033[?2004l\033]0;ls\a\033[m\rls",
     "eeeeeeeeeeeeeeeeeeeeeeeeeeeee..........eeeeeee......"},
    {"python: the prompt, too, for each key", ECHO_BY_PROGRAM, "\033[?2004h\033[35m>>> \033[0m", "1\r",
     "\033[4D\033[35m>>> \033[0m1\033[5D\n\r\033[?2004l1\r\n>>> ", "eeeeeeeeeeeeeeeeeeeeee................."},
    {"a line that goes on below", ECHO_BY_PROGRAM, "\033[?2004h> ", "if\r", "if\r\n. ", "ee...."},
    {"drawn once more when it is taken", ECHO_BY_PROGRAM, "\033[?2004h> ", "if\rx\r", "if\r\n. x\033[A\r> if\r\n. x\r\n\033[?2004lx",
     "ee....eeeeeeeeeeeeee..........."},
    {"typed ahead", ECHO_BY_KERNEL, "", "echo a\r", "echo a\r\n\033[?2004h$ echo a\r\n\033[?2004l\ra", "eeeeee............eeeeee............"},
    {"two lines", ECHO_BY_PROGRAM, "> ", "1\r2\r", "1\r\n1\r\n> 2\r\n2\r\n", "e.......e....."},
    {"completed", ECHO_BY_PROGRAM, "\033[?2004h$ ", "l\t\r", "ls -l\r\n\033[?2004ll", "eeeee..........."},
    {"nothing comes of it", ECHO_BY_PROGRAM, "\033[?2004h$ ", "ls\r", "l", "h"},
    {"a full screen", ECHO_BY_PROGRAM, "\033[?1049h", "hello\r", "hello\r\n", "......."},
};

static char *marked(struct echo *echo, uint64_t from, size_t size)
{
    uint64_t next, hold = echo_hold(echo);
    char *marks = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        marks[i] = from + i >= hold ? 'h' : echo_covers(echo, from + i, from + i + 1, &next) ? 'e' : '.';
    marks[size] = '\0';
    return marks;
}

static void try_case(size_t number, size_t step)
{
    struct echo *echo = echo_new(20);
    const char *before = cases[number].before, *output = cases[number].output;
    bool paste = strstr(before, "\033[?2004h") != NULL;
    size_t size = strlen(output), base = strlen(before);
    echo_begin(echo, 0, paste, false);
    echo_typed(echo, base, cases[number].typed, strlen(cases[number].typed), cases[number].by);
    echo_feed(echo, before, base);
    for (size_t at = 0; at < size; at += step)
        echo_feed(echo, output + at, step < size - at ? step : size - at);
    char *marks = marked(echo, base, size);
    if (strcmp(marks, cases[number].want) != 0)
        fail_msg("%s, step %zu:\n%s\nwanted\n%s", cases[number].name, step, marks, cases[number].want);
    free(marks);
    echo_free(echo);
}

TEST(test_table)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        try_case(i, 1);
        try_case(i, 3);
        try_case(i, 1000);
    }
}

TEST(test_matches_around_an_echo)
{
    struct echo *echo = echo_new(80);
    uint64_t next = 0;
    echo_begin(echo, 0, false, false);
    echo_typed(echo, 2, "abc\r", 4, ECHO_BY_KERNEL);
    echo_feed(echo, "$ abc\r\nabc\r\n", 12);
    assert_false(echo_covers(echo, 0, 2, &next)); /* before it; the echo is 2 to 5 */
    assert_true(echo_covers(echo, 1, 4, &next) && next == 2);
    assert_true(echo_covers(echo, 1, 5, &next) && next == 2);
    assert_false(echo_covers(echo, 1, 6, &next)); /* around it */
    assert_true(echo_covers(echo, 2, 9, &next) && next == 5);
    assert_true(echo_covers(echo, 4, 4, &next) && next == 5); /* an empty one */
    assert_false(echo_covers(echo, 5, 5, &next));
    assert_false(echo_covers(echo, 7, 10, &next));
    echo_free(echo);
}

/* What is never drawn is not waited for without end, and what is held is let go of. */
TEST(test_bounds)
{
    static char flood[100000];
    struct echo *echo = echo_new(80);
    echo_begin(echo, 0, true, false);
    echo_typed(echo, 0, "never\r", 6, ECHO_BY_PROGRAM);
    echo_feed(echo, "n", 1);
    assert_true(echo_waits(echo) && echo_hold(echo) == 0);
    memset(flood, 'x', sizeof flood);
    echo_feed(echo, flood, 5000);
    assert_true(echo_hold(echo) == UINT64_MAX);
    for (int i = 0; i < 1000; i++)
        echo_typed(echo, 5001, "line\r", 5, ECHO_BY_KERNEL);
    echo_feed(echo, flood, sizeof flood);
    assert_false(echo_waits(echo));
    echo_begin(echo, 0, false, false);
    echo_typed(echo, 0, "abc\r", 4, ECHO_BY_PROGRAM);
    echo_feed(echo, "ab", 2);
    assert_true(echo_hold(echo) == 0);
    echo_give_up(echo);
    assert_true(echo_hold(echo) == UINT64_MAX && !echo_waits(echo));
    echo_free(echo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_matches_around_an_echo),
                                       cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
