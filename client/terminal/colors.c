/* colors: owns the reading of what the environment and terminfo say of the terminal. Source:
 * term(5) of ncurses. */
#include "client/terminal/colors.h"
#include "base/mem.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TERMINFO_MAX 32768 /* bytes of a description */
#define HEADER 12
#define MAX_COLORS 13 /* its place among the numbers */

static int read_short(const unsigned char *at)
{
    return (int16_t)(at[0] | at[1] << 8);
}

int colors_in_terminfo(const unsigned char *data, size_t size)
{
    if (size < HEADER)
        return -1;
    int magic = read_short(data), names = read_short(data + 2), flags = read_short(data + 4),
        numbers = read_short(data + 6);
    size_t width = magic == 01036 ? 4 : 2;
    if ((magic != 0432 && magic != 01036) || names < 0 || flags < 0 || numbers < 0)
        return -1;
    size_t begin = HEADER + (size_t)names + (size_t)flags;
    size_t at = begin + (begin & 1) + MAX_COLORS * width;
    if (numbers <= MAX_COLORS)
        return 0;
    if (at + width > size)
        return -1;
    int low = read_short(data + at), high = width == 4 ? read_short(data + at + 2) : 0;
    int colors = width == 4 ? (int)((uint32_t)(uint16_t)low | (uint32_t)high << 16) : low;
    return colors > 0 ? colors : 0;
}

/* -1: there is no such description. */
static int look_in(const char *dir, const char *term)
{
    static unsigned char data[TERMINFO_MAX];
    int colors = -1;
    for (int hex = 0; dir && *dir && hex < 2 && colors < 0; hex++) {
        char *path = hex ? xasprintf("%s/%02x/%s", dir, (unsigned char)term[0], term)
                         : xasprintf("%s/%c/%s", dir, term[0], term);
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        ssize_t size = fd >= 0 ? read(fd, data, sizeof data) : -1;
        if (size > 0)
            colors = colors_in_terminfo(data, (size_t)size);
        if (fd >= 0)
            close(fd);
        free(path);
    }
    return colors;
}

static int look_up(const char *term)
{
    const char *home = getenv("HOME");
    char *own = home ? xasprintf("%s/.terminfo", home) : NULL;
    const char *const dirs[] = {getenv("TERMINFO"), own,
                                "/etc/terminfo",    "/lib/terminfo",
                                "/usr/share/terminfo", "/usr/lib/terminfo"};
    int colors = -1;
    if (*term && !strchr(term, '/'))
        for (size_t i = 0; i < sizeof dirs / sizeof dirs[0] && colors < 0; i++)
            colors = look_in(dirs[i], term);
    free(own);
    return colors;
}

static bool begins_with_one(const char *term, const char *const *words)
{
    for (; *words; words++)
        if (strncmp(term, *words, strlen(*words)) == 0)
            return true;
    return false;
}

/* Names that say it themselves, where there is no description. */
static int guess(const char *term)
{
    static const char *const none[] = {"vt1", "vt2", "vt3", "vt4", "vt5", NULL};
    static const char *const few[] = {"linux", "ansi", "cygwin", NULL};
    if (!*term || begins_with_one(term, few))
        return 8;
    return begins_with_one(term, none) ? 0 : 256;
}

bool colors_are_known(void)
{
    const char *term = getenv("TERM");
    return look_up(term ? term : "") >= 0;
}

int colors_of_terminal(void)
{
    /* they show all colours, and ssh does not pass COLORTERM on */
    static const char *const full[] = {"xterm-kitty", "alacritty",     "foot",
                                       "wezterm",     "xterm-ghostty", "contour", NULL};
    const char *term = getenv("TERM"), *more = getenv("COLORTERM");
    int colors = look_up(term ? term : "");
    if (colors < 0)
        colors = guess(term ? term : "");
    bool says_all = more && (strcmp(more, "truecolor") == 0 || strcmp(more, "24bit") == 0);
    if ((says_all && colors >= 8) || (term && begins_with_one(term, full)))
        return COLORS_ALL;
    return colors < COLORS_ALL ? colors : COLORS_ALL;
}
