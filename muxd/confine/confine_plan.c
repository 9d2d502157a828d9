/* confine_plan.c: owns what a wish means here: which directories are writable, and what inside them
 * is not. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/path.h"
#include "confine/confine.h"
#include "confine/confine_words.h"
#include "confine/confine_git.h"
#include "confine/confine_hide.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const protected_names[] = {".git", ".muxd", ".codex", ".agents"};

bool confine_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool confine_is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);
    return strcmp(dir, "/") == 0 ||
           (strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/'));
}

static bool has(const struct strv *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], path) == 0)
            return true;
    return false;
}

void confine_add_once(struct strv *list, const char *path)
{
    if (!has(list, path))
        strv_add(list, path);
}

static int add_root(struct confine_plan *plan, const char *path, struct err *err)
{
    char *real = NULL;
    if (*path != '/')
        return err_set(err, ERR_ARGUMENTS,
                       "'%s' can't be a writable root; give an absolute path", path);
    int error = confine_real(path, &real, err), code = 0;
    if (error && err->code)
        code = err->code;
    else if (error || !confine_is_dir(real))
        code = err_set(err, ERR_ARGUMENTS,
                       "'%s' can't be a writable root: %s; make it, or choose another directory",
                       path, error ? strerror(error) : "not a directory");
    else if (strcmp(real, "/") == 0)
        code = err_set(err, ERR_ARGUMENTS,
                       "'/' can't be a writable root; choose a directory below it");
    else if (plan->roots.count == CONFINE_OPEN_MAX)
        code = err_set(err, ERR_TOO_LARGE, "more than %d writable roots; name their parent",
                       CONFINE_OPEN_MAX);
    else
        confine_add_once(&plan->roots, real);
    free(real);
    return code;
}

/* Whether what a variable names lies in the directory. */
static bool holds_place(const char *dir, const char *place)
{
    char real[PATH_MAX];
    return place && *place == '/' && realpath(place, real) && confine_is_below(real, dir);
}

/* Whoever names his home, a parent of the workspace or a part of a repository as the place of
 * temporary files does not mean that all of it may be written. */
static bool widens(const struct confine_plan *plan, const struct confine_place *place,
                   const char *temp)
{
    char dir[PATH_MAX + 1], part[16], user[64];
    if (!realpath(temp, dir))
        return true; /* it is gone */
    snprintf(user, sizeof user, "/run/user/%u", (unsigned)geteuid());
    bool wide = holds_place(dir, strv_env_get(place->env, "HOME")) || holds_place(dir, user) ||
                holds_place(dir, strv_env_get(place->env, "XDG_RUNTIME_DIR"));
    for (size_t i = 0; i < plan->roots.count; i++)
        wide |= confine_is_below(plan->roots.items[i], dir);
    memcpy(dir + strlen(dir), "/", 2); /* so that each part of it ends with one */
    for (size_t i = 0; i < sizeof protected_names / sizeof *protected_names; i++) {
        snprintf(part, sizeof part, "/%s/", protected_names[i]);
        wide |= strstr(dir, part) != NULL;
    }
    return wide;
}

static void add_temp(struct confine_plan *plan, const struct confine_place *place)
{
    const char *given = strv_env_get(place->env, "TMPDIR");
    bool fits = given && *given == '/' && !widens(plan, place, given);
    const char *const all[] = {"/tmp", fits ? given : NULL};
    struct err unused;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && plan->roots.count < CONFINE_OPEN_MAX && confine_is_dir(all[i]))
            add_root(plan, all[i], &unused);
}

/* In a directory that is not ours and that we may not write nobody inside can make it either. */
static bool can_be_made(const char *root)
{
    struct stat st;
    if (access(root, W_OK) == 0)
        return true;
    return errno != EROFS && stat(root, &st) == 0 && st.st_uid == geteuid();
}

/* It stands for a missing one while another command runs, whose end must not take it away. A
 * directory with more than two links is not empty, and need not be read, as /tmp: each directory in
 * it is a link to it, on file systems that count them at all. */
