/* prepare: owns the verification of a patch: it looks at every file that the patch names and
 * computes every new content, before anything is written. */
#include "base/bug.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "patch/plan.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_ENVIRONMENTS "apply_patch environment selection is unavailable for this turn"

struct check {
    struct patch_plan *plan;
    struct patch_failure *failure;
    const char *cwd;
    uint64_t steps; /* of all searches in the patch */
    size_t total;   /* bytes of contents so far */
    bool twice;     /* the last look met a file of another section */
    /* owned: the first file that can't be written; told when all else is right, as Codex tells it
     * when it writes */
    char *unwritable, *unwritable_why;
};

static int prepare_refuse(struct check *check, char *text, const char *reason)
{
    return patch_fail(check->failure, PATCH_STAGE_VERIFY, ERR_ARGUMENTS, text, reason);
}

/* The last step that touched the file at place: it wrote it, or dropped it. NULL: none. */
static const struct step *last_step(const struct check *check, const struct place *place,
                                    bool *wrote)
{
    const struct patch_plan *plan = check->plan;
    for (size_t i = plan->count - 1; i > 0; i--) {
        const struct step *step = &plan->steps[i - 1];
        *wrote = step->writes && place_same(&step->write.place, place);
        if (*wrote || (step->drops && place_same(&step->drop.place, place)))
            return step;
    }
    return NULL;
}

/* Looks at a file that an earlier section of the patch has touched: as that one leaves it. */
static char *prepare_look_again(struct check *check, struct spot *spot, const struct step *step,
                                bool wrote, bool may_miss)
{
    const struct spot *before = wrote ? &step->write : &step->drop;
    check->twice = !check->plan->options.sections;
    spot->existed = before->existed;
    spot->was = before->was;
    spot->earlier = wrote ? step : NULL;
    return wrote || may_miss ? NULL : patch_os_error(ENOENT);
}

enum look { LOOK_READ, LOOK_WRITE, LOOK_DELETE };

/* Whether a file of this kind will do; NULL, or the reason of a refusal, the caller's. */
static char *look_kind(const struct spot *spot, enum look how)
{
    mode_t mode = spot->was.st_mode;
    if (S_ISREG(mode) || (how == LOOK_DELETE && S_ISLNK(mode)))
        return NULL;
    if (how != LOOK_WRITE)
        return xasprintf("path `%s` is not a file", spot->shown);
    return S_ISDIR(mode) ? patch_os_error(EISDIR) : xstrdup("it is no regular file");
}

/* Opens the directory of path and looks at the file there: it has to be a regular file, or missing
 * when it is to be written. NULL, or the reason of a refusal, the caller's. */
