/* The language of scripts: quoting, blocks, what is refused with which line, and that a command shown reads as itself. */
#include "tests/lib/test.h"

#include "base/mem.h"
#include "client/script/script.h"
#include <stdlib.h>
#include <string.h>

static void show_all(struct buf *out, const struct script_node *node)
{
    for (; node; node = node->next)
        for (const struct script_node *at = node; at; at = at->branch) {
            if (at != node)
                buf_append_text(out, at->id == SCRIPT_IF ? "} else " : "} ");
            script_show(out, at);
            buf_append_text(out, at->has_block ? " {\n" : "\n");
            show_all(out, at->body);
            if (at->has_block && !at->branch)
                buf_append_text(out, "}\n");
        }
}

static char *shown(const char *text, size_t len)
{
    struct script script;
    struct err err = {0};
    struct buf out = BUF_INIT;
    if (script_parse(&script, "s", text, len, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    show_all(&out, script.first);
    script_fini(&script);
    return buf_take(&out);
}

/* text is shown as want, and want as itself. */
static void reads(const char *text, const char *want)
{
    char *once = shown(text, strlen(text)), *twice = shown(once, strlen(once));
    assert_string_equal(once, want);
    assert_string_equal(twice, want);
    free(once);
    free(twice);
}

static void refused_with(int code, const char *text, size_t len, const char *words)
{
    struct script script;
    struct err err = {0};
    int got = script_parse(&script, "s", text, len, &err);
    if (got != code || !strstr(err.text, words))
        fail_msg("%.60s: %d '%s', not '%s'", text, got, err.text, words);
    script_fini(&script);
}

static void refused(const char *text, const char *words)
{
    refused_with(ERR_USAGE, text, strlen(text), words);
}

TEST(quotes)
{
    reads("send a\n  send 'b \"c\" ${d} \\n'  # why\n\n# line\nsend \"e\\tf\\\"g\\\\h\\x41\\u{e9}\\$\"",
          "send a\nsend 'b \"c\" ${d} \\n'\nsend \"e\\tf\\\"g\\\\hA\xc3\xa9$\"\n");
    reads("send ''\nsend \"\"\nline\n", "send ''\nsend ''\nline\n");
    reads("set x a#b\r\nsend \"${x}\"\r\nsend a${x}b\r\nsend ${x:-no one}\r\nsend ${1}", "set x 'a#b'\nsend \"${x}\"\nsend \"a${x}b\"\n"
          "send ${x:-no one}\nsend ${1}\n");
    reads("send \"\\x00\\xff\\e[A\\${x}$\"", "send \"\\x00\\xff\\e[A\\${x}$\"\n");
    reads("print {a} }b 'it is' \"it's\" '{'", "print '{a}' '}b' 'it is' \"it's\" '{'\n");
    refused("send 'abc\nsend d'", "'s:1': ''': this quote is not closed on its line");
    refused("log a\nsend \"abc", "'s:2': '\"': this quote is not closed");
    refused("send a'b'", "a quote inside of a word");
    refused("send 'a'b", "a blank is missing behind the closing quote");
    refused("send \"\\d\"", "'\\d\"': no escape");
    refused("send \"\\u{110000}\"", "no escape");
    refused("send \"\\u{d800}\"", "no escape");
    refused("send ${", "no variable");
    refused("send ${a b}", "no variable");
    refused("print a { b", "a { ends a line");
}

TEST(values_are_bytes)
{
    struct script script;
    struct err err = {0};
    static const char text[] = "send \"a\\x00b${1}\"";
    assert_int_equal(script_parse(&script, "s", text, sizeof text - 1, &err), 0);
    const struct script_word *word = &script.first->words[0];
    assert_int_equal(word->count, 2);
    assert_int_equal(word->parts[0].len, 3);
    assert_memory_equal(word->parts[0].text, "a\0b", 4);
    assert_true(word->parts[1].variable);
    assert_null(script_literal(word));
    script_fini(&script);
}

TEST(blocks)
{
    reads("if not ${1} == a {\nlog b\n} else if ${1} contains c {\n} else {\nrepeat 3 i {\nlog ${i}\nbreak\n}\n}\nlog d",
          "if not ${1} == a {\nlog b\n} else if ${1} contains c {\n} else {\nrepeat 3 i {\nlog ${i}\nbreak\n}\n}\nlog d\n");
    reads("@a expect --timeout 5s {\non 'x y' {\nagain\n}\non z\non-quiet 500ms\non-exit\non-timeout {\nexit 3\n}\n}",
          "@a expect --timeout 5s {\non 'x y' {\nagain\n}\non z\non-quiet 500ms\non-exit\non-timeout {\nexit 3\n}\n}\n");
    reads("start x --env \"A=${1}\" y --z\nstart x -- --y --\nexpect -- --x\neach f ${@} {\ncontinue\n}", "start x --env \"A=${1}\" y --z\nstart x -- --y --\nexpect -- --x\neach f ${@} {\ncontinue\n}\n");
    refused("if a == b {\n}\nelse {\n}", "'s:3': 'else': belongs behind the } of an if");
    refused("repeat 3 {\n} else {\n}", "'s:2': behind a } stands nothing");
    refused("log a\nif a == b {\nlog c\n", "'s:2': the block of this 'if' is never closed");
    refused("log a\n}\n", "'s:2': this } closes no block");
    refused("{\n}", "a { ends the line of the command");
    refused("send a {\n}", "has no block here");
    refused("repeat 3\n", "its block is missing");
    refused("expect\n", "its block is missing");
    refused("expect {\nlog a\n}", "'s:2': 'log': in the block of an expect stand only");
    refused("expect {\non-timeout\n}", "'s:1': this expect waits for nothing");
    refused("expect {\non a\non-exit\non-exit\n}", "'on-exit': stands twice");
    refused("on a", "belongs into the block of an expect");
    refused("break", "is in no repeat");
    refused("repeat 2 {\nagain\n}", "is in no alternative");
}

TEST(words)
{
    refused("\n\nexepct a", "'s:3': 'exepct': no command; did you mean 'expect'?");
    refused("'send' a", "a line begins with a command");
    refused("send", "something is missing; it is send TEXT");
    refused("send a b", "quotes make one word");
    refused("expect --timeuot 3 a", "'--timeuot': no option of 'expect'");
    refused("expect --timeout", "its value is missing");
    refused("expect --timeout x a", "'x': no time");
    refused("start 12 x", "no name for a session");
    refused("start --size 3 a b", "'3': no size");
    refused("start --env A a b", "'A': sets no variable");
    refused("@a/b send x", "no name of a session");
    refused("@a${1}\\u send x", "'\\u': no name of a session");
    refused("@a", "stands before a command");
    refused("@a log x", "acts on no session");
    refused("kill TREM", "'TREM': no signal; did you mean 'TERM'?");
    refused("wait redy", "did you mean 'ready'?");
    refused("wait quiet", "for how long is missing");
    refused("wait exit 3", "nothing stands behind it");
    refused("repeat x {\n}", "'x': no count of rounds");
    refused("repeat 1000001 {\n}", "give a number from 0 to 1000000");
    refused("exit 256", "no exit status");
    refused("if a = b {\n}", "'=': no operator");
    refused("if a b == c {\n}", "'not' may stand in front");
    refused("secret from-fd", "its number or path is missing");
    refused("secret from-fd x", "no descriptor");
    refused("set match a", "is set by the language");
    refused("set 1 a", "no name of a variable");
    refused("set ${1} a", "stands there as it is");
}

TEST(variables)
{
    reads("print ${late} ${match.x} ${env.HOME} ${2} ${output}\nset late x", "print ${late} ${match.x} ${env.HOME} ${2} ${output}\nset late x\n");
    refused("set name a\nif a == b {\nsend \"x${nmae}\"\n}", "'s:3': ${nmae} is set nowhere; did you mean ${name}?");
    refused("send ${x}", "is set nowhere; `set` and `capture` do that");
    refused("send ${env.}", "is set nowhere");
    refused("send ${@}", "stands as a word of its own in start and each");
    refused("start a \"${@}\"", "stands as a word of its own");
    struct script script;
    struct err err = {0};
    assert_int_equal(script_parse(&script, "s", "print ${before}", 15, &err), 0);
    assert_true(script.uses_before);
    script_fini(&script);
}

static void refused_many(const char *piece, size_t times, const char *words)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < times; i++)
        buf_append_text(&text, piece);
    refused_with(ERR_TOO_LARGE, text.data, text.len, words);
    buf_fini(&text);
}

