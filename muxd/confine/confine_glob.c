/* confine_glob.c: owns patterns: what is one, which files match it, and whether a path does. */
#include "base/mem.h"
#include "base/path.h"
#include "confine/confine_git.h"
#include "confine/confine_hide.h"
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct glob {
    struct strv *out;
    size_t before; /* what out has had */
    int entries, most, depth;
    bool too_large;
};

static void glob_below(struct glob *glob, const char *dir, const char *rest);
static void glob_each(struct glob *glob, const char *dir, const char *name, bool deep,
                      const char *rest);

static bool glob_is_pattern(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (strchr("*?[", text[i]))
            return true;
    return false;
}

/* dir/name is reached: the end of the pattern, or there is more of it. */
static void glob_reached(struct glob *glob, const char *path, const char *rest)
{
    if (*rest)
        glob_below(glob, path, rest);
    else if (glob->out->count - glob->before >= CONFINE_GLOB_FOUND)
        glob->too_large = true;
    else
        confine_add_once(glob->out, path);
}

static bool glob_is_real_dir(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* One entry of dir. The file system tells mostly by itself what is a directory: of the others
 * nothing is asked but the name. */
static void glob_entry(struct glob *glob, const char *dir, const struct dirent *entry,
                       const char *name, bool deep, const char *rest)
{
    bool maybe_dir = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return;
    glob->too_large = ++glob->entries > glob->most;
    if (deep ? !maybe_dir : fnmatch(name, entry->d_name, 0) != 0)
        return;
    char *path = path_join(dir, entry->d_name);
    if (!deep)
        glob_reached(glob, path, rest);
    else if (glob_is_real_dir(path))
        glob_each(glob, path, name, true, rest);
    free(path);
}

/* Each entry of dir that matches name; deep: "**", which stands for no directory as well, and stays
 * in force below each one. */
static void glob_each(struct glob *glob, const char *dir, const char *name, bool deep,
                      const char *rest)
{
    struct dirent *entry;
    DIR *open = ++glob->depth > CONFINE_GLOB_DEPTH ? NULL : opendir(dir);
    glob->too_large |= glob->depth > CONFINE_GLOB_DEPTH;
    if (deep && open)
        glob_below(glob, dir, *rest ? rest : "*");
    while (open && !glob->too_large && (entry = readdir(open)))
        glob_entry(glob, dir, entry, name, deep, rest);
    if (open)
        closedir(open);
    glob->depth--;
}

/* rest: relative to dir, without a slash at its beginning. */
static void glob_below(struct glob *glob, const char *dir, const char *rest)
{
    size_t size = strcspn(rest, "/");
    const char *more = rest + size + strspn(rest + size, "/");
    char *name = xstrndup(rest, size);
    if (glob->too_large || !glob_is_real_dir(dir)) {
        ; /* nothing lies below */
    } else if (glob_is_pattern(name, size)) {
        glob_each(glob, dir, name, strcmp(name, "**") == 0, more);
    } else {
        char *path = path_join(dir, name);
        if (access(path, F_OK) == 0)
            glob_reached(glob, path, more);
        free(path);
    }
    free(name);
}

/* The part before the first name with a pattern is a path as any other: links count in it. *dir: as
 * it really is, the caller's; NULL: it is not there. What is left of the pattern. */
static const char *glob_fixed(const char *pattern, char **dir)
{
    size_t fixed = strcspn(pattern, "*?[");
    while (fixed > 0 && pattern[fixed - 1] != '/')
        fixed--;
    char *begin = xstrndup(pattern, fixed);
    *dir = realpath(*begin ? begin : "/", NULL);
    free(begin);
    return pattern + fixed;
}

int confine_glob(const char *pattern, int entries, struct strv *out, struct err *err)
{
    struct glob glob = {.out = out, .before = out->count, .most = entries};
    char *dir;
    if (!glob_is_pattern(pattern, strlen(pattern))) {
        strv_add(out, pattern);
        return 0;
    }
    const char *rest = glob_fixed(pattern, &dir);
    if (dir)
        glob_below(&glob, dir, rest);
    free(dir);
    if (!glob.too_large)
        return 0;
    return err_set(err, ERR_TOO_LARGE,
                   "'%s' would have to be looked for in more than %d files, or matches more than "
                   "%d: name a directory that lies closer",
                   pattern, CONFINE_FIND_ENTRIES, CONFINE_GLOB_FOUND);
}

char *confine_pattern_real(const char *pattern)
{
    char *dir;
    const char *rest = glob_fixed(pattern, &dir);
    char *real = dir ? path_join(dir, rest) : NULL;
    free(dir);
    return real;
}

bool confine_has_pattern(const char *const *unreadable)
{
    bool has = false;
    for (; unreadable && *unreadable; unreadable++)
        has |= glob_is_pattern(*unreadable, strlen(*unreadable));
    return has;
}

/* Name by name; what is left of the path when the pattern is over lies below a match. */
bool confine_matches(const char *pattern, const char *path)
{
    pattern += strspn(pattern, "/");
    path += strspn(path, "/");
    size_t size = strcspn(pattern, "/"), part = strcspn(path, "/");
    if (size == 0 || part == 0)
        return size == 0;
    if (size == 2 && strncmp(pattern, "**", 2) == 0)
        return pattern[2 + strspn(pattern + 2, "/")] == '\0' ||
               confine_matches(pattern + 2, path) || confine_matches(pattern, path + part);
    char *name = xstrndup(pattern, size), *own = xstrndup(path, part);
    bool same = fnmatch(name, own, 0) == 0;
    free(name);
    free(own);
    return same && confine_matches(pattern + size, path + part);
}
