/* place: where a path of a patch lies. Directories are opened when a patch is verified and used by
 * descriptor from then on: what is written later goes where it was checked, whatever happens to
 * names between. */
#ifndef MUXD_PATCH_PLACE_H
#define MUXD_PATCH_PLACE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PLACE_LINKS_MAX 40 /* symbolic links one behind the other, as in the kernel */
#define PLACE_DIRS_MAX 256 /* different directories that one patch may write to */

struct place_dir {
    int fd; /* owned; O_PATH, or readable when it was made here */
    dev_t dev;
    ino_t ino;
    char *real; /* owned; its path without symbolic links */
    /* Set when it was made for this patch, to remove it again: its name in parent. */
    struct place_dir *parent;
    char *name; /* owned */
};

struct place_dirs {
    struct place_dir **items; /* owned */
    size_t count, room;
};

struct place {
    char *path;            /* owned; absolute, "." and ".." resolved by name */
    struct place_dir *dir; /* the deepest directory of the path that exists */
    char *missing;         /* owned; directories below dir that have to be made, "a/b", or NULL */
    const char *name;      /* borrowed from path: its last part */
};

void place_dirs_fini(struct place_dirs *dirs);
/* path below cwd (absolute), or path itself when it is absolute. The caller's. */
char *place_absolute(const char *cwd, const char *path);
/* Opens the directory of path (from place_absolute, taken over); nothing needs to exist at path
 * itself. 0, or an errno: ELOOP, EACCES, ENOTDIR, EISDIR for "/", EMFILE over PLACE_DIRS_MAX.
 * place_fini either way. */
int place_open(struct place *place, struct place_dirs *dirs, char *path);
/* While the last part of the path is a symbolic link: the place that it leads to, whose path has no
 * links. 0 or an errno. */
int place_follow(struct place *place, struct place_dirs *dirs);
void place_fini(struct place *place);
/* Whether both are the same file, by directory and name: also when the paths are spelled
 * differently. */
bool place_same(const struct place *a, const struct place *b);
/* Whether the place is below one of the roots (NULL-terminated absolute paths), with symbolic links
 * on the way resolved. */
bool place_inside(const struct place *place, const char *const *roots);
/* The same for roots without links: one that leads through a link by now has nothing in it. */
bool place_beneath(const struct place *place, const char *const *roots);
/* Whether the place is one of these paths without links, or would lie below it, also while the path
 * does not exist. paths ends with NULL. */
bool place_is_kept(const struct place *place, const char *const *paths);
/* Makes the missing directories, mode 0777 without umask_bits; 0 or an errno. dirs keeps those made
 * before a failure. */
int place_make_dirs(struct place *place, struct place_dirs *dirs, mode_t umask_bits);
/* Removes the directories that place_make_dirs made, where they are empty. */
void place_remove_dirs(struct place_dirs *dirs);
#endif
