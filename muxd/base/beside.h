/* beside: where a program lies, and what lies around it. libc only, allocates nothing. */
#ifndef MUXD_BASE_BESIDE_H
#define MUXD_BASE_BESIDE_H
#include <limits.h>
#include <stdbool.h>

/* The place of this program: the absolute path by which it was executed, with the links that are in
 * it, so that a link which is switched to a new release leads there. Where that path doesn't lead
 * to this program, the kernel's own word. False, with errno: the kernel does not tell. */
bool beside_own(char path[PATH_MAX]);

/* Finds the first of the names (NULL at the end), relative to the directory of the program at path;
 * where none of them is, around what path links to, one link after the other. False: nowhere. One
 * thread at a time. */
bool beside_find(const char *path, const char *const names[], char found[PATH_MAX]);
#endif
