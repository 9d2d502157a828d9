/* confine_link.c: owns the way to a writable root. What a confined program may write it may replace
 * by a symbolic link, and the next plan would follow that to somewhere else: a link counts only
 * where this user can't have made it. */
#include "base/mem.h"
#include "base/path.h"
#include "confine/confine.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* one behind the other, as in the kernel */

static bool may_have_made(const char *dir)
{
    struct stat st;
    return access(dir, W_OK) == 0 || stat(dir, &st) != 0 || st.st_uid == geteuid();
}

/* Puts what the link says in front of what is left of the path. NULL and errno. */
static char *confine_link_expand(const char *link, const char *left)
{
    char text[PATH_MAX];
    ssize_t size = readlink(link, text, sizeof text);
    if (size < 0 || size == (ssize_t)sizeof text) {
        errno = size < 0 ? errno : ENAMETOOLONG;
        return NULL;
    }
    text[size] = '\0';
    return xasprintf("%s/%s", text, left);
}

/* One name further. Takes *at over where it is a link, and gives another one. 0 or an errno. */
static int confine_link_step(char **at, const char *name, const char *left, char **again,
                             struct err *err)
{
    struct stat st;
    char *next = path_join(*at, name);
    int error = lstat(next, &st) == 0 ? 0 : errno;
    *again = NULL;
    if (!error && S_ISLNK(st.st_mode) && may_have_made(*at)) {
        err_set(err, ERR_ARGUMENTS,
                "'%s' is a symbolic link, which a program in a sandbox may have set: it can't lead "
                "to a writable root; name the directory that it points to",
                next);
        error = ELOOP;
    } else if (!error && S_ISLNK(st.st_mode)) {
        *again = confine_link_expand(next, left);
        error = *again ? 0 : errno;
    } else if (!error) {
        char *parent = *at;
        *at = next;
        next = parent;
    }
    free(next);
    return error;
}

static void confine_link_up(char **at)
{
    char *above = path_dirname(*at);
    free(*at);
    *at = above;
}

int confine_real(const char *path, char **real, struct err *err)
{
    char *at = xstrdup("/"), *rest = xstrdup(path), *again = NULL;
    int error = 0, links = 0;
    *err = (struct err){0};
    for (char *name = rest; *(name += strspn(name, "/")) && !error;) {
        char *left = name + strcspn(name, "/");
        if (*left)
            *left++ = '\0';
        if (strcmp(name, "..") == 0) {
            confine_link_up(&at);
        } else if (strcmp(name, ".") != 0) {
            error = confine_link_step(&at, name, left, &again, err);
            if (again) {
                if (*again == '/') {
                    free(at);
                    at = xstrdup("/");
                }
                free(rest);
                left = rest = again;
                error = ++links > LINKS_MAX ? ELOOP : 0;
            }
        }
        name = left;
    }
    free(rest);
    if (error)
        free(at);
    else
        *real = at;
    return error;
}
