/* denial_probe.c: owns what the file system says of a path outside of any sandbox. */
#include "base/path.h"
#include "confine/denial.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As access(2), for the user that the process acts as; notes a file system that is read-only. */
static bool may(const char *path, int how, struct denial_file *file)
{
    if (faccessat(AT_FDCWD, path, how, AT_EACCESS) == 0)
        return true;
    file->on_read_only |= errno == EROFS;
    return false;
}

/* Of what does not exist: the directory's true name, and the name. */
static bool probe_missing(const char *path, struct denial_file *file)
{
    char dir[PATH_MAX];
    const char *name = strrchr(path, '/');
    char *parent = path_dirname(path);
    bool found = name && name[1] && realpath(parent, dir) &&
                 snprintf(file->real, sizeof file->real, "%s/%s", dir[1] ? dir : "", name + 1) <
                     (int)sizeof file->real;
    free(parent);
    if (found)
        file->writable = may(dir, W_OK | X_OK, file);
    return found;
}

bool denial_probe_file(void *arg, const char *path, struct denial_file *file)
{
    struct stat st;
    (void)arg;
    *file = (struct denial_file){.exists = false};
    if (*path != '/')
        return false;
    file->exists = realpath(path, file->real) && stat(file->real, &st) == 0;
    if (!file->exists)
        return probe_missing(path, file);
    file->is_dir = S_ISDIR(st.st_mode);
    file->readable = may(file->real, R_OK, file);
    file->writable = may(file->real, W_OK, file);
    file->executable = may(file->real, X_OK, file);
    return true;
}
