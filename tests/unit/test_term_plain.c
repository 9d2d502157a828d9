/* term/plain: output as a person would read it, and without the echo of what was typed. */
#include "term/plain.h"
#include "tests/lib/test.h"
#include <stdio.h>
#include <string.h>

static struct buf text_of(int rows, int cols, const char *data, size_t size, size_t piece)
{
    struct buf out = BUF_INIT;
    struct plain *plain = plain_new(rows, cols);
    for (size_t at = 0; at < size; at += piece)
        assert_int_equal(plain_feed(plain, data + at, size - at < piece ? size - at : piece),
                         size - at < piece ? size - at : piece);
    plain_take(plain, &out);
    plain_free(plain);
    return out;
}

/* In one feed, and byte by byte, which must make no difference. */
static void check(int rows, int cols, const char *data, size_t size, const char *wanted)
{
    for (size_t piece = 1; piece <= size; piece += size - 1 ? size - 1 : 1) {
        struct buf out = text_of(rows, cols, data, size, piece);
        assert_string_equal(out.data ? out.data : "", wanted);
        buf_fini(&out);
    }
}
#define PIPE(data, wanted) check(24, 0, data, sizeof(data) - 1, wanted)
#define TTY(data, wanted) check(4, 10, data, sizeof(data) - 1, wanted)

TEST(text_stays_as_it_is)
{
    PIPE("a\nb  \n\n  c\td\n", "a\nb  \n\n  c\td\n");
    PIPE("no end", "no end");
    PIPE("\n\n", "\n\n");
    PIPE("e\xcc\x81\xcc\xa3 \xe4\xbd\xa0 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb\n",
         "e\xcc\x81\xcc\xa3 \xe4\xbd\xa0 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb\n");
    PIPE("bad \xff\xc3\n", "bad \xef\xbf\xbd\xef\xbf\xbd\n");
    TTY("a\r\nb  \r\n>>> ", "a\nb  \n>>> ");
}

TEST(sequences_are_gone_or_take_effect)
{
    PIPE("\033[1;31mred\033[m\n", "red\n");
    PIPE("\033]0;title\007a\033Pdcs\033\\b\033_apc\033\\c\007\n", "abc\n");
    PIPE("\xe2\x80\xaex\xe2\x81\xa6y\n", "xy\n");
    PIPE("10%\r20%\r100%\nnext\n", "100%\nnext\n");
    PIPE("abc\b\bX\n", "aXc\n");
    PIPE("working...\r\033[Kdone\n", "done\n");
    TTY("ab\033[2Dc\033[1@d\r\n", "cdb\n");
    TTY("abcd\r\033[2Pxy\r\n", "xy\n");
    TTY("ab\033[5Gc\033[1G_\r\n", "_b  c\n");
    TTY("x\033[3b\r\n", "xxxx\n");
    TTY("abcdef\033[4D\033[2X\r\n", "ab  ef\n");
    TTY("abc   \r      \r\n", "\n");
}

TEST(wrapped_lines_are_whole)
{
    TTY("0123456789abcdefghijXYZ\r\nnext", "0123456789abcdefghijXYZ\nnext");
    TTY("0123456789\r\nnext", "0123456789\nnext"); /* full, but not wrapped */
    TTY("012345678\xe4\xbd\xa0z\r\n", "012345678\xe4\xbd\xa0z\n");
    /* as readline goes to the next row: a blank there, and back */
    TTY("0123456789 \rabc\r\n", "0123456789abc\n");
    PIPE("0123456789abcdefghijXYZ\n", "0123456789abcdefghijXYZ\n");
}

TEST(moves_between_rows)
{
    TTY("one\r\ntwo\r\n\033[2Aun\033[2B\rend", "une\ntwo\nend");
    TTY("a\r\nb\r\nc\r\nd\r\ne\r\nf\033[H*\033[4;1H", "a\nb\n*\nd\ne\nf");
    TTY("a\r\nb\r\nc\033[2;1H\033[M\r\n", "a\nc\n");
    TTY("a\r\nb\033[1;1H\033[Lx\033[3;1Hend", "x\na\nend");
    TTY("a\0337b\033[3;3Hc\0338d\033[3;4H", "ad\n\n  c");
    TTY("a\nb\r\n", "a\n b\n"); /* a line feed alone goes straight down */
}

TEST(a_cleared_screen_begins_below)
{
    TTY("old\r\n\033[H\033[2Jnew\r\n", "old\nnew\n");
    TTY("old\r\n\033[H\033[Jnew\r\n", "old\nnew\n");
    TTY("a\r\nb\033[1Jc\r\n", "\n c\n");
    TTY("keep\033[H\033c", "keep\n");
}

TEST(alternate_screen)
{
    TTY("$ vi\r\n\033[?1049h\033[Hin it\033[?1049lout\r\n", "$ vi\nout\n");
    TTY("$ vi\r\n\033[?1049h\033[Hin it", "$ vi\nin it");
    TTY("\033[?1049h\033[2Ja\r\nb\r\nc\r\nd\r\ne", "b\nc\nd\ne");
}

