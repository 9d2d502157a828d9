/* parse: the grammar of a patch, what it forgives, and the words it refuses the rest with. */
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "patch/parse.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <string.h>

#define PATCH(body) "*** Begin Patch\n" body "*** End Patch"
#define HEADERS "'*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'"
#define LINES "Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)"

/* The patch in short: A path|+line|, D path, U path>move[@context ( line)-line+line$]. */
static char *shape(const struct patch *patch)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < patch->hunk_count; i++) {
        const struct patch_hunk *hunk = &patch->hunks[i];
        buf_printf(&out, "%c %s", " AUD"[hunk->kind], hunk -> path);
        if (hunk->move != NULL)
            buf_printf(&out, ">%s", hunk->move);
        for (size_t j = 0; j < hunk->count; j++) {
            struct patch_chunk all = {.first = hunk->first + j, .count = 1};
            const struct patch_chunk *chunk = hunk->kind == PATCH_UPDATE ? &patch->chunks[hunk->first + j] : &all;
            if (hunk->kind == PATCH_UPDATE)
                buf_printf(&out, "@%.*s", (int)chunk->context.len, chunk->has_context ? chunk->context.text : "");
            for (size_t k = 0; k < chunk->count; k++) {
                const struct patch_change *change = &patch->changes[chunk->first + k];
                buf_printf(&out, "|%c%.*s", change->sign, (int)change->line.len, change->line.text);
            }
            if (chunk->at_end)
                buf_append_byte(&out, '$');
        }
        buf_append_byte(&out, '\n');
    }
    return buf_take(&out);
}

static void expect_parse(const char *text, const char *want)
{
    struct patch patch;
    struct patch_error error;
    int rc = patch_parse(&patch, text, strlen(text), PATCH_LENIENT, &error);
    if (rc != 0)
        fail_msg("'%s': %s", text, error.message);
    char *got = shape(&patch);
    assert_string_equal(got, want);
    free(got);
    patch_fini(&patch);
    patch_error_fini(&error);
}

static void expect_refusal(const char *text, const char *tool, const char *program)
{
    struct patch patch;
    struct patch_error error;
    assert_int_equal(patch_parse(&patch, text, strlen(text), PATCH_LENIENT, &error), ERR_ARGUMENTS);
    char *got = patch_error_text(&error, false), *says = patch_error_text(&error, true);
    assert_string_equal(got, tool);
    if (program != NULL)
        assert_string_equal(says, program);
    free(got);
    free(says);
    patch_fini(&patch);
    patch_error_fini(&error);
}

TEST(every_kind_of_hunk)
{
    expect_parse(PATCH("*** Add File: nested/new.txt\n+created\n++\n+\n"), "A nested/new.txt|+created|++|+\n");
    expect_parse(PATCH("*** Delete File: delete.txt\n*** Update File: a b.txt\n@@\n-line2\n+changed\n"),
                 "D delete.txt\nU a b.txt@|-line2|+changed\n");
    expect_parse(PATCH("*** Update File: a\n*** Move to: b\n@@ def f():\n x\n-y\n@@\n+z\n*** End of File\n"),
                 "U a>b@def f():| x|-y@|+z$\n");
    expect_parse(PATCH(""), "");
    expect_parse(PATCH("*** Add File: empty\n"), "A empty\n");
    expect_parse(PATCH("*** Add File: a\n+*** End Patch\n+*** Delete File: b\n"), "A a|+*** End Patch|+*** Delete File: b\n");
}

