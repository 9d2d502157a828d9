/* update and seek: what a file becomes, the four passes, line endings, and the way back. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "patch/seek.h"
#include "patch/update.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <string.h>

/* The new contents of old by the chunks, or "!" and why not; the caller's. */
static char *updated(const char *old_text, size_t old_len, const char *chunks, enum patch_endings endings)
{
    char *text = xasprintf("*** Begin Patch\n*** Update File: f\n%s*** End Patch", chunks), *why = NULL;
    struct patch patch;
    struct patch_error error;
    struct buf out = BUF_INIT;
    uint64_t steps = 0;
    if (patch_parse(&patch, text, strlen(text), PATCH_STRICT, &error) != 0)
        fail_msg("%s", error.message);
    struct patch_old old = {"/w/f", old_text, old_len};
    if (patch_update(&out, &patch, &patch.hunks[0], &old, endings, &steps, &why) != 0)
        buf_printf(&out, "!%s", why);
    else
        assert_null(why);
    free(why);
    free(text);
    patch_fini(&patch);
    return buf_take(&out);
}

static void expect(const char *old, const char *chunks, enum patch_endings endings, const char *want)
{
    char *got = updated(old, strlen(old), chunks, endings);
    assert_string_equal(got, want);
    free(got);
}

TEST(worked_examples)
{
    expect("line1\nline2\n", "@@\n-line2\n+changed\n", PATCH_ENDINGS_CODEX, "line1\nchanged\n");
    expect("line1\nline2\nline3\nline4\n", "@@\n-line2\n+changed2\n@@\n-line4\n+changed4\n", PATCH_ENDINGS_CODEX,
           "line1\nchanged2\nline3\nchanged4\n");
    expect("no newline at end", "@@\n-no newline at end\n+first line\n+second line\n", PATCH_ENDINGS_CODEX, "first line\nsecond line\n");
    expect("line1\nline2\n", "@@\n+added line 1\n+added line 2\n", PATCH_ENDINGS_CODEX, "line1\nline2\nadded line 1\nadded line 2\n");
    expect("line1\nna\xC3\xAFve caf\xC3\xA9\nline3\n", "@@\n line1\n-na\xC3\xAFve caf\xC3\xA9\n+na\xC3\xAFve caf\xC3\xA9 \xE2\x9C\x85\n",
           PATCH_ENDINGS_CODEX, "line1\nna\xC3\xAFve caf\xC3\xA9 \xE2\x9C\x85\nline3\n");
    const char *old = "one\r\ntwo\r\nthree\r\n", *chunk = "@@\n-one\n+ONE\n two\n+between\n three\n";
    expect(old, chunk, PATCH_ENDINGS_PRESERVE, "ONE\r\ntwo\r\nbetween\r\nthree\r\n");
    expect(old, chunk, PATCH_ENDINGS_CODEX, "ONE\ntwo\nbetween\nthree\n");
    expect("import x  # local import \xE2\x80\x93 avoids top\xE2\x80\x91level\n",
           "@@\n-import x  # local import - avoids top-level\n+import x\n", PATCH_ENDINGS_CODEX, "import x\n");
}

TEST(the_passes)
{
    expect("x \t\ny\n", "@@\n-x\n+z\n", PATCH_ENDINGS_CODEX, "z\ny\n");
    expect("  x \ny\n", "@@\n-\tx\n+z\n", PATCH_ENDINGS_CODEX, "z\ny\n");
    expect("a x\n", "@@\n-a  x\n+z\n", PATCH_ENDINGS_CODEX, "!Failed to find expected lines in /w/f:\na  x");
    /* A better pass further down wins over a worse one before it; among equals the first one. */
    expect("x \nx\nx\n", "@@\n-x\n+z\n", PATCH_ENDINGS_CODEX, "x \nz\nx\n");
    expect(" x\nx \n", "@@\n-x\n+z\n", PATCH_ENDINGS_CODEX, " x\nz\n");
    /* Context stays as the file has it. */
    expect("\xE2\x80\x9Cq\xE2\x80\x9D  \nx\n", "@@\n \"q\"\n-x\n+z\n", PATCH_ENDINGS_CODEX, "\xE2\x80\x9Cq\xE2\x80\x9D  \nz\n");
    static const char *const folded[] = {"-\xE2\x80\x90",  "-\xE2\x80\x95",  "-\xE2\x88\x92", "'\xE2\x80\x98", "'\xE2\x80\x9B",
                                         "\"\xE2\x80\x9C", "\"\xE2\x80\x9F", " \xC2\xA0",     " \xE2\x80\x82", " \xE2\x80\x8A",
                                         " \xE2\x80\xAF",  " \xE2\x81\x9F",  " \xE3\x80\x80"};
    for (size_t i = 0; i < sizeof folded / sizeof folded[0]; i++) {
        char *old = xasprintf("a%sb\n", folded[i] + 1), *chunk = xasprintf("@@\n-a%cb\n+z\n", folded[i][0]);
        expect(old, chunk, PATCH_ENDINGS_CODEX, "z\n");
        free(old);
        free(chunk);
    }
    struct patch_line cut = {"a\xE2\x80", 3}, same = {"a\xE2\x80", 3}, whole = {"a-", 2};
    assert_true(seek_same(cut, same, SEEK_FOLD));
    assert_false(seek_same(cut, whole, SEEK_FOLD));
    assert_false(seek_same((struct patch_line){"ab", 2}, (struct patch_line){"a", 1}, SEEK_FOLD));
}

