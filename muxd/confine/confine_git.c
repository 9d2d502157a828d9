/* confine_git.c: owns how a repository is found whose .git is a file (gitrepository-layout(5)). */
#include "confine/confine_git.h"
#include "base/fdio.h"
#include "base/mem.h"
#include "base/path.h"
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A directory that is moved takes what is mounted in it along; one that is a mount itself can't be
 * moved. */
static void pin_below(struct confine_plan *plan, const char *root, const char *path)
{
    char *dir = path_dirname(path);
    while (confine_is_below(dir, root) && strcmp(dir, root) != 0) {
        char *above = path_dirname(dir);
        confine_add_once(&plan->pinned, dir);
        free(dir);
        dir = above;
    }
    free(dir);
}

void confine_pin(struct confine_plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->roots.count; i++)
        if (confine_is_below(path, plan->roots.items[i]) &&
            strcmp(path, plan->roots.items[i]) != 0)
            pin_below(plan, plan->roots.items[i], path);
}

void confine_keep(struct confine_plan *plan, const char *path)
{
    bool inside = false;
    for (size_t i = 0; i < plan->roots.count; i++)
        inside |= confine_is_below(path, plan->roots.items[i]) &&
                  strcmp(path, plan->roots.items[i]) != 0;
    if (!inside)
        return;
    confine_pin(plan, path);
    confine_add_once(&plan->kept, path);
}

/* The first line; NULL: it can't be read, or is too long for a path. */
static char *first_line(const char *file)
{
    char text[PATH_MAX + 16];
    int fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : fd_read_all(fd, text, sizeof text - 1);
    fd_close(&fd);
    if (size <= 0 || size == (ssize_t)sizeof text - 1)
        return NULL;
    text[size] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return xstrdup(text);
}

/* What a line of the file names, as a real path; NULL. */
static char *git_follow(const char *dir, const char *file, const char *prefix)
{
    char real[PATH_MAX];
    char *line = first_line(file), *found = NULL;
    size_t skip = strlen(prefix);
    if (line && strncmp(line, prefix, skip) == 0 && line[skip]) {
        char *path = path_join(dir, line + skip);
        if (realpath(path, real))
            found = xstrdup(real);
        free(path);
    }
    free(line);
    return found;
}

void confine_git_keep(struct confine_plan *plan, const char *root, const char *file)
{
    char *dir = git_follow(root, file, "gitdir: ");
    if (!dir)
        return;
    char *shared = path_join(dir, "commondir"), *common = git_follow(dir, shared, "");
    if (common)
        confine_keep(plan, common);
    if (!common || !confine_is_below(dir, common))
        confine_keep(plan, dir);
    free(dir);
    free(shared);
    free(common);
}