TEST(what_it_forgives)
{
    expect_parse(" \n\t*** Begin Patch \n  *** Add File: a \n+x\n *** Delete File: b\n*** End Patch\t\n \n", "A a|+x\nD b\n");
    expect_parse(PATCH("*** Update File: a  \n@@  \n-x\n*** End of File  \n\n\n@@ y \n+z\n"), "U a@|-x$@y|+z\n");
    expect_parse(PATCH("*** Update File: a\n *** Update File: b\n+x\n"), "U a@| *** Update File: b|+x\n");
    expect_parse(PATCH("*** Update File: a\n-x\n\n+y\n"), "U a@|-x| |+y\n");
    expect_parse(PATCH("*** Update File: a\n\n@@ f\n-x\n"), "U a@f|-x\n");
    expect_parse("*** Begin Patch\r\n*** Update File: a\r\n@@\r\n-old\r\r\n+new\r\n*** End Patch\r\n", "U a@|-old\r|+new\n");
    expect_parse("\xC2\xA0*** Begin Patch\n*** Delete File: \xE2\x80\x83g\n*** End Patch\xE3\x80\x80", "D \xE2\x80\x83g\n");
    expect_parse(PATCH("*** Update File: a\n@@\n-x\n") "\n\n  ", "U a@|-x\n");
    expect_parse("*** Begin Patch\n*** Update File: a\n-x\n *** End Patch", "U a@|-x\n");
}

TEST(a_heredoc_around_it)
{
    expect_parse("<<EOF\n" PATCH("*** Delete File: a\n") "\nEOF\n", "D a\n");
    expect_parse("<<'EOF'\n" PATCH("*** Delete File: a\n") "\nEOF", "D a\n");
    expect_parse("<<\"EOF\"\n" PATCH("") "\nEOF", "");
    expect_refusal("<<\"EOF'\n" PATCH("*** Delete File: a\n") "\nEOF",
                   "invalid patch: The first line of the patch must be '*** Begin Patch'", NULL);
    expect_refusal("<<EOF\n" PATCH("*** Delete File: a\n"), "invalid patch: The first line of the patch must be '*** Begin Patch'", NULL);
    expect_refusal("<<EOF\n*** Begin Patch\nEOF", "invalid patch: The first line of the patch must be '*** Begin Patch'", NULL);
    expect_refusal("<<EOF\n*** Begin Patch\n*** Delete File: a\nEOF", "invalid patch: The last line of the patch must be '*** End Patch'",
                   NULL);
    const char *text = "<<EOF\n" PATCH("*** Delete File: a\n") "\nEOF";
    struct patch patch;
    struct patch_error error;
    assert_int_equal(patch_parse(&patch, text, strlen(text), PATCH_STRICT, &error), ERR_ARGUMENTS);
    patch_fini(&patch);
    patch_error_fini(&error);
}

