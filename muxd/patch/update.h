/* update: the new contents of a file from its old ones and the chunks of an update
 * (CODEX.md, 19.3). No file is touched. */
#ifndef MUXD_PATCH_UPDATE_H
#define MUXD_PATCH_UPDATE_H
#include "base/buf.h"
#include "patch/parse.h"
#include <stdint.h>

#define PATCH_FILE_MAX (32u << 20)    /* bytes of a file that is updated */
#define PATCH_FILE_LINES_MAX 2000000u /* its lines */

enum patch_endings {
    /* every line of an updated file ends with LF, the last one too (the default of Codex) */
    PATCH_ENDINGS_LF,
    /* CR LF, CR and LF stay; new lines, and a last one without, end as the line before them does */
    PATCH_ENDINGS_PRESERVE,
    PATCH_ENDINGS_EXACT,    /* the same, but a file whose last line had no ending keeps it so */
};

struct patch_old {
    const char *path; /* absolute, for messages */
    const char *text; /* any bytes */
    size_t len;
};

/* Appends the new contents to out. Lines of context stay as the file has them, also where they were
 * found by a later pass. 0; ERR_ARGUMENTS: some lines are not there, or two chunks overlap;
 * ERR_TOO_LARGE. Then *why (the caller's) is the text, well-formed UTF-8. *steps counts the work of
 * the searches of one patch, 0 at first. */
int patch_update(struct buf *out, const struct patch *patch, const struct patch_hunk *hunk,
                 const struct patch_old *old, enum patch_endings endings, uint64_t *steps,
                 char **why);
#endif
