/* place: owns the directories that a patch writes to. */
#include "patch/place.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/fdio.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void place_dirs_fini(struct place_dirs *dirs)
{
    for (size_t i = 0; i < dirs->count; i++) {
        fd_close(&dirs->items[i]->fd);
        free(dirs->items[i]->real);
        free(dirs->items[i]->name);
        free(dirs->items[i]);
    }
    free(dirs->items);
    *dirs = (struct place_dirs){.items = NULL};
}

static void append_parts(struct buf *out, const char *path)
{
    while (*path != '\0') {
        size_t size = strcspn(path, "/");
        if (size == 2 && memcmp(path, "..", 2) == 0) {
            while (out->len > 0 && out->data[out->len - 1] != '/')
                buf_truncate(out, out->len - 1);
            if (out->len > 0)
                buf_truncate(out, out->len - 1);
        } else if (size > 0 && !(size == 1 && *path == '.')) {
            buf_append_byte(out, '/');
            buf_append(out, path, size);
        }
        path += size;
        path += strspn(path, "/");
    }
}

char *place_absolute(const char *cwd, const char *path)
{
    struct buf out = BUF_INIT;
    BUG_UNLESS(path[0] == '/' || cwd[0] == '/');
    if (path[0] != '/')
        append_parts(&out, cwd);
    append_parts(&out, path);
    if (out.len == 0)
        buf_append_byte(&out, '/');
    return buf_take(&out);
}

/* The path of a descriptor without symbolic links, as the kernel knows it (proc(5), /proc/pid/fd);
 * NULL with errno. */
static char *real_path(int fd)
{
    char link[64], real[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, real, sizeof real);
    if (size == (ssize_t)sizeof real)
        errno = ENAMETOOLONG;
    return size > 0 && size < (ssize_t)sizeof real ? xstrndup(real, (size_t)size) : NULL;
}

/* Takes fd over. Its directory, from dirs or new there; NULL with errno. */
static struct place_dir *add_dir(struct place_dirs *dirs, int fd)
{
    struct stat info;
    struct place_dir *dir = NULL;
    if (fstat(fd, &info) < 0)
        goto out;
    for (size_t i = 0; i < dirs->count && dir == NULL; i++)
        if (dirs->items[i]->dev == info.st_dev && dirs->items[i]->ino == info.st_ino)
            dir = dirs->items[i];
    if (dir != NULL)
        goto out;
    errno = EMFILE;
    char *real = dirs->count < PLACE_DIRS_MAX ? real_path(fd) : NULL;
    if (real == NULL)
        goto out;
    if (dirs->count == dirs->room) {
        dirs->room = dirs->room == 0 ? 8 : dirs->room * 2;
        dirs->items = xreallocarray(dirs->items, dirs->room, sizeof *dirs->items);
    }
    dir = xcalloc(1, sizeof *dir);
    *dir = (struct place_dir){.fd = fd, .dev = info.st_dev, .ino = info.st_ino, .real = real};
    dirs->items[dirs->count++] = dir;
    fd = -1;
out:
    fd_close(&fd);
    return dir;
}

