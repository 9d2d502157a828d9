/* apply: a patch onto the file system (CODEX.md, 19.4), all of it or nothing.
 *
 *     struct patch_failure failure;
 *     struct patch_plan *plan = NULL;
 *     if (patch_prepare(&plan, text, len, &options, &failure) == 0 &&
 *         patch_commit(plan, &failure) == 0)
 *         patch_success(plan, &out);
 *     else … failure.reply …
 *     patch_failure_fini(&failure);
 *     patch_plan_free(plan);
 *
 * Prepare reads and verifies everything and writes nothing. Commit writes each new file beside its
 * place, then exchanges them by rename; when a later file fails, what was done is undone. Nothing
 * here waits for anything but the file system, and sizes are capped; there is no state outside the
 * plan, so that it may run on a thread or in a child of its own. New contents are on the disk
 * (fsync(2)) before they get their names.
 *
 * Rules: the last part of a path is never followed when it is a symbolic link (refused, with the
 * target's name); directories on the way may be links, and where they lead decides whether a file
 * is inside the roots. Only regular files are updated, deleted, overwritten. Mode, owner and group
 * of an updated file stay; a moved one takes its source's. Hard links are cut. */
#ifndef MUXD_PATCH_APPLY_H
#define MUXD_PATCH_APPLY_H
#include "base/buf.h"
#include "patch/update.h"
#include <sys/types.h>

#define PATCH_TOTAL_MAX (128u << 20) /* bytes of all files of a patch, old and new contents */

struct patch_options {
    const char *cwd;             /* absolute; relative paths of the patch begin here */
    /* NULL-terminated directories that may be written; NULL: everywhere */
    const char *const *roots;
    /* nothing may be written: refused once the patch is known to fit */
    bool read_only;
    bool allow_outside;          /* somebody approved of it: roots and read_only do not refuse */
    enum patch_endings endings;
    mode_t umask_bits;           /* taken from new files (0666) and directories (0777) */
};

/* One operation, for approvals and events. Everything is borrowed from the plan. */
struct patch_file {
    enum patch_kind kind;
    /* as the success text names it: the patch's spelling, of the new path when moved */
    const char *path;
    const char *source;  /* absolute: the file that is read or deleted; NULL for PATCH_ADD */
    const char *target;  /* absolute: the file that is written; NULL for PATCH_DELETE */
    bool moved;          /* source is removed, target is another file */
    bool overwrites;     /* a file is at target already (always so for an update in place) */
    bool outside;        /* outside of the roots */
    /* contents; NULL where there are none. The old ones are known for PATCH_UPDATE only */
    const char *old_text, *new_text;
    size_t old_len, new_len;
};

enum patch_stage {
    PATCH_STAGE_PARSE = 1, /* the text is no patch */
    PATCH_STAGE_VERIFY,    /* it does not fit the files */
    PATCH_STAGE_REJECTED,  /* empty (ERR_ARGUMENTS), or writing there is not allowed (ERR_DENIED) */
    /* writing failed; everything is as it was, unless the text says otherwise */
    PATCH_STAGE_COMMIT,
};

struct patch_failure {
    enum patch_stage stage;
    int code;      /* negative ERR_…, also the function's result */
    char *program; /* what the program apply_patch says on stderr, without the last newline */
    /* what a tool answers: "apply_patch verification failed: …", "patch rejected: …", or for
     * PATCH_STAGE_COMMIT the output of a call with exit code 1 */
    char *reply;
    /* what Codex's program keeps to itself: "Permission denied (os error 13)"; NULL: program says
     * it all */
    char *cause;
};

struct patch_plan;

/* Parses (leniently) and verifies. 0 and *plan, or negative; *plan is set too when the refusal was
 * PATCH_STAGE_REJECTED for where it writes, so that somebody can be asked: such a plan can't be
 * committed, approval means to prepare anew with allow_outside. failure is set in every case, and
 * patch_failure_fini the caller's. */
int patch_prepare(struct patch_plan **plan, const char *text, size_t len,
                  const struct patch_options *options, struct patch_failure *failure);
/* Once a plan. 0, or negative with *failure set. */
int patch_commit(struct patch_plan *plan, struct patch_failure *failure);
void patch_plan_free(struct patch_plan *plan); /* NULL is fine */
void patch_failure_fini(struct patch_failure *failure);

size_t patch_plan_count(const struct patch_plan *plan);
struct patch_file patch_plan_file(const struct patch_plan *plan, size_t at);
/* "Success. Updated the following files:" and a line for each, added, modified, deleted; false when
 * out is at its max. */
bool patch_success(const struct patch_plan *plan, struct buf *out);
#endif
