/* seek: finds the lines of a file that a patch quotes. Four passes, each over the whole remaining
 * range before the next (CODEX.md, 19.3): exact; ignoring blanks at the end; ignoring blanks at
 * both ends; the same with typographic dashes, quotes and spaces folded to ASCII. The first match
 * wins. */
#ifndef MUXD_PATCH_SEEK_H
#define MUXD_PATCH_SEEK_H
#include "patch/line.h"
#include <stddef.h>
#include <stdint.h>

enum seek_pass { SEEK_EXACT, SEEK_TRIM_END, SEEK_TRIM, SEEK_FOLD, SEEK_PASSES };

/* lines that all searches of a patch may compare: about a second */
#define SEEK_STEPS_MAX UINT64_C(500000000)

struct seek {
    const struct patch_line *lines; /* borrowed: the file */
    size_t count;
    /* owned; for each pass a hash of each line, made when the pass first needs them */
    uint64_t *keys[SEEK_PASSES];
    /* borrowed: lines compared so far, shared by the searches of one patch */
    uint64_t *steps;
};

void seek_init(struct seek *seek, const struct patch_line *lines, size_t count, uint64_t *steps);
void seek_fini(struct seek *seek);

#define SEEK_NONE ((size_t)-1)
#define SEEK_COSTLY ((size_t)-2)
/* The first line at or after start where the count lines of want stand in a row; start itself when
 * count is 0. SEEK_NONE: nowhere. SEEK_COSTLY: given up at SEEK_STEPS_MAX. The time is linear in
 * the file and in want. */
size_t seek_find(struct seek *seek, const struct patch_line *want, size_t count, size_t start);
/* Whether two lines are equal in that pass. */
bool seek_same(struct patch_line a, struct patch_line b, enum seek_pass pass);
#endif
