/* commit: owns the writing of a verified plan and its undoing. It first writes new contents under
 * temporary names in the same directories; then each file changes by one rename(2) that keeps the
 * old file, so that it can be put back. A file with other names is written in place; its old
 * contents are kept in memory meanwhile. */
#include "base/bug.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/mem.h"
#include "patch/plan.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define CHANGED_REASON "somebody changed it in the meantime; look at it again"

static int fresh_name(struct spot *spot)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return errno;
    snprintf(spot->temp, sizeof spot->temp, ".muxd-patch-%016llx", (unsigned long long)number);
    return 0;
}

/* Owner and group first: changing them clears set-id bits. */
static int dress(int fd, const struct stat *like, mode_t umask_bits)
{
    struct stat now;
    if (like == NULL)
        return fchmod(fd, 0666 & ~umask_bits);
    if (fstat(fd, &now) < 0)
        return -1;
    if ((now.st_uid != like->st_uid || now.st_gid != like->st_gid) &&
        fchown(fd, like->st_uid, like->st_gid) < 0)
        return -1;
    return fchmod(fd, like->st_mode & 07777);
}

/* Writes the new contents beside their place; 0 or an errno. */
static int stage(struct patch_plan *plan, struct step *step)
{
    struct spot *spot = &step->write;
    BUG_UNLESS(spot->state == SPOT_UNTOUCHED && spot->place.dir != NULL);
    int error = place_make_dirs(&spot->place, &plan->dirs, plan->options.umask_bits);
    if (error == 0)
        error = fresh_name(spot);
    if (error != 0)
        return error;
    int fd = openat(spot->place.dir->fd, spot->temp,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    spot->state = SPOT_STAGED;
    /* On the disk before it gets its name: a crash leaves the old file or the new one, never an
     * empty one. */
    if (fd_write_all(fd, step->new.data, step->new.len) < (ssize_t)step->new.len ||
        dress(fd, step->like, plan->options.umask_bits) < 0 ||
        (fsync(fd) < 0 && errno != EINVAL && errno != EROFS))
        error = errno;
    if (close(fd) < 0 && error == 0)
        error = errno;
    return error;
}

static bool is_unsupported(int error)
{
    return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

/* Whether name, beside spot, is the very file that was verified, unchanged. */
static bool is_as_verified(const struct spot *spot, const char *name)
{
    struct stat now;
    const struct stat *was = &spot->was;
    return fstatat(spot->place.dir->fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           now.st_dev == was->st_dev && now.st_ino == was->st_ino && now.st_size == was->st_size &&
           now.st_mtim.tv_sec == was->st_mtim.tv_sec && now.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

/* Without RENAME_EXCHANGE in the file system: the old file gets a second name before the new one
 * replaces it. */
static int swap_by_link(struct spot *spot)
{
    struct spot aside = *spot;
    int fd = spot->place.dir->fd, error = fresh_name(&aside);
    if (error != 0)
        return error;
    if (linkat(fd, spot->place.name, fd, aside.temp, 0) < 0)
        return errno;
    if (renameat(fd, spot->temp, fd, spot->place.name) < 0) {
        error = errno;
        unlinkat(fd, aside.temp, 0);
        return error;
    }
    memcpy(spot->temp, aside.temp, sizeof spot->temp);
    return 0;
}

static int swap(struct spot *spot)
{
    int fd = spot->place.dir->fd;
    if (renameat2(fd, spot->temp, fd, spot->place.name, RENAME_EXCHANGE) == 0)
        return 0;
    return is_unsupported(errno) ? swap_by_link(spot) : errno;
}

/* Moves a file to a name that must not exist yet. */
static int move_new(int fd, const char *from, const char *to)
{
    if (renameat2(fd, from, fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (!is_unsupported(errno))
        return errno;
    if (linkat(fd, from, fd, to, 0) < 0)
        return errno;
    if (unlinkat(fd, from, 0) == 0)
        return 0;
    int error = errno;
    unlinkat(fd, to, 0);
    return error;
}

/* Moves the staged file to its place. 0, an errno, or -1: the file there is not the verified
 * one. */
static int write_spot(struct spot *spot)
{
    BUG_UNLESS(spot->state == SPOT_STAGED);
    if (!spot->existed) {
        int error = move_new(spot->place.dir->fd, spot->temp, spot->place.name);
        if (error == 0)
            spot->state = SPOT_CREATED;
        return error == EEXIST ? -1 : error;
    }
    if (!is_as_verified(spot, spot->place.name))
        return -1;
    int error = swap(spot);
    if (error == 0)
        spot->state = SPOT_SWAPPED;
    return error == ENOENT || (error == 0 && !is_as_verified(spot, spot->temp)) ? -1 : error;
}

static int drop_spot(struct spot *spot)
{
    BUG_UNLESS(spot->state == SPOT_UNTOUCHED && spot->existed);
    if (!is_as_verified(spot, spot->place.name))
        return -1;
    int error = fresh_name(spot);
    if (error == 0)
        error = move_new(spot->place.dir->fd, spot->place.name, spot->temp);
    if (error == 0)
        spot->state = SPOT_TAKEN;
    return error == ENOENT || (error == 0 && !is_as_verified(spot, spot->temp)) ? -1 : error;
}

static bool has_other_names(const struct spot *spot)
{
    return spot->existed && spot->was.st_nlink > 1;
}

static int overwrite(int fd, const struct buf *text)
{
    if (lseek(fd, 0, SEEK_SET) < 0 ||
        fd_write_all(fd, text->data, text->len) < (ssize_t)text->len ||
        ftruncate(fd, (off_t)text->len) < 0 || (fsync(fd) < 0 && errno != EINVAL && errno != EROFS))
        return errno;
    return 0;
}

static int open_in_place(const struct spot *spot)
{
    BUG_UNLESS(spot->place.dir);
    return openat(spot->place.dir->fd, spot->place.name,
                  O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* 0, an errno, or -1: it is not the verified file. */
static int rewrite(struct spot *spot, const struct buf *text)
{
    int fd = open_in_place(spot), error = 0;
    size_t size = (size_t)spot->was.st_size;
    if (fd < 0)
        return errno;
    if (!is_as_verified(spot, spot->place.name))
        error = -1;
    else if (size > PATCH_FILE_MAX)
        error = EFBIG;
    else if (fd_read_all(fd, buf_reserve(&spot->saved, size + 1), size + 1) != (ssize_t)size)
        error = -1;
    if (error == 0) {
        buf_commit(&spot->saved, size);
        spot->state = SPOT_REWRITTEN;
        error = overwrite(fd, text);
        /* writing clears set-id bits */
        if (error == 0 && fchmod(fd, spot->was.st_mode & 07777) < 0)
            log_warn("patch: the mode of '%s' could not be set: error %d", spot->place.path, errno);
    }
    fd_close(&fd);
    return error;
}

static bool undo_rewrite(struct spot *spot)
{
    int fd = open_in_place(spot);
    bool done = fd >= 0 && overwrite(fd, &spot->saved) == 0;
    fd_close(&fd);
    return done;
}

/* Restores the spot; false: the old file stays under spot->temp. */
static bool undo(struct spot *spot)
{
    int fd = spot->place.dir != NULL ? spot->place.dir->fd : -1;
    enum spot_state state = spot->state;
    spot->state = SPOT_UNTOUCHED;
    switch (state) {
    case SPOT_UNTOUCHED:
        return true;
    case SPOT_STAGED:
        return unlinkat(fd, spot->temp, 0) == 0;
    case SPOT_CREATED:
        return unlinkat(fd, spot->place.name, 0) == 0;
    case SPOT_SWAPPED:
        return renameat(fd, spot->temp, fd, spot->place.name) == 0;
    case SPOT_TAKEN:
        return move_new(fd, spot->temp, spot->place.name) == 0;
    case SPOT_REWRITTEN:
        return undo_rewrite(spot);
    }
    return false;
}

/* Undoes everything, the last first. NULL, or a text that tells where old files are left, the
 * caller's. */
static char *roll_back(struct patch_plan *plan)
{
    struct buf lost = BUF_INIT;
    for (size_t i = 2 * plan->count; i > 0; i--) {
        struct step *step = &plan->steps[(i - 1) / 2];
        /* a move writes before it removes */
        struct spot *spot = i % 2 == 0 ? &step->drop : &step->write;
        bool kept = spot->state == SPOT_SWAPPED || spot->state == SPOT_TAKEN,
             rewritten = spot->state == SPOT_REWRITTEN, undone = undo(spot);
        if (!undone && rewritten)
            buf_printf(&lost, "; '%s' could not be put back", spot->place.path);
        if (!undone && kept)
            buf_printf(&lost, "; '%s' could not be put back, its old contents are in '%s/%s'",
                       spot->place.path, spot->place.dir->real, spot->temp);
    }
    place_remove_dirs(&plan->dirs);
    if (lost.len > 0)
        return buf_take(&lost);
    buf_fini(&lost);
    return NULL;
}

/* Removes the old files. They are under temporary names, so a failure only leaves a stray file. */
static void clean_up(struct patch_plan *plan)
{
    for (size_t i = 0; i < 2 * plan->count; i++) {
        struct spot *spot = i % 2 == 0 ? &plan->steps[i / 2].write : &plan->steps[i / 2].drop;
        bool aside = spot->state == SPOT_SWAPPED || spot->state == SPOT_TAKEN;
        if (aside && unlinkat(spot->place.dir->fd, spot->temp, 0) < 0)
            log_warn("patch: '%s/%s' could not be removed: error %d", spot->place.dir->real,
                     spot->temp, errno);
        spot->state = SPOT_UNTOUCHED;
    }
}

static int commit_fail(struct patch_plan *plan, struct patch_failure *failure, const char *what,
                       const struct spot *spot, int error)
{
    char *why = error < 0 ? xstrdup(CHANGED_REASON) : patch_os_error(error),
         *lost = roll_back(plan);
    char *text = xasprintf("%s %s%s", what, spot->shown, lost != NULL ? lost : "");
    int rc = patch_fail(failure, PATCH_STAGE_COMMIT, ERR_SYSTEM, text, why);
    free(lost);
    free(why);
    return rc;
}

static bool is_written(const struct step *step)
{
    return step->writes && !step->unchanged && !step->write.superseded;
}

int patch_commit(struct patch_plan *plan, struct patch_failure *failure)
{
    patch_failure_fini(failure);
    BUG_UNLESS(!plan->committed && !plan->rejected);
    plan->committed = true;
    for (size_t i = 0; i < plan->count; i++) {
        struct step *step = &plan->steps[i];
        int error = is_written(step) && !has_other_names(&step->write) ? stage(plan, step) : 0;
        if (error != 0)
            return commit_fail(plan, failure, "Failed to write file", &step->write, error);
    }
    for (size_t i = 0; i < plan->count; i++) {
        struct step *step = &plan->steps[i];
        int error = !is_written(step)               ? 0
                    : has_other_names(&step->write) ? rewrite(&step->write, &step->new)
                                                    : write_spot(&step->write);
        if (error != 0)
            return commit_fail(plan, failure, "Failed to write file", &step->write, error);
        error = step->drops && !step->drop.superseded ? drop_spot(&step->drop) : 0;
        if (error != 0)
            return commit_fail(plan, failure,
                               step->writes ? "Failed to remove original" : "Failed to delete file",
                               &step->drop, error);
    }
    clean_up(plan);
    return 0;
}