static bool is_placeholder(const char *path, const struct stat *st)
{
    struct dirent *entry;
    bool empty = true;
    if (!S_ISDIR(st->st_mode) || !(st->st_mode & S_ISVTX) || st->st_nlink > 2)
        return false;
    DIR *dir = opendir(path);
    while (dir && empty && (entry = readdir(dir)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (dir)
        closedir(dir);
    return empty;
}

static int protect(struct confine_plan *plan, const char *root, const char *name, struct err *err)
{
    struct stat st;
    int code = 0;
    char *path = path_join(root, name);
    if (has(&plan->roots, path)) {
        ; /* named as a root by itself: whoever asked wants it */
    } else if (lstat(path, &st) != 0) {
        if (can_be_made(root))
            confine_add_once(&plan->made, path);
    } else if (S_ISLNK(st.st_mode)) {
        code = err_set(err, ERR_ARGUMENTS,
                       "'%s' is a symbolic link, which can't be protected inside a writable root; "
                       "replace it by what it points to, or use read-only",
                       path);
    } else if (is_placeholder(path, &st)) {
        confine_add_once(&plan->made, path);
    } else {
        confine_add_once(&plan->kept, path);
        if (strcmp(name, ".git") == 0 && S_ISREG(st.st_mode))
            confine_git_keep(plan, root, path);
    }
    free(path);
    if (!code && plan->made.count > CONFINE_MADE_MAX)
        code = err_set(err, ERR_TOO_LARGE, "too many writable roots; name their parent");
    return code;
}

static int protect_all(struct confine_plan *plan, const char *root, struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < sizeof protected_names / sizeof *protected_names && !code; i++)
        code = protect(plan, root, protected_names[i], err);
    return code;
}

static int shorter_first(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    size_t x = strlen(*left), y = strlen(*right);
    return x != y ? (x < y ? -1 : 1) : strcmp(*left, *right);
}

void confine_sort(struct strv *paths)
{
    if (paths->count > 1)
        qsort(paths->items, paths->count, sizeof *paths->items, shorter_first);
}

static int fill_roots(struct confine_plan *plan, const struct confine_wish *wish,
                      const struct confine_place *place, struct err *err)
{
    int code = add_root(plan, place->cwd, err);
    for (size_t i = 0; wish->roots && wish->roots[i] && !code; i++)
        code = add_root(plan, wish->roots[i], err);
    size_t own = plan->roots.count; /* temporary directories have nothing to protect */
    if (!code && !wish->no_temp)
        add_temp(plan, place);
    for (size_t i = 0; i < own && !code; i++)
        code = protect_all(plan, plan->roots.items[i], err);
    if (!code)
        confine_sort(&plan->roots);
    return code;
}

static bool leads_to_root(const struct confine_plan *plan, const char *dir)
{
    for (size_t i = 0; i < plan->roots.count; i++)
        if (confine_is_below(plan->roots.items[i], dir))
            return true;
    return false;
}

static bool is_in_root(const struct confine_plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->roots.count; i++)
        if (confine_is_below(path, plan->roots.items[i]))
            return true;
    return false;
}

static bool is_root(const struct confine_plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->roots.count; i++)
        if (strcmp(plan->roots.items[i], path) == 0)
            return true;
    return false;
}

/* What runs inside could put another one in its place. */
static int keep_link(struct confine_plan *plan, const char *dir, const char *link, struct err *err)
{
    if (!is_in_root(plan, dir))
        return 0;
    if (leads_to_root(plan, dir))
        return err_set(err, ERR_ARGUMENTS,
                       "'%s', by which muxd finds its config, is a symbolic link, which can't be "
                       "protected inside a writable root; choose another directory, or use "
                       "read-only",
                       link);
    confine_keep(plan, dir);
    return 0;
}

/* While the file does not exist its directory is kept, or what runs inside could make it; one that
 * leads to a root has to stay as it is, and one that is a root is refused. */
static void keep_missing(struct confine_plan *plan, const char *dir, const char *file,
                         struct err *err)
{
    if (!leads_to_root(plan, dir))
        confine_keep(plan, dir);
    else if (is_root(plan, dir))
        err_set(err, ERR_ARGUMENTS,
                "'%s' would decide what the next command may do, and what runs in the sandbox "
                "could make it; make it yourself (an empty file will do), or choose another "
                "directory",
                file);
}

/* Of a name in a directory that is real: only a link and dots lead elsewhere. NULL: nowhere. */
static char *real_name(const char *path, const char *name, const struct stat *st)
{
    bool dots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    return S_ISLNK(st->st_mode) || dots ? realpath(path, NULL) : xstrdup(path);
}

/* One step on the way to a config: *at, the caller's, becomes what name in it is. False: the way
 * ends here; err->code tells whether that is a mistake. */