TEST(what_it_refuses)
{
    static const struct {
        const char *text, *tool, *program;
    } rows[] = {
        {"", "invalid patch: The last line of the patch must be '*** End Patch'",
         "Invalid patch: The last line of the patch must be '*** End Patch'"},
        {"bad", "invalid patch: The first line of the patch must be '*** Begin Patch'", NULL},
        {"*** Begin Patch", "invalid patch: The last line of the patch must be '*** End Patch'", NULL},
        {"*** Begin Patch\nbad", "invalid patch: The last line of the patch must be '*** End Patch'", NULL},
        {PATCH("*** Delete File: a\n") "\necho done", "invalid patch: The last line of the patch must be '*** End Patch'", NULL},
        {PATCH("*** Delete File: a\n") "\n" PATCH("*** Delete File: b\n"),
         "invalid patch: The last line of the patch must be '*** End Patch'", NULL},
        {PATCH("*** Frobnicate File: foo\n"),
         "invalid hunk at line 2, '*** Frobnicate File: foo' is not a valid hunk header. Valid hunk headers: " HEADERS,
         "Invalid patch hunk on line 2: '*** Frobnicate File: foo' is not a valid hunk header. Valid hunk headers: " HEADERS},
        {PATCH("*** Add File: \n+x\n"), "invalid hunk at line 2, '*** Add File:' is not a valid hunk header. Valid hunk headers: " HEADERS,
         NULL},
        {PATCH("*** Add File: a\n+x\nbad\n"), "invalid hunk at line 4, 'bad' is not a valid hunk header. Valid hunk headers: " HEADERS,
         NULL},
        {PATCH("*** Delete File: a\n\n"), "invalid hunk at line 3, '' is not a valid hunk header. Valid hunk headers: " HEADERS, NULL},
        {PATCH("*** Update File: test.py\n"), "invalid hunk at line 2, Update file hunk for path 'test.py' is empty",
         "Invalid patch hunk on line 2: Update file hunk for path 'test.py' is empty"},
        {PATCH("*** Delete File: b\n*** Update File: a\n*** Move to: c\n*** Delete File: d\n"),
         "invalid hunk at line 3, Update file hunk for path 'a' is empty", NULL},
        {PATCH("*** Update File: a\n@@\n"), "invalid hunk at line 4, Update hunk does not contain any lines", NULL},
        {PATCH("*** Update File: a\n@@\n*** End of File\n"), "invalid hunk at line 4, Update hunk does not contain any lines", NULL},
        {PATCH("*** Update File: a\nbad\n"), "invalid hunk at line 3, Unexpected line found in update hunk: 'bad'. " LINES, NULL},
        {PATCH("*** Update File: a\n@@ f\n@@ g\n+x\n"), "invalid hunk at line 4, Unexpected line found in update hunk: '@@ g'. " LINES,
         NULL},
        {PATCH("*** Update File: a\n@@\n-x\nbad\n"),
         "invalid hunk at line 5, Expected update hunk to start with a @@ context marker, got: 'bad'", NULL},
        {PATCH("*** Update File: a\n@@\n-x\n*** End of File\n+y\n"),
         "invalid hunk at line 6, Expected update hunk to start with a @@ context marker, got: '+y'", NULL},
        {PATCH("*** Environment ID:  \n*** Delete File: a\n"), "invalid patch: apply_patch environment_id cannot be empty", NULL},
        {PATCH("*** Update File: a\xFF\n"), "invalid hunk at line 2, Update file hunk for path 'a\xEF\xBF\xBD' is empty", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_refusal(rows[i].text, rows[i].tool, rows[i].program);
}

TEST(an_environment)
{
    const char *text = PATCH("*** Environment ID: remote \n*** Delete File: a\n");
    struct patch patch;
    struct patch_error error;
    assert_int_equal(patch_parse(&patch, text, strlen(text), PATCH_STRICT, &error), 0);
    assert_string_equal(patch.environment_id, "remote");
    assert_int_equal(patch.hunk_count, 1);
    patch_fini(&patch);
}

TEST(caps)
{
    struct patch patch;
    struct patch_error error;
    struct buf text = BUF_INIT;
    buf_append_text(&text, "*** Begin Patch\n");
    for (unsigned i = 0; i <= PATCH_HUNKS_MAX; i++)
        buf_printf(&text, "*** Delete File: %u\n", i);
    buf_append_text(&text, "*** End Patch");
    assert_int_equal(patch_parse(&patch, text.data, text.len, PATCH_STRICT, &error), ERR_TOO_LARGE);
    assert_non_null(strstr(error.message, "split it"));
    patch_fini(&patch);
    patch_error_fini(&error);
    buf_clear(&text);
    buf_append_text(&text, "*** Begin Patch\n*** Add File: a\n");
    for (unsigned i = 0; i <= PATCH_LINES_MAX; i++)
        buf_append_text(&text, "+\n");
    buf_append_text(&text, "*** End Patch");
    assert_int_equal(patch_parse(&patch, text.data, text.len, PATCH_STRICT, &error), ERR_TOO_LARGE);
    patch_fini(&patch);
    patch_error_fini(&error);
    assert_int_equal(patch_parse(&patch, text.data, PATCH_TEXT_MAX + 1, PATCH_STRICT, &error), ERR_TOO_LARGE);
    patch_fini(&patch);
    patch_error_fini(&error);
    buf_clear(&text);
    static const char with_nul[] = "*** Begin Patch\n*** Delete File: a\0b\n*** End Patch";
    buf_append(&text, with_nul, sizeof with_nul - 1);
    assert_int_equal(patch_parse(&patch, text.data, text.len, PATCH_STRICT, &error), ERR_ARGUMENTS);
    assert_non_null(strstr(error.message, "NUL"));
    patch_fini(&patch);
    patch_error_fini(&error);
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_of_hunk),  cmocka_unit_test(what_it_forgives),
                                       cmocka_unit_test(a_heredoc_around_it), cmocka_unit_test(what_it_refuses),
                                       cmocka_unit_test(an_environment),      cmocka_unit_test(caps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
