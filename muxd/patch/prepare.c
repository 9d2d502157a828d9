/* prepare: owns the verification of a patch: it looks at every file that the patch names and
 * computes every new content, before anything is written. */
#include "base/bug.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "patch/plan.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct check {
    struct patch_plan *plan;
    struct patch_failure *failure;
    const char *cwd;
    uint64_t steps; /* of all searches in the patch */
    size_t total;   /* bytes of contents so far */
};

static int prepare_refuse(struct check *check, char *text, const char *reason)
{
    return patch_fail(check->failure, PATCH_STAGE_VERIFY, ERR_ARGUMENTS, text, reason);
}

static char *link_reason(const struct place *place)
{
    char target[PATH_MAX];
    ssize_t size = readlinkat(place->dir->fd, place->name, target, sizeof target);
    return xasprintf("it is a symbolic link to '%.*s'; name the file it points to",
                     size > 0 ? (int)size : 0, target);
}

/* Opens the directory of path and looks at the file there: it has to be a regular file, or missing
 * when may_miss. NULL, or the reason of a refusal, the caller's. */
static char *prepare_look(struct check *check, struct spot *spot, const char *path, bool may_miss)
{
    int error = place_open(&spot->place, &check->plan->dirs, place_absolute(check->cwd, path));
    if (error != 0)
        return patch_os_error(error);
    if (spot->place.missing != NULL)
        return may_miss ? NULL : patch_os_error(ENOENT);
    if (fstatat(spot->place.dir->fd, spot->place.name, &spot->was, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT && may_miss ? NULL : patch_os_error(errno);
    spot->existed = true;
    if (S_ISLNK(spot->was.st_mode))
        return link_reason(&spot->place);
    if (S_ISDIR(spot->was.st_mode))
        return patch_os_error(EISDIR);
    return S_ISREG(spot->was.st_mode) ? NULL : xstrdup("it is no regular file");
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

/* Refuses with the text "what PATH"; why (taken over) is the reason, and with told also stands in
 * the program's text. */
static int refuse_file(struct check *check, const char *what, const struct spot *spot, char *why,
                       bool told)
{
    char *text = told ? xasprintf("%s %s: %s", what, spot->place.path, why)
                      : xasprintf("%s %s", what, spot->place.path);
    int rc = prepare_refuse(check, text, told ? NULL : why);
    free(why);
    return rc;
}

static int check_target(struct check *check, struct step *step, const char *path)
{
    char *why = prepare_look(check, &step->write, path, true);
    if (why == NULL)
        why = look_writable(&step->write);
    step->writes = true;
    return why == NULL ? 0 : refuse_file(check, "Failed to write file", &step->write, why, false);
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
    char *why = prepare_look(check, &step->drop, hunk->path, false);
    step->drops = true;
    return why == NULL ? 0 : refuse_file(check, "Failed to delete file", &step->drop, why, false);
}

static int check_contents(struct check *check, struct step *step, const struct patch_hunk *hunk,
                          struct spot *source)
{
    struct patch_old old = {source->place.path, step->old.len > 0 ? step->old.data : "",
                            step->old.len};
    char *why;
    if (patch_update(&step->new, &check->plan->patch, hunk, &old, check->plan->options.endings,
                     &check->steps, &why) == 0)
        return 0;
    return prepare_refuse(check, why, NULL);
}

static int check_update(struct check *check, struct step *step, const struct patch_hunk *hunk)
{
    struct spot *source = &step->drop;
    char *why = prepare_look(check, source, hunk->path, false);
    if (why == NULL)
        why = prepare_read_file(check, source, &step->old);
    if (why != NULL)
        return refuse_file(check, "Failed to read file to update", source, why, true);
    int rc = check_contents(check, step, hunk, source);
    if (rc == 0)
        rc = check_target(check, step, hunk->move != NULL ? hunk->move : hunk->path);
    if (rc < 0)
        return rc;
    step->like = &source->was;
    if (!place_same(&source->place, &step->write.place)) {
        step->drops = true;
        return 0;
    }
    step->write.was = source->was; /* as it was when it was read */
    step->unchanged = step->old.len == step->new.len &&
                      (step->old.len == 0 ||
                       memcmp(step->old.data, step->new.data, step->old.len) == 0);
    return 0;
}

static int check_hunk(struct check *check, struct step *step, const struct patch_hunk *hunk)
{
    *step = (struct step){.kind = hunk->kind,
                          .path = hunk->move != NULL ? hunk->move : hunk->path,
                          .old = BUF_INIT,
                          .new = BUF_INIT};
    int rc = hunk->kind == PATCH_ADD      ? check_add(check, step, hunk)
             : hunk->kind == PATCH_DELETE ? check_delete(check, step, hunk)
                                          : check_update(check, step, hunk);
    check->total += step->old.len + step->new.len;
    if (rc == 0 && check->total > PATCH_TOTAL_MAX)
        return prepare_refuse(
            check,
            xasprintf("the files of this patch have more than %u bytes; split it", PATCH_TOTAL_MAX),
            NULL);
    return rc;
}

static const struct spot *spot_at(const struct patch_plan *plan, size_t at)
{
    const struct step *step = &plan->steps[at / 2];
    return at % 2 == 0 ? (step->drops ? &step->drop : NULL) : (step->writes ? &step->write : NULL);
}

static int check_twice(struct check *check)
{
    for (size_t i = 0; i < 2 * check->plan->count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct spot *a = spot_at(check->plan, i), *b = spot_at(check->plan, j);
            if (a == NULL || b == NULL || !place_same(&a->place, &b->place))
                continue;
            struct patch_error error = {
                .message = xasprintf("multiple operations target %s", a->place.path)};
            char *reason = patch_error_text(&error, false);
            int rc = patch_fail(check->failure, PATCH_STAGE_PARSE, ERR_ARGUMENTS,
                                patch_error_text(&error, true), reason);
            free(reason);
            patch_error_fini(&error);
            return rc;
        }
    return 0;
}

static int check_roots(struct check *check, const struct patch_options *options)
{
    bool outside = false;
    for (size_t i = 0; i < check->plan->count && options->roots != NULL; i++) {
        struct step *step = &check->plan->steps[i];
        step->outside = (step->drops && !place_inside(&step->drop.place, options->roots)) ||
                        (step->writes && !place_inside(&step->write.place, options->roots));
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
        rc = check_twice(check);
    return rc == 0 ? check_roots(check, options) : rc;
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
    *plan = NULL;
    int rc = patch_parse(&check.plan->patch, text, len, PATCH_LENIENT, &error);
    if (rc < 0) {
        char *reason = patch_error_text(&error, false);
        patch_fail(failure, PATCH_STAGE_PARSE, rc, patch_error_text(&error, true), reason);
        free(reason);
    } else if (check.plan->patch.hunk_count == 0) {
        rc = patch_fail(failure, PATCH_STAGE_REJECTED, ERR_ARGUMENTS,
                        xstrdup("No files were modified."), "empty patch");
    } else {
        rc = check_all(&check, options);
    }
    patch_error_fini(&error);
    if (rc == 0 || failure->code == ERR_DENIED)
        *plan = check.plan;
    else
        patch_plan_free(check.plan);
    return rc;
}