static char *prepare_look(struct check *check, struct spot *spot, const char *path, enum look how)
{
    struct place_dirs *dirs = &check->plan->dirs;
    bool may_miss = how == LOOK_WRITE, wrote = false;
    spot->shown = place_absolute(check->cwd, path);
    int error = place_open(&spot->place, dirs, xstrdup(spot->shown));
    if (error != 0)
        return patch_os_error(error);
    const struct step *before = last_step(check, &spot->place, &wrote);
    if (before == NULL && how != LOOK_DELETE) {
        if ((error = place_follow(&spot->place, dirs)) != 0)
            return patch_os_error(error);
        before = last_step(check, &spot->place, &wrote);
    }
    if (before != NULL)
        return prepare_look_again(check, spot, before, wrote, may_miss);
    if (spot->place.missing != NULL)
        return may_miss ? NULL : patch_os_error(ENOENT);
    if (fstatat(spot->place.dir->fd, spot->place.name, &spot->was, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT && may_miss ? NULL : patch_os_error(errno);
    spot->existed = true;
    return look_kind(spot, how);
}

/* A file to be overwritten must be writable itself, as for open(2), though rename(2) would not need
 * that. */
static char *look_writable(const struct spot *spot)
{
    if (!spot->existed || faccessat(spot->place.dir->fd, spot->place.name, W_OK, AT_EACCESS) == 0)
        return NULL;
    return patch_os_error(errno);
}

/* Reads the whole file at spot and sets spot->was to what was read. NULL, or the reason of a
 * refusal. */
static char *prepare_read_file(struct check *check, struct spot *spot, struct buf *out)
{
    char *why = NULL;
    if (spot->earlier != NULL) {
        buf_append(out, spot->earlier->new.data ? spot->earlier->new.data : "",
                   spot->earlier->new.len);
        return NULL;
    }
    int fd = openat(spot->place.dir->fd, spot->place.name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &spot->was) < 0) {
        why = patch_os_error(errno);
        goto out;
    }
    if (spot->was.st_size > PATCH_FILE_MAX ||
        check->total + (size_t)spot->was.st_size > PATCH_TOTAL_MAX) {
        why = xasprintf("too large: at most %u bytes a file and %u a patch", PATCH_FILE_MAX,
                        PATCH_TOTAL_MAX);
        goto out;
    }
    size_t room = (size_t)spot->was.st_size + 1; /* one more shows that it has grown */
    ssize_t size = fd_read_all(fd, buf_reserve(out, room), room);
    if (size < 0)
        why = patch_os_error(errno);
    else if ((size_t)size == room)
        why = xstrdup("another program is writing it; try again");
    else
        buf_commit(out, (size_t)size);
out:
    fd_close(&fd);
    return why;
}

static int refuse_twice(struct check *check, const struct spot *spot)
{
    struct patch_error error = {.message = xasprintf("multiple operations target %s", spot->shown)};
    char *reason = patch_error_text(&error, false);
    int rc = patch_fail(check->failure, PATCH_STAGE_PARSE, ERR_ARGUMENTS,
                        patch_error_text(&error, true), reason);
    free(reason);
    patch_error_fini(&error);
    return rc;
}

/* A file that can't be written is told last: it is remembered, and the step does not write. */
static int check_target(struct check *check, struct step *step, const char *path)
{
    char *why = prepare_look(check, &step->write, path, LOOK_WRITE);
    if (check->twice) {
        free(why);
        return refuse_twice(check, &step->write);
    }
    if (why == NULL)
        why = look_writable(&step->write);
    step->writes = why == NULL;
    if (why != NULL && check->unwritable == NULL) {
        check->unwritable = xasprintf("Failed to write file %s", step->write.shown);
        check->unwritable_why = why;
        return 0;
    }
    free(why);
    return 0;
}

static int check_add(struct check *check, struct step *step, const struct patch_hunk *hunk)
{
    int rc = check_target(check, step, hunk->path);
    for (size_t i = 0; i < hunk->count; i++) {
        const struct patch_line *line = &check->plan->patch.changes[hunk->first + i].line;
        buf_append(&step->new, line->text, line->len);
        buf_append_byte(&step->new, '\n');
    }
    step->like = step->write.existed ? &step->write.was : NULL;
    return rc;
}

static int check_delete(struct check *check, struct step *step, const struct patch_hunk *hunk)
{
    char *why = prepare_look(check, &step->drop, hunk->path, LOOK_DELETE);
    step->drops = why == NULL;
    int rc = 0;
    if (check->twice) {
        rc = refuse_twice(check, &step->drop);
    } else if (why != NULL) {
        prepare_refuse(check, xasprintf("Failed to delete file %s", step->drop.shown), why);
        rc = patch_fail_reply(check->failure,
                              xasprintf("apply_patch verification failed: Failed to read %s: %s",
                                        step->drop.shown, why));
    }
    free(why);
    return rc;
}

static int check_contents(struct check *check, struct step *step, const struct patch_hunk *hunk,
                          struct spot *source)
{
    struct patch_old old = {source->shown, step->old.len > 0 ? step->old.data : "",
                            step->old.len};
    char *why;
    if (patch_update(&step->new, &check->plan->patch, hunk, &old, check->plan->options.endings,
                     &check->steps, &why) == 0)
        return 0;
    return prepare_refuse(check, why, NULL);
}

static int check_source(struct check *check, struct step *step, const struct patch_hunk *hunk)
{
    struct spot *source = &step->drop;
    char *why = prepare_look(check, source, hunk->path, LOOK_READ);
    if (check->twice) {
        free(why);
        return refuse_twice(check, source);
    }
    if (why == NULL)
        why = prepare_read_file(check, source, &step->old);
    if (why == NULL)
        return check_contents(check, step, hunk, source);
    int rc = prepare_refuse(
        check, xasprintf("Failed to read file to update %s: %s", source->shown, why), NULL);
    free(why);
    return rc;
}

/* The source of a move that was read through a symbolic link: the link goes, not its target. */
static void drop_link(struct check *check, struct spot *source, const char *path)
{
    struct spot link = {.saved = BUF_INIT};
    char *why = prepare_look(check, &link, path, LOOK_DELETE);
    struct spot gone = link;
    if (why == NULL && link.existed && S_ISLNK(link.was.st_mode)) {
        gone = *source;
        *source = link;
    }
    place_fini(&gone.place);
    free(gone.shown);
    free(why);
}

static int check_update(struct check *check, struct step *step, const struct patch_hunk *hunk)
{
    struct spot *source = &step->drop;
    int rc = check_source(check, step, hunk);
    if (rc == 0)
        rc = check_target(check, step, hunk->move != NULL ? hunk->move : hunk->path);
    if (rc < 0)
        return rc;
    step->source_was = source->was;
    step->like = source->earlier != NULL ? source->earlier->like : &step->source_was;
    if (hunk->move != NULL && !place_same(&source->place, &step->write.place)) {
        drop_link(check, source, hunk->path);
        step->drops = true;
        return 0;
    }
    step->write.was = source->was; /* as it was when it was read */
    step->unchanged = source->earlier == NULL && step->old.len == step->new.len &&
                      (step->old.len == 0 ||
                       memcmp(step->old.data, step->new.data, step->old.len) == 0);
    return 0;
}

/* What becomes of a file is decided by the last section that names it. */
static void supersede(struct patch_plan *plan, struct step *step)
{
    struct spot *const mine[] = {step->writes ? &step->write : NULL,
                                 step->drops ? &step->drop : NULL};
    for (struct step *earlier = plan->steps; earlier < step; earlier++)
        for (int i = 0; i < 2; i++) {
            if (mine[i] == NULL)
                continue;
            if (earlier->writes && place_same(&earlier->write.place, &mine[i]->place))
                earlier->write.superseded = true;
            if (earlier->drops && place_same(&earlier->drop.place, &mine[i]->place))
                earlier->drop.superseded = true;
        }
    if (step->drops && !step->drop.existed) /* made by this patch, and gone again */
        step->drop.superseded = true;
}

static int check_hunk(struct check *check, struct step *step, const struct patch_hunk *hunk)
{
    *step = (struct step){.kind = hunk->kind,
                          .path = hunk->move != NULL ? hunk->move : hunk->path,
                          .old = BUF_INIT,
                          .new = BUF_INIT,
                          .write.saved = BUF_INIT,
                          .drop.saved = BUF_INIT};
    int rc = hunk->kind == PATCH_ADD      ? check_add(check, step, hunk)
             : hunk->kind == PATCH_DELETE ? check_delete(check, step, hunk)
                                          : check_update(check, step, hunk);
    check->total += step->old.len + step->new.len;
    if (rc == 0)
        supersede(check->plan, step);
    if (rc == 0 && check->total > PATCH_TOTAL_MAX)
        return prepare_refuse(
            check,
            xasprintf("the files of this patch have more than %u bytes; split it", PATCH_TOTAL_MAX),
            NULL);
    return rc;
}

static bool is_outside(const struct place *place, const struct patch_options *options)
{
    return (options->roots != NULL && !place_inside(place, options->roots)) ||
           (options->beneath != NULL && !place_beneath(place, options->beneath)) ||
           (options->kept != NULL && place_is_kept(place, options->kept));
}

static int check_roots(struct check *check, const struct patch_options *options)
{
    bool outside = false;
    for (size_t i = 0; i < check->plan->count; i++) {
        struct step *step = &check->plan->steps[i];
        step->outside = (step->drops && is_outside(&step->drop.place, options)) ||
                        (step->writes && is_outside(&step->write.place, options));
        outside = outside || step->outside;
    }
    if (options->allow_outside || (!outside && !options->read_only))
        return 0;
    check->plan->rejected = true;
    const char *text =
        options->read_only
            ? "writing is blocked by read-only sandbox; rejected by user approval settings"
            : "writing outside of the project; rejected by user approval settings";
    return patch_fail(check->failure, PATCH_STAGE_REJECTED, ERR_DENIED, xstrdup(text), NULL);
}

static int check_all(struct check *check, const struct patch_options *options)
{
    struct patch_plan *plan = check->plan;
    int rc = 0;
    plan->steps = xcalloc(plan->patch.hunk_count, sizeof *plan->steps);
    for (size_t i = 0; i < plan->patch.hunk_count && rc == 0; i++) {
        plan->count++;
        rc = check_hunk(check, &plan->steps[i], &plan->patch.hunks[i]);
    }
    if (rc == 0)
        rc = check_roots(check, options);
    if (rc < 0 || check->unwritable == NULL)
        return rc;
    rc = patch_fail(check->failure, PATCH_STAGE_COMMIT, ERR_SYSTEM, check->unwritable,
                    check->unwritable_why);
    check->unwritable = NULL;
    return rc;
}

int patch_prepare(struct patch_plan **plan, const char *text, size_t len,
                  const struct patch_options *options, struct patch_failure *failure)
{
    struct check check = {
        .plan = xcalloc(1, sizeof **plan), .failure = failure, .cwd = options->cwd};
    struct patch_error error;
    BUG_UNLESS(options->cwd && options->cwd[0] == '/');
    *failure = (struct patch_failure){.code = 0};
    check.plan->options = *options;
    check.plan->options.cwd = NULL;
    check.plan->options.roots = NULL;
    check.plan->options.beneath = check.plan->options.kept = NULL;
    *plan = NULL;
    int rc = patch_parse(&check.plan->patch, text, len, PATCH_LENIENT, &error);
    if (rc < 0) {
        char *reason = patch_error_text(&error, false);
        patch_fail(failure, PATCH_STAGE_PARSE, rc, patch_error_text(&error, true), reason);
        free(reason);
    } else if (check.plan->patch.hunk_count == 0) {
        rc = patch_fail(failure, PATCH_STAGE_REJECTED, ERR_ARGUMENTS,
                        xstrdup("No files were modified."), "empty patch");
    } else if (check.plan->patch.environment_id != NULL && !options->sections) {
        patch_fail(failure, PATCH_STAGE_REJECTED, ERR_ARGUMENTS, xstrdup(NO_ENVIRONMENTS), NULL);
        rc = patch_fail_reply(failure, xstrdup(NO_ENVIRONMENTS));
    } else {
        rc = check_all(&check, options);
    }
    free(check.unwritable);
    free(check.unwritable_why);
    patch_error_fini(&error);
    if (rc == 0 || failure->code == ERR_DENIED)
        *plan = check.plan;
    else
        patch_plan_free(check.plan);
    return rc;
}
