/* mark_file.c: owns the file "mark" of the state directory. The file is linked into its place
 * when it is complete, so that daemons that start at the same time all read the same word. A
 * power cut may leave it empty, but then no process runs that bears the old word. */
#include "base/fdio.h"
#include "sys/mark_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define DIGITS 8

static uint32_t random_word(void)
{
    uint32_t word = 0;
    if (getrandom(&word, sizeof word, 0) != sizeof word)
        word = (uint32_t)getpid() * 2654435761u;
    return word;
}

/* 0 and errno: it is not there or can't be read; EINVAL: it is no mark. */
static uint32_t mark_file_read_word(int dir)
{
    char text[DIGITS + 2] = "", *end = text;
    int fd = openat(dir, "mark", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    unsigned long word = size == DIGITS + 1 ? strtoul(text, &end, 16) : 0;
    if (end == text + DIGITS && *end == '\n' && word > 0)
        return (uint32_t)word;
    errno = EINVAL;
    return 0;
}

/* replace: overwrites a file that is no mark. Else a file that another daemon has just put there
 * stays. */
static bool write_word(int dir, uint32_t word, bool replace)
{
    char name[32], text[DIGITS + 2];
    snprintf(name, sizeof name, "mark.%ld", (long)getpid());
    snprintf(text, sizeof text, "%08x\n", (unsigned)word);
    unlinkat(dir, name, 0); /* left by a daemon that died here and had our pid */
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = fd_write_all(fd, text, DIGITS + 1) == DIGITS + 1;
    if (ok && replace)
        ok = renameat(dir, name, dir, "mark") == 0;
    else if (ok)
        ok = linkat(dir, name, dir, "mark", 0) == 0 || errno == EEXIST;
    int error = errno;
    close(fd);
    unlinkat(dir, name, 0);
    errno = error;
    return ok;
}

uint32_t mark_file_word(const char *state_dir, bool fresh, bool *kept)
{
    int dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = errno;
    uint32_t word = dir >= 0 && !fresh ? mark_file_read_word(dir) : 0;
    bool replace = fresh || errno == EINVAL;
    if (dir >= 0 && !word && write_word(dir, random_word() | 1, replace))
        word = mark_file_read_word(dir);
    if (dir >= 0) {
        error = errno;
        close(dir);
    }
    errno = error;
    *kept = word != 0;
    return word ? word : random_word() | 1;
}