int place_open(struct place *place, struct place_dirs *dirs, char *path)
{
    BUG_UNLESS(path[0] == '/');
    *place = (struct place){.path = path};
    char *parent = xstrdup(path);
    size_t len = strlen(parent), whole = 0;
    int fd = -1, error = EISDIR;
    place->name = strrchr(path, '/') + 1;
    while (len > 1 && fd < 0) {
        size_t cut = (size_t)(strrchr(parent, '/') - parent);
        if (whole == 0)
            whole = cut;
        parent[cut] = '\0';
        len = cut;
        fd = open(cut > 0 ? parent : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        error = fd < 0 ? errno : 0;
        if (error != 0 && error != ENOENT)
            break;
    }
    free(parent);
    if (error != 0)
        return error;
    place->dir = add_dir(dirs, fd);
    if (place->dir == NULL)
        return errno;
    if (len < whole)
        place->missing = xstrndup(path + len + 1, whole - len - 1);
    return 0;
}

/* A link to nothing is followed by its text. NULL with errno. */
static char *link_target(const struct place *place)
{
    char text[PATH_MAX];
    int fd = openat(place->dir->fd, place->name, O_PATH | O_CLOEXEC);
    char *real = fd >= 0 ? real_path(fd) : NULL;
    fd_close(&fd);
    if (real != NULL)
        return real;
    ssize_t size = readlinkat(place->dir->fd, place->name, text, sizeof text);
    if (size == (ssize_t)sizeof text)
        errno = ENAMETOOLONG;
    if (size <= 0 || size == (ssize_t)sizeof text)
        return NULL;
    text[size] = '\0';
    return place_absolute(place->dir->real, text);
}

int place_follow(struct place *place, struct place_dirs *dirs)
{
    struct stat info;
    for (int links = 0; place->missing == NULL; links++) {
        if (fstatat(place->dir->fd, place->name, &info, AT_SYMLINK_NOFOLLOW) < 0)
            return errno == ENOENT ? 0 : errno;
        if (!S_ISLNK(info.st_mode))
            return 0;
        if (links == PLACE_LINKS_MAX)
            return ELOOP;
        char *path = link_target(place);
        if (path == NULL)
            return errno;
        place_fini(place);
        int error = place_open(place, dirs, path);
        if (error != 0)
            return error;
    }
    return 0;
}

void place_fini(struct place *place)
{
    free(place->path);
    free(place->missing);
    *place = (struct place){.path = NULL};
}

bool place_same(const struct place *a, const struct place *b)
{
    return a->dir == b->dir &&
           strcmp(a->missing != NULL ? a->missing : "", b->missing != NULL ? b->missing : "") ==
               0 &&
           strcmp(a->name, b->name) == 0;
}

static bool is_below(const char *path, const char *root)
{
    size_t size = strlen(root);
    if (size == 1)
        return true;
    return strncmp(path, root, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

/* A root without links, and it is that by now, too. A kernel before Linux 5.6 follows them, and the
 * path of what it has opened tells. */
static int open_straight(const char *root)
{
    const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                 .resolve = RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, root, &how, sizeof how);
    if (fd < 0 && errno == ENOSYS)
        fd = open(root, (int)how.flags);
    char *real = fd >= 0 ? real_path(fd) : NULL;
    if (fd >= 0 && (real == NULL || strcmp(real, root) != 0))
        fd_close(&fd);
    free(real);
    return fd;
}

static bool place_in_roots(const struct place *place, const char *const *roots, bool straight)
{
    BUG_UNLESS(place->dir != NULL);
    for (; *roots != NULL; roots++) {
        int fd = straight ? open_straight(*roots) : open(*roots, O_PATH | O_DIRECTORY | O_CLOEXEC);
        char *real = fd >= 0 ? real_path(fd) : NULL;
        bool inside = real != NULL && is_below(place->dir->real, real);
        free(real);
        fd_close(&fd);
        if (inside)
            return true;
    }
    return false;
}

bool place_inside(const struct place *place, const char *const *roots)
{
    return place_in_roots(place, roots, false);
}

bool place_beneath(const struct place *place, const char *const *roots)
{
    return place_in_roots(place, roots, true);
}

bool place_is_kept(const struct place *place, const char *const *paths)
{
    struct buf path = BUF_INIT;
    bool kept = false;
    buf_printf(&path, "%s/", strcmp(place->dir->real, "/") == 0 ? "" : place->dir->real);
    if (place->missing != NULL)
        buf_printf(&path, "%s/", place->missing);
    buf_append_text(&path, place->name);
    for (; *paths != NULL && !kept; paths++)
        kept = is_below(path.data, *paths);
    buf_fini(&path);
    return kept;
}

/* Makes and opens one directory. One that exists by now (made for another file of the patch) serves
 * as well. */
static struct place_dir *place_make_dir(struct place_dirs *dirs, struct place_dir *parent,
                                        const char *name, mode_t umask_bits)
{
    bool made = mkdirat(parent->fd, name, 0700) == 0;
    if (!made && errno != EEXIST)
        return NULL;
    int fd = openat(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && made && fchmod(fd, 0777 & ~umask_bits) < 0)
        fd_close(&fd);
    struct place_dir *dir = fd < 0 ? NULL : add_dir(dirs, fd);
    if (dir == NULL && made)
        unlinkat(parent->fd, name, AT_REMOVEDIR);
    if (dir != NULL && made) {
        dir->parent = parent;
        dir->name = xstrdup(name);
    }
    return dir;
}

int place_make_dirs(struct place *place, struct place_dirs *dirs, mode_t umask_bits)
{
    BUG_UNLESS(place->dir != NULL);
    while (place->missing != NULL) {
        size_t size = strcspn(place->missing, "/");
        char *name = xstrndup(place->missing, size),
             *rest = place->missing[size] == '/' ? xstrdup(place->missing + size + 1) : NULL;
        struct place_dir *dir = place_make_dir(dirs, place->dir, name, umask_bits);
        int error = errno;
        free(name);
        if (dir == NULL) {
            free(rest);
            return error;
        }
        free(place->missing);
        place->missing = rest;
        place->dir = dir;
    }
    return 0;
}

void place_remove_dirs(struct place_dirs *dirs)
{
    for (size_t i = dirs->count; i > 0; i--)
        if (dirs->items[i - 1]->parent != NULL)
            unlinkat(dirs->items[i - 1]->parent->fd, dirs->items[i - 1]->name, AT_REMOVEDIR);
}
