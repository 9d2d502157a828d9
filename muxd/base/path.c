/* path.c: owns the choice of muxd's places and the rules for a directory that only we may enter. */
#include "base/path.h"
#include "base/bug.h"
#include "base/limit.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_CONFIG "/etc/muxd/muxd.ini"

mode_t path_umask(void)
{
    mode_t own = umask(077);
    umask(own);
    return own;
}

static const char *env_text(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* The XDG base directory specification: relative paths in these variables are invalid and
 * ignored. */
static const char *env_dir(const char *name)
{
    const char *value = env_text(name);
    return value && *value == '/' ? value : NULL;
}

char *path_home(void)
{
    const char *home = env_dir("HOME");
    if (home)
        return xstrdup(home);
    const struct passwd *entry = getpwuid(geteuid());
    return xstrdup(entry && entry->pw_dir && *entry->pw_dir == '/' ? entry->pw_dir : "/");
}

static bool is_our_dir(const char *dir)
{
    struct stat info;
    return stat(dir, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

#define SHARED_PLACES 2

/* The places of a user's daemon that every login knows. The first is removed at the user's last
 * logout, the second stays. */
static char *shared_place(int i)
{
    return xasprintf(i == 0 ? "/run/user/%u/muxd/muxd.sock" : "/tmp/muxd-%u/muxd.sock",
                     (unsigned)geteuid());
}

bool path_socket_is_named(const char *given)
{
    return given || env_text("MUXD_SOCKET");
}

static char *default_socket(void)
{
    /* After su(1) it may be another user's; after a logout it may be gone. */
    const char *runtime = env_dir("XDG_RUNTIME_DIR");
    if (runtime && is_our_dir(runtime))
        return path_join(runtime, "muxd/muxd.sock");
    char *run_user = xasprintf("/run/user/%u", (unsigned)geteuid());
    bool ours = is_our_dir(run_user);
    free(run_user);
    return shared_place(ours ? 0 : 1);
}

char *path_socket(const char *given)
{
    if (!given)
        given = env_text("MUXD_SOCKET");
    return given ? xstrdup(given) : default_socket();
}

bool path_socket_is_default(const char *path)
{
    char *usual = default_socket();
    bool same = strcmp(path, usual) == 0;
    free(usual);
    for (int i = 0; i < SHARED_PLACES && !same; i++) {
        char *known = shared_place(i);
        same = strcmp(path, known) == 0;
        free(known);
    }
    return same;
}

char *path_socket_look(const char *path, int i)
{
    bool shared = false;
    BUG_UNLESS(i >= 0);
    for (int place = 0; place < SHARED_PLACES && !shared; place++) {
        char *known = shared_place(place);
        shared = strcmp(path, known) == 0;
        free(known);
    }
    if (shared)
        return i < SHARED_PLACES ? shared_place(i) : NULL;
    return i == 0 ? xstrdup(path) : NULL;
}

/* A file that can't be examined counts as there: reading it will tell why. */
static bool may_exist(const char *path)
{
    return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* $NAME/muxd…, else the same below home. */
static char *xdg_path(const char *name, const char *below_home, const char *rest)
{
    const char *dir = env_dir(name);
    if (dir)
        return path_join(dir, rest);
    char *home = path_home();
    char *base = path_join(home, below_home);
    char *path = path_join(base, rest);
    free(base);
    free(home);
    return path;
}

char *path_own_config(void)
{
    return xdg_path("XDG_CONFIG_HOME", ".config", "muxd/muxd.ini");
}

bool path_config_is_named(const char *path)
{
    char *own = path_own_config();
    bool named = path && strcmp(path, own) != 0 && strcmp(path, SYSTEM_CONFIG) != 0;
    free(own);
    return named;
}

char *path_config(const char *given)
{
    if (!given)
        given = env_text("MUXD_CONFIG");
    if (given)
        return xstrdup(given);
    char *path = path_own_config();
    if (may_exist(path))
        return path;
    free(path);
    return may_exist(SYSTEM_CONFIG) ? xstrdup(SYSTEM_CONFIG) : NULL;
}

char *path_state(const char *given)
{
    return given ? xstrdup(given) : xdg_path("XDG_STATE_HOME", ".local/state", "muxd");
}

char *path_dirname(const char *path)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    while (len > 0 && path[len - 1] != '/')
        len--;
    while (len > 1 && path[len - 1] == '/')
        len--;
    return len ? xstrndup(path, len) : xstrdup(".");
}

const char *path_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_join(const char *dir, const char *name)
{
    if (*name == '/' || !*dir)
        return xstrdup(name);
    bool slash = dir[strlen(dir) - 1] == '/';
    return xasprintf("%s%s%s", dir, slash ? "" : "/", name);
}

char *path_at_home(const char *path)
{
    char *home = path_home();
    char *full = strncmp(path, "~/", 2) == 0 ? path_join(home, path + 2) : xstrdup(path);
    free(home);
    return full;
}

int path_make_dir(const char *dir)
{
    if (mkdir(dir, 0700) == 0 || errno == EEXIST)
        return 0;
    if (errno != ENOENT)
        return -1;
    char *parent = path_dirname(dir);
    int result = strcmp(parent, dir) == 0 ? -1 : path_make_dir(parent);
    free(parent);
    if (result != 0)
        return -1;
    return mkdir(dir, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

int path_foreign(const char *path, const char *choose, struct err *err)
{
    struct stat info;
    char *at = xstrdup(path), *dir = path_dirname(path);
    while (stat(at, &info) != 0 && strcmp(at, dir) != 0) {
        free(at);
        at = dir;
        dir = path_dirname(at);
    }
    int result = 0;
    if (stat(at, &info) == 0 && info.st_uid != geteuid())
        result = err_set(err, ERR_SYSTEM, "'%s' belongs to user %u and not to us (%u); %s%s", at,
                         (unsigned)info.st_uid, (unsigned)geteuid(),
                         is_our_dir(dir) ? "remove it, or " : "", choose);
    free(at);
    free(dir);
    return result;
}

static int check_dir(const char *dir, int fd, const char *choose, struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return err_set(err, ERR_SYSTEM, "'%s' can't be examined: %s; %s", dir, strerror(errno),
                       choose);
    if (info.st_uid != geteuid())
        return err_set(err, ERR_SYSTEM, "'%s' belongs to user %u and not to us (%u); %s", dir,
                       (unsigned)info.st_uid, (unsigned)geteuid(), choose);
    if (info.st_mode & 077)
        return err_set(err, ERR_SYSTEM,
                       "'%s' is open to others (mode %04o); run 'chmod 700' on it, or %s", dir,
                       (unsigned)info.st_mode & 07777, choose);
    return 0;
}

/* The nearest directory above dir that exists; the caller's. */
static char *path_above(const char *dir)
{
    char *above = path_dirname(dir);
    while (access(above, F_OK) != 0 && errno == ENOENT) {
        char *next = path_dirname(above);
        free(above);
        above = next;
    }
    return above;
}

static int unmade(const char *dir, int error, const char *choose, struct err *err)
{
    char *above = path_above(dir);
    int result = err_set(err, ERR_SYSTEM, "'%s' can't be made below '%s': %s; %s", dir, above,
                         strerror(error), choose);
    free(above);
    return result;
}

static int path_can_be_made(const char *dir, const char *choose, struct err *err)
{
    char *above = path_above(dir);
    int result = access(above, W_OK | X_OK) == 0 ? 0 : unmade(dir, errno, choose, err);
    free(above);
    return result;
}

/* Where a limit of the kernel is in the way, nothing is wrong with the directory. */
static int unusable(const char *dir, int error, const char *choose, struct err *err)
{
    struct limit_text text;
    if (limit_explain(LIMIT_CONNECTION, error, &text))
        return err_set(err, ERR_SYSTEM,
                       "'%s' can't be used now: %s: the limit of %s is reached; %s", dir,
                       strerror(error), text.limit, text.raise);
    return err_set(err, ERR_SYSTEM, "'%s' can't be used as a directory: %s; remove it, or %s", dir,
                   strerror(error), choose);
}

static int private_dir(const char *dir, const char *choose, struct err *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        struct stat info;
        int saved = errno;
        if (lstat(dir, &info) == 0 && S_ISLNK(info.st_mode))
            return err_set(err, ERR_SYSTEM, "'%s' is a symbolic link; remove it, or %s", dir,
                           choose);
        return unusable(dir, saved, choose, err);
    }
    int result = check_dir(dir, fd, choose, err);
    close(fd);
    return result;
}

/* open(2) would follow "link/" and "link/." in spite of O_NOFOLLOW. */
static char *without_slashes(const char *dir)
{
    char *clean = xstrdup(dir);
    size_t len = strlen(clean);
    while (len > 1 && (clean[len - 1] == '/' || (clean[len - 1] == '.' && clean[len - 2] == '/')))
        clean[--len] = 0;
    return clean;
}

int path_private_dir(const char *dir, const char *choose, struct err *err)
{
    char *clean = without_slashes(dir);
    int result;
    if (!*clean)
        result = err_set(err, ERR_SYSTEM, "'' is no directory; give its path");
    else if (path_make_dir(clean) != 0)
        result = unmade(clean, errno, choose, err);
    else
        result = private_dir(clean, choose, err);
    free(clean);
    return result;
}

int path_private_look(const char *dir, const char *choose, bool *missing, struct err *err)
{
    struct stat info;
    char *clean = without_slashes(dir);
    *missing = lstat(clean, &info) != 0 && errno == ENOENT;
    int result = *missing ? path_can_be_made(clean, choose, err) : private_dir(clean, choose, err);
    free(clean);
    return result;
}