TEST(where_it_looks)
{
    const char *old = "f:\n x\ng:\n x\n";
    expect(old, "@@ g:\n- x\n+ y\n", PATCH_ENDINGS_CODEX, "f:\n x\ng:\n y\n");
    expect(old, "@@ f:\n- x\n+ y\n@@\n- x\n+ z\n", PATCH_ENDINGS_CODEX, "f:\n y\ng:\n z\n");
    expect(old, "@@ h:\n- x\n+ y\n", PATCH_ENDINGS_CODEX, "!Failed to find context 'h:' in /w/f");
    expect(old, "@@ g:\n-f:\n", PATCH_ENDINGS_CODEX, "!Failed to find expected lines in /w/f:\nf:");
    expect(old, "@@\n g:\n  x\n+end\n@@\n-f:\n", PATCH_ENDINGS_CODEX, "!Failed to find expected lines in /w/f:\nf:");
    expect("modify\n", "@@\n-missing\n x\n+y\n", PATCH_ENDINGS_CODEX, "!Failed to find expected lines in /w/f:\nmissing\nx");
    expect("", "@@\n-x\n", PATCH_ENDINGS_CODEX, "!Failed to find expected lines in /w/f:\nx");
    expect("", "@@\n+x\n", PATCH_ENDINGS_CODEX, "x\n");
    expect("a\n\n", "@@\n+x\n", PATCH_ENDINGS_CODEX, "a\nx\n\n");
    expect("a\nb\n", "@@ a\n+x\n@@\n-b\n+c\n", PATCH_ENDINGS_CODEX, "a\nc\nx\n");
    expect("a\nb\n", "@@\n-a\n-b\n", PATCH_ENDINGS_CODEX, "");
    /* The partial match before the whole one is not lost. */
    expect("a\na\na\nb\n", "@@\n a\n a\n-b\n+c\n", PATCH_ENDINGS_CODEX, "a\na\na\nc\n");
}

TEST(at_the_end_of_the_file)
{
    const char *chunk = "@@\n-x\n+z\n*** End of File\n";
    expect("x\ny\nx\n", chunk, PATCH_ENDINGS_CODEX, "x\ny\nz\n");
    expect("x\ny\n", chunk, PATCH_ENDINGS_CODEX, "!Failed to find expected lines in /w/f:\nx");
    expect("x\ny\n", chunk, PATCH_ENDINGS_PRESERVE, "!Failed to find expected lines in /w/f:\nx");
    expect("", chunk, PATCH_ENDINGS_CODEX, "!Failed to find expected lines in /w/f:\nx");
    const char *behind = "@@\n a\n-b\n+B\n@@\n-b\n+C\n*** End of File\n";
    const char *same = "@@\n-b\n+B\n*** End of File\n@@\n-b\n+C\n+D\n*** End of File\n";
    for (int endings = PATCH_ENDINGS_PRESERVE; endings <= PATCH_ENDINGS_EXACT; endings++) {
        expect("a\nb\n", behind, (enum patch_endings)endings, "a\nB\n"); /* the first one wins, */
        expect("a\nb\n", same, (enum patch_endings)endings, "a\nB\nD\n"); /* and eats no more than it quotes */
        expect("a\nb\n", "@@\n-b\n+B\n*** End of File\n@@\n-a\n-b\n+C\n*** End of File\n", (enum patch_endings)endings, "C\n");
    }
}

TEST(without_the_last_empty_line)
{
    expect("a\nb\n", "@@\n-a\n+A\n\n", PATCH_ENDINGS_CODEX, "A\nb\n");
    expect("a\nb\n", "@@\n-a\n-\n+A\n+\n", PATCH_ENDINGS_CODEX, "A\nb\n");
    expect("a\nb\n", "@@\n a\n\n+c\n", PATCH_ENDINGS_CODEX, "a\n\nc\nb\n");
    expect("a\n\nb\n", "@@\n-a\n+A\n\n", PATCH_ENDINGS_CODEX, "A\n\nb\n");
    expect("a\nb\n", "@@\n-x\n\n", PATCH_ENDINGS_CODEX, "!Failed to find expected lines in /w/f:\nx\n");
}