TEST(caps)
{
    refused_with(ERR_USAGE, "log a\nlog b\0c", 13, "'s:2': a NUL byte");
    refused("log \xff", "no valid UTF-8");
    refused_many("log a\n", SCRIPT_COMMANDS_MAX + 1, "more than 20000 commands");
    refused_many("repeat 2 {\n", SCRIPT_NESTING_MAX + 1, "more than 32 blocks in each other");
    refused_many("log a a a a a ", SCRIPT_WORDS_MAX, "more than 256 words");
    refused_many("# 0123456789\n", SCRIPT_BYTES_MAX / 13 + 1, "a script has at most 1048576");
    refused_many("# 0123456789 ", SCRIPT_LINE_MAX / 13 + 1, "a line of");
    struct buf text = BUF_INIT;
    buf_append_text(&text, "expect {\n");
    for (int i = 0; i <= SCRIPT_ARMS_MAX; i++)
        buf_append_text(&text, "on a\n");
    buf_append_text(&text, "}\n");
    refused_with(ERR_TOO_LARGE, text.data, text.len, "more than 16 alternatives");
    buf_clear(&text);
    buf_append_text(&text, "if a == b {\n"); /* a long chain is no deep one */
    for (int i = 0; i < 10000; i++)
        buf_append_text(&text, "} else if a == b {\n");
    buf_append_text(&text, "}\n");
    free(shown(text.data, text.len));
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes),
        cmocka_unit_test(values_are_bytes),
        cmocka_unit_test(blocks),
        cmocka_unit_test(words),
        cmocka_unit_test(variables),
        cmocka_unit_test(caps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