static bool keep_step(struct confine_plan *plan, char **at, const char *name, bool last,
                      struct err *err)
{
    struct stat st;
    char *path = path_join(*at, name), *real = NULL;
    bool missing = lstat(path, &st) != 0 || is_placeholder(path, &st);
    if (missing && last) {
        keep_missing(plan, *at, path, err);
    } else if (missing && !last && is_in_root(plan, *at) && can_be_made(*at)) {
        confine_pin(plan, path);
        confine_add_once(&plan->made, path);
    } else if (!missing && (!S_ISLNK(st.st_mode) || keep_link(plan, *at, path, err) == 0)) {
        real = real_name(path, name, &st);
        if (real && last)
            confine_keep(plan, real);
    }
    free(path);
    free(*at);
    *at = real;
    return real && !last;
}

/* muxd's own config decides what the next command may do. */
static int keep_config(struct confine_plan *plan, const char *file, struct err *err)
{
    char *way = file && plan->roots.count ? xstrdup(file) : NULL, *rest = way;
    char *at = realpath(way && *way != '/' ? "." : "/", NULL);
    *err = (struct err){0};
    while (rest && at) {
        char *name = rest + strspn(rest, "/");
        rest = strchr(name, '/');
        if (rest)
            *rest++ = '\0';
        if (!keep_step(plan, &at, name, !rest, err))
            break;
    }
    free(at);
    free(way);
    return err->code;
}

/* A root inside another one must not be moved either: its new place would not be protected. */
static int bind_all(struct confine_plan *plan, struct err *err)
{
    for (size_t i = 0; i < plan->roots.count; i++)
        confine_pin(plan, plan->roots.items[i]);
    for (size_t i = 0; i < plan->roots.count; i++)
        confine_add_once(&plan->bound, plan->roots.items[i]);
    for (size_t i = 0; i < plan->pinned.count; i++)
        confine_add_once(&plan->bound, plan->pinned.items[i]);
    confine_sort(&plan->bound);
    if (plan->bound.count <= CONFINE_OPEN_MAX)
        return 0;
    return err_set(err, ERR_TOO_LARGE,
                   "more than %d directories lead to what is protected in the writable roots; "
                   "name fewer roots, or ones that lie closer to it",
                   CONFINE_OPEN_MAX);
}

/* Roots, as the wish says; of a read-only plan none. */
static int fill_mode(struct confine_plan *plan, const struct confine_wish *wish,
                     const struct confine_place *place, struct err *err)
{
    if (wish->mode == CONFINE_WORKSPACE_WRITE)
        return fill_roots(plan, wish, place, err);
    if (!wish->roots || !wish->roots[0])
        return 0;
    return err_set(err, ERR_ARGUMENTS,
                   "read-only has no writable roots; use workspace-write, or leave out '%s'",
                   wish->roots[0]);
}

/* code: what it is when there is no such directory. */
static int real_dir(const char *path, char **out, int code, struct err *err)
{
    char real[PATH_MAX];
    if (!realpath(path, real))
        return err_set(err, code, "'%s': %s; choose another directory", path, strerror(errno));
    *out = xstrdup(real);
    return 0;
}

int confine_plan_make(struct confine_plan *plan, const struct confine_wish *wish,
                      const struct confine_place *place, struct err *err)
{
    BUG_UNLESS(wish->mode != CONFINE_FULL_ACCESS && place->cwd);
    *plan = (struct confine_plan){.mode = wish->mode, .network = wish->network};
    const char *begin = place->begin ? place->begin : place->cwd;
    int code = real_dir(begin, &plan->begin, place->begin ? ERR_SPAWN : ERR_ARGUMENTS, err);
    if (!code && strcmp(begin, place->cwd) == 0)
        plan->cwd = xstrdup(plan->begin);
    else if (!code)
        code = real_dir(place->cwd, &plan->cwd, ERR_ARGUMENTS, err);
    if (!code)
        code = fill_mode(plan, wish, place, err);
    if (!code) {
        const char *const configs[] = {place->config, place->rules, place->own_config};
        for (size_t i = 0; i < sizeof configs / sizeof *configs && !code; i++)
            code = keep_config(plan, configs[i], err);
        if (!code)
            code = confine_hide(plan, wish, place, err);
        if (!code)
            code = bind_all(plan, err);
    }
    if (code)
        confine_plan_fini(plan);
    return code;
}

void confine_plan_fini(struct confine_plan *plan)
{
    free(plan->cwd);
    free(plan->begin);
    strv_fini(&plan->roots);
    strv_fini(&plan->pinned);
    strv_fini(&plan->bound);
    strv_fini(&plan->kept);
    strv_fini(&plan->made);
    strv_fini(&plan->hidden_dirs);
    strv_fini(&plan->hidden_files);
    *plan = (struct confine_plan){.mode = CONFINE_FULL_ACCESS};
}