TEST(endings)
{
    const char *mixed = "a\r\nb\nc\rd";
    expect(mixed, "@@\n-b\n+B\n+X\n", PATCH_ENDINGS_PRESERVE, "a\r\nB\nX\nc\rd\r");
    expect(mixed, "@@\n-c\n+C\n", PATCH_ENDINGS_PRESERVE, "a\r\nb\nC\rd\r");
    expect(mixed, "@@\n-d\n+D\n+E\n", PATCH_ENDINGS_EXACT, "a\r\nb\nc\rD\rE");
    expect(mixed, "@@\n-b\n+B\n", PATCH_ENDINGS_CODEX, "a\r\nB\nc\rd\n");
    expect("a\r\nb\r\nc\r\nd\r\n", "@@\n b\n-c\n+C\n", PATCH_ENDINGS_CODEX, "a\r\nb\nC\nd\r\n");
    expect("a\r\nb\r\n", "@@\n+c\n", PATCH_ENDINGS_CODEX, "a\r\nb\r\nc\n");
    expect("a\r\nb", "@@\n-a\n+A\n", PATCH_ENDINGS_CODEX, "A\nb\n");
    expect("a\rb\nc\n", "@@\n-a\rb\n+x\n", PATCH_ENDINGS_PRESERVE, "x\nc\n");
    expect("a\r\r\nb\n", "@@\n-a\r\r\n+x\n", PATCH_ENDINGS_CODEX, "x\nb\n");
    expect("a", "@@\n+b\n", PATCH_ENDINGS_EXACT, "a\nb");
    expect("a", "@@\n-a\n", PATCH_ENDINGS_EXACT, "");
    expect("a\nb", "@@\n-a\n+c\n", PATCH_ENDINGS_PRESERVE, "c\nb\n");
    char *got = updated("\0\xFF\nb\n", 5, "@@\n-b\n+c\n", PATCH_ENDINGS_PRESERVE);
    assert_memory_equal(got, "\0\xFF\nc\n", 6);
    free(got);
}

/* Random files and edits: applying and then reversing gives the file back. Lines are few, so that they repeat; all of a chunk's
 * surroundings are context, so that the match is where it should be. */
TEST(there_and_back)
{
    uint32_t seed = 12345;
#define RANDOM(n) ((seed = seed * 1664525 + 1013904223) >> 8) % (n)
    for (int round = 0; round < 2000; round++) {
        struct buf old = BUF_INIT, there = BUF_INIT, back = BUF_INIT;
        const char *ending = RANDOM(2) ? "\n" : "\r\n";
        bool last = RANDOM(2);
        unsigned lines = 2 + RANDOM(12);
        buf_append_text(&there, "@@\n");
        buf_append_text(&back, "@@\n");
        for (unsigned i = 0; i < lines; i++) {
            unsigned what = i < 2 ? 0 : RANDOM(4), word = RANDOM(4);
            if (what < 3)
                buf_printf(&old, "w%u%s", word, i + 1 < lines || last ? ending : "");
            buf_printf(&there, "%cw%u\n", " -\0+"[what == 2 ? 0 : what], word);
            buf_printf(&back, "%cw%u\n", " +\0-"[what == 2 ? 0 : what], word);
        }
        char *new = updated(old.data, old.len, there.data, PATCH_ENDINGS_EXACT);
        char *again = updated(new, strlen(new), back.data, PATCH_ENDINGS_EXACT);
        assert_string_equal(again, old.data);
        free(new);
        free(again);
        buf_fini(&old);
        buf_fini(&there);
        buf_fini(&back);
    }
}

TEST(searches_are_linear)
{
    struct buf old = BUF_INIT, chunk = BUF_INIT;
    buf_append_text(&chunk, "@@\n");
    for (int i = 0; i < 200000; i++)
        buf_append_text(&old, "x\n");
    for (int i = 0; i < 100000; i++)
        buf_append_text(&chunk, " x\n");
    buf_append_text(&chunk, "-y\n");
    int64_t start = clock_mono_ms();
    char *got = updated(old.data, old.len, chunk.data, PATCH_ENDINGS_CODEX);
    assert_int_equal(strncmp(got, "!Failed to find expected lines", 30), 0);
    assert_true(clock_mono_ms() - start < 20000);
    free(got);
    buf_fini(&old);
    buf_fini(&chunk);
    struct patch_line file[2] = {{"a", 1}, {"b", 1}};
    uint64_t steps = SEEK_STEPS_MAX + 1;
    struct seek seek;
    seek_init(&seek, file, 2, &steps);
    assert_true(seek_find(&seek, file, 1, 0) == SEEK_COSTLY);
    seek_fini(&seek);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(worked_examples),
                                       cmocka_unit_test(the_passes),
                                       cmocka_unit_test(where_it_looks),
                                       cmocka_unit_test(at_the_end_of_the_file),
                                       cmocka_unit_test(without_the_last_empty_line),
                                       cmocka_unit_test(endings),
                                       cmocka_unit_test(there_and_back),
                                       cmocka_unit_test(searches_are_linear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
