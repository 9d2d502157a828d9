/* update: makes the new contents of a file from its old ones and the chunks of an update (CODEX.md,
 * 19.3). It touches no file. */
#ifndef MUXD_PATCH_UPDATE_H
#define MUXD_PATCH_UPDATE_H
#include "base/buf.h"
#include "patch/parse.h"
#include <stdint.h>

#define PATCH_FILE_MAX (32u << 20)    /* bytes of a file that is updated */
#define PATCH_FILE_LINES_MAX 2000000u /* its lines */

enum patch_endings { /* lines that no chunk quotes always keep theirs: CR LF, CR or LF */
    /* the others, too; a new line, and a last one without ending, ends as the line before it */
    PATCH_ENDINGS_PRESERVE,
    PATCH_ENDINGS_CODEX, /* the lines of a chunk, and a last one without ending, end with LF */
    PATCH_ENDINGS_EXACT, /* as PRESERVE, but a last line without ending keeps none */
};

struct patch_old {
    const char *path; /* absolute, for messages */
    const char *text; /* any bytes */
    size_t len;
};

/* Appends the new contents to out. Context lines stay as the file has them, also where a later pass
 * found them. 0; ERR_ARGUMENTS: lines are not there, or two chunks overlap
 * (other than at the end of the file, where Codex lets them); ERR_TOO_LARGE. With an
 * error *why (the caller's) is the text, well-formed UTF-8. *steps counts the work of the searches
 * of one patch and begins at 0. */
int patch_update(struct buf *out, const struct patch *patch, const struct patch_hunk *hunk,
                 const struct patch_old *old, enum patch_endings endings, uint64_t *steps,
                 char **why);
#endif
