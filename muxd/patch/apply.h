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
 * place, then exchanges them by rename; when a later file fails, it undoes what was done. Both wait
 * for nothing but the file system, cap all sizes and keep no state outside the plan, so they may
 * run on a thread or in a child. New contents are on the disk (fsync(2)) before they get their
 * names.
 *
 * Rules: updates and additions go through symbolic links, a deletion removes the link; where links
 * lead decides whether a file is inside the roots. Only regular files are updated, deleted,
 * overwritten. An updated file keeps its mode, owner and group; a moved one takes those of its
 * source. A file that has other names (hard links) is written in place, so that they keep showing
 * it: a crash of the machine meanwhile can leave it half written, where others are whole. */
#ifndef MUXD_PATCH_APPLY_H
#define MUXD_PATCH_APPLY_H
#include "base/buf.h"
#include "patch/update.h"
#include <sys/types.h>

#define PATCH_TOTAL_MAX (128u << 20) /* bytes of all files of a patch, old and new contents */

struct patch_options {
    const char *cwd;             /* absolute; relative paths of the patch begin here */
    /* NULL-terminated: only these directories may be written; NULL: everywhere */
    const char *const *roots;
    /* of a sandbox, paths without links: only below the first ones, and not in the others; NULL:
     * there is none */
    const char *const *beneath, *const *kept;
    bool read_only; /* refuse to write, after the patch was verified */
    bool allow_outside;          /* a person approved: roots and read_only don't refuse */
    /* one file may stand in several sections, which are applied one behind the other, and there is
     * no choice of environments: as for the program apply_patch; else both are refused */
    bool sections;
    enum patch_endings endings;
    mode_t umask_bits;           /* taken from new files (0666) and directories (0777) */
};

/* One operation, for approvals and events. Everything in it is borrowed from the plan. */
struct patch_file {
    enum patch_kind kind;
    /* as in the success text: the patch's spelling, of the new path when moved */
    const char *path;
    const char *source;  /* absolute: the file that is read or deleted; NULL for PATCH_ADD */
    const char *target;  /* absolute: the file that is written; NULL for PATCH_DELETE */
    bool moved;          /* source is removed, target is another file */
    bool overwrites;     /* a file is at target already (always for an update in place) */
    bool outside;        /* outside of the roots */
    /* contents, or NULL; the old ones only for PATCH_UPDATE */
    const char *old_text, *new_text;
    size_t old_len, new_len;
};

enum patch_stage {
    PATCH_STAGE_PARSE = 1, /* the text is not a patch */
    PATCH_STAGE_VERIFY,    /* it does not fit the files */
    PATCH_STAGE_REJECTED,  /* empty (ERR_ARGUMENTS), or not allowed to write there (ERR_DENIED) */
    /* writing failed; everything is as before, unless the text says otherwise */
    PATCH_STAGE_COMMIT,
};

struct patch_failure {
    enum patch_stage stage;
    int code;      /* negative ERR_…, also the function's result */
    char *program; /* stderr of the program apply_patch, without the last newline */
    /* the tool's answer: "apply_patch verification failed: …", "patch rejected: …", or for
     * PATCH_STAGE_COMMIT the output of a call with exit code 1 */
    char *reply;
    /* what Codex's program leaves out: "Permission denied (os error 13)"; NULL: nothing */
    char *cause;
};

struct patch_plan;

/* Parses (leniently) and verifies. 0 and *plan, or negative. *plan is also set when the patch was
 * refused for where it writes (PATCH_STAGE_REJECTED), so that the caller can ask a person: such a
 * plan can't be committed; after approval prepare again with allow_outside. failure is set in every
 * case, and patch_failure_fini is the caller's. */
int patch_prepare(struct patch_plan **plan, const char *text, size_t len,
                  const struct patch_options *options, struct patch_failure *failure);
/* Commits a plan, once. 0, or negative with *failure set. */
int patch_commit(struct patch_plan *plan, struct patch_failure *failure);
void patch_plan_free(struct patch_plan *plan); /* NULL is fine */
void patch_failure_fini(struct patch_failure *failure);

size_t patch_plan_count(const struct patch_plan *plan);
struct patch_file patch_plan_file(const struct patch_plan *plan, size_t at);
/* Of a committed plan: "Success. Updated the following files:" and a line for each, added,
 * modified, deleted. False: out is at its max. */
bool patch_success(const struct patch_plan *plan, struct buf *out);
#endif