TEST(wide_characters_that_lose_a_half)
{
    TTY("\xe4\xbd\xa0\bx\r\n", " x\n");
    TTY("\xe4\xbd\xa0\rx\r\n", "x\n");
    TTY("a\tb\033[4Gc\r\n", "a  c    b\n");
}

/* What is fed before plain_begin, then the output; typed: where a NUL stands in the output. */
static void answer(const char *before, const char *output, const char *typed, const char *wanted)
{
    struct buf out = BUF_INIT;
    struct plain *plain = plain_new(24, 80);
    plain_feed(plain, before, strlen(before));
    plain_begin(plain);
    if (typed)
        plain_typed(plain, typed, strlen(typed));
    plain_feed(plain, output, strlen(output));
    plain_take(plain, &out);
    assert_string_equal(out.data ? out.data : "", wanted);
    buf_fini(&out);
    plain_free(plain);
}

TEST(the_line_before)
{
    answer(">>> ", "1+1\r\n2\r\n>>> ", NULL, "1+1\n2\n>>> ");
    answer(">>> ", "", NULL, "");
    answer("", "a\r\n", NULL, "a\n");
    answer(" 10%", "\r 20%", NULL, " 20%"); /* written anew */
    answer(">>> ", "\r>>> \033[K1\r\n1\r\n>>> ", NULL, "1\n1\n>>> "); /* as before */
    answer("$ ", "\r\033[K$ ls\r\nfile\r\n", "ls\n", "file\n");
}

TEST(the_echo_is_gone)
{
    answer(">>> ", "1+1\r\n2\r\n>>> ", "1+1\n", "2\n>>> ");
    answer(">>> ", "1+1", "1+1", "");
    answer(">>> ", "\r\n>>> ", "\n", ">>> ");
    answer("", "hi\r\nhi\r\n", "hi\n", "hi\n"); /* cat: only the echo */
    answer("$ ", "^C\r\n$ ", "\003", "$ ");
    answer("$ ", "lx\b \bs\r\nfile\r\n$ ", "lx\177s\r", "file\n$ ");
    answer("$ ", "\033[7mecho a\033[27m\r\na\r\n$ ", "\033[200~echo a\033[201~\r", "a\n$ ");
    answer("$ ", "other\r\n", "ls\n", "other\n");
    answer("$ ", "lsof\r\n", "ls\n", "lsof\n"); /* only a whole line */
    answer("$ ", "\033[Als\r\n", "\033[A\n", "ls\n"); /* what a key shows is not known */
}

TEST(the_echo_of_many_lines)
{
    answer(">>> ", "a=1\r\n>>> b=2\r\n>>> a+b\r\n3\r\n>>> ", "a=1\nb=2\na+b\n", "3\n>>> ");
    answer(">>> ", "for i in x:\r\n...   print(i)\r\n... \r\n0\r\n>>> ", "for i in x:\n  print(i)\n\n", "0\n>>> ");
    answer("$ ", "echo a\r\necho b\r\na\r\n$ b\r\n$ ", "echo a\necho b\n", "a\n$ b\n$ ");
    answer("$ ", "echo a\r\na\r\n$ echo b\r\nb\r\n$ ", "echo a\necho b\n", "a\nb\n$ ");
    answer("$ ", "echo a\r\na\r\nnot echo b\r\n$ ", "echo a\necho b\n", "a\nnot echo b\n$ ");
}

TEST(an_echo_in_the_middle)
{
    struct buf out = BUF_INIT;
    struct plain *plain = plain_new(24, 80);
    plain_feed(plain, "up\r\n>>> ", 8);
    plain_begin(plain);
    plain_feed(plain, "\033[K", 3);
    plain_typed(plain, "1\n", 2);
    plain_feed(plain, "1\r\n1\r\n>>> ", 10);
    plain_typed(plain, "2\n", 2);
    plain_feed(plain, "2\r\n2\r\n>>> ", 10);
    plain_omitted(plain, 77);
    plain_feed(plain, "end", 3);
    plain_take(plain, &out);
    assert_string_equal(out.data, "1\n>>> \n2\n>>> \n... 77 bytes omitted ...\nend");
    buf_fini(&out);
    plain_free(plain);
}

TEST(bounded)
{
    struct plain *plain = plain_new(1000, 1000);
    struct buf out = BUF_INIT;
    static char data[1 << 20];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = "\r\nA\033[999b"[i % 9];
    assert_true(plain_feed(plain, data, sizeof data) < sizeof data);
    plain_take(plain, &out);
    assert_true(out.len <= 4u << 20);
    buf_fini(&out);
    plain_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_stays_as_it_is),
        cmocka_unit_test(sequences_are_gone_or_take_effect),
        cmocka_unit_test(wrapped_lines_are_whole),
        cmocka_unit_test(moves_between_rows),
        cmocka_unit_test(a_cleared_screen_begins_below),
        cmocka_unit_test(alternate_screen),
        cmocka_unit_test(wide_characters_that_lose_a_half),
        cmocka_unit_test(the_line_before),
        cmocka_unit_test(the_echo_is_gone),
        cmocka_unit_test(the_echo_of_many_lines),
        cmocka_unit_test(an_echo_in_the_middle),
        cmocka_unit_test(bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
