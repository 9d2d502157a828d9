/* beside.c: owns the search for one of our programs around another one. */
#include "base/beside.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel follows them (path_resolution(7)) */

/* levels: how many parts of path are replaced by the name. */
static bool beside_try(const char *path, int levels, const char *name, char found[PATH_MAX])
{
    size_t length = strlen(path);
    for (; levels > 0; levels--)
        while (length > 0 && path[--length] != '/')
            ;
    int size = snprintf(found, PATH_MAX, "%.*s/%s", (int)length, path, name);
    return size < PATH_MAX && access(found, F_OK) == 0;
}

/* One step, in place; target is room to work in. False: path is no link, or leads too far. */
static bool beside_follow(char path[PATH_MAX], char target[PATH_MAX])
{
    char *slash = strrchr(path, '/');
    ssize_t n = readlink(path, target, PATH_MAX - 1);
    if (n <= 0 || !slash)
        return false;
    target[n] = '\0';
    size_t kept = *target == '/' ? 0 : (size_t)(slash + 1 - path);
    return snprintf(path + kept, PATH_MAX - kept, "%s", target) < (int)(PATH_MAX - kept);
}

bool beside_find(const char *path, const char *const names[], char found[PATH_MAX])
{
    static char at[PATH_MAX]; /* too large for a small stack */
    if (snprintf(at, sizeof at, "%s", path) >= PATH_MAX)
        return false;
    for (int links = 0; links <= LINKS_MAX; links++) {
        for (int i = 0; names[i]; i++) /* the parent's name if it has one, else the parent itself */
            if ((strncmp(names[i], "../", 3) == 0 && beside_try(at, 2, names[i] + 3, found)) ||
                beside_try(at, 1, names[i], found))
                return true;
        if (!beside_follow(at, found))
            return false;
    }
    return false;
}
