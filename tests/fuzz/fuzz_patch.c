/* Any bytes as a patch, as a file it is applied to, and as a command: a refusal has words, a result as many lines as
 * the signs say. The input is the patch, and after a NUL byte the file. */
#include "base/bug.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "patch/intercept.h"
#include "patch/update.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
    BUG_UNLESS(text != NULL && text[0] != '\0' && utf8_valid(text, strlen(text)));
}

static size_t count_lines(const char *text, size_t len)
{
    size_t lines = len > 0 && text[len - 1] != '\n';
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Lines come and go as the signs say, at most two less for each chunk that is found without its last empty line. */
static void check_update(const struct patch *patch, const struct patch_hunk *hunk, const struct patch_old *old, enum patch_endings endings)
{
    struct buf out = BUF_INIT;
    uint64_t steps = 0;
    char *why;
    int rc = patch_update(&out, patch, hunk, old, endings, &steps, &why);
    if (rc < 0) {
        check_text(why);
        BUG_UNLESS(out.len == 0 && (rc == ERR_ARGUMENTS || rc == ERR_TOO_LARGE));
    } else if (endings == PATCH_ENDINGS_CODEX) {
        size_t before = count_lines(old->text, old->len), after = count_lines(out.data, out.len), come = 0, gone = 0;
        for (size_t i = 0; i < hunk->count; i++) {
            const struct patch_chunk *chunk = &patch->chunks[hunk->first + i];
            for (size_t j = 0; j < chunk->count; j++) {
                come += patch->changes[chunk->first + j].sign == '+';
                gone += patch->changes[chunk->first + j].sign == '-';
            }
        }
        BUG_UNLESS(after + gone + hunk->count >= before && after <= before + come + hunk->count);
        BUG_UNLESS(out.len == 0 || out.data[out.len - 1] == '\n');
    }
    free(why);
    buf_fini(&out);
}

static void check_patch(const char *text, size_t len, const struct patch_old *old)
{
    struct patch patch;
    struct patch_error error;
    int rc = patch_parse(&patch, text, len, PATCH_LENIENT, &error);
    if (rc < 0) {
        check_text(error.message);
        for (int program = 0; program < 2; program++) {
            char *words = patch_error_text(&error, program);
            check_text(words);
            free(words);
        }
    }
    for (size_t i = 0; rc == 0 && i < patch.hunk_count; i++) {
        BUG_UNLESS(patch.hunks[i].path[0] != '\0');
        for (int endings = PATCH_ENDINGS_PRESERVE; patch.hunks[i].kind == PATCH_UPDATE && endings <= PATCH_ENDINGS_EXACT; endings++)
            check_update(&patch, &patch.hunks[i], old, (enum patch_endings)endings);
    }
    patch_fini(&patch);
    patch_error_fini(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    size_t len = strlen(text), rest = len < size ? len + 1 : size;
    char *file = xmalloc(size - rest + 1);
    if (size > rest)
        memcpy(file, data + rest, size - rest);
    struct patch_old old = {"/f", file, size - rest};
    struct patch_intercepted out;
    check_patch(text, len, &old);
    if (patch_intercept(text, &out)) {
        BUG_UNLESS(out.bare == (out.text == NULL));
        if (out.text != NULL)
            check_patch(out.text, out.len, &old);
        patch_intercepted_fini(&out);
    }
    free(file);
    free(text);
    return 0;
}
