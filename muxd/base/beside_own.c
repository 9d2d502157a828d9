/* beside_own.c: owns the question where our own program lies. */
#include "base/beside.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* If our program has been replaced, the kernel marks its old name. */
static bool ask_kernel(char path[PATH_MAX])
{
    static const char mark[] = " (deleted)";
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    char *end = n >= (ssize_t)sizeof mark ? path + n - (sizeof mark - 1) : path;
    if (strcmp(end, mark) == 0)
        *end = '\0';
    return n > 0;
}

static bool is_this_program(const char *path)
{
    struct stat there, own;
    return stat(path, &there) == 0 && stat("/proc/self/exe", &own) == 0 &&
           there.st_dev == own.st_dev && there.st_ino == own.st_ino;
}

bool beside_own(char path[PATH_MAX])
{
    const char *given = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    size_t size = PATH_MAX, dir;
    if (given && *given == '/')
        size = (size_t)snprintf(path, PATH_MAX, "%s", given);
    else if (given && getcwd(path, PATH_MAX) && (dir = strlen(path)) < PATH_MAX)
        size = dir + (size_t)snprintf(path + dir, PATH_MAX - dir, "/%s", given);
    return (size < PATH_MAX && is_this_program(path)) || ask_kernel(path);
}
