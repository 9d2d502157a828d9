/* confine_words: what the daemon and muxd-confine have to agree on. The daemon writes the command
 * line, muxd-confine reads it; both are of one version, which the first argument proves. */
#ifndef MUXD_CONFINE_CONFINE_WORDS_H
#define MUXD_CONFINE_CONFINE_WORDS_H

#define CONFINE_VERSION "confine-1"
#define CONFINE_CHECK "--check"       /* ends with 0: for trials */
#define CONFINE_INSIDE "--inside"     /* behind bubblewrap: default signals, no descriptors left */
#define CONFINE_OUTSIDE "--outside"   /* in front of bubblewrap: ignores what is for the command */
#define CONFINE_LANDLOCK "--landlock" /* nothing can be written, but by CONFINE_WRITE */
#define CONFINE_WRITE "--write"       /* PATH that may be written, with Landlock */
#define CONFINE_FILTER "--filter"     /* HEX of a program for seccomp */
#define CONFINE_MAKE "--make"         /* DIR that has to exist while the command runs */
#define CONFINE_OPEN "--open"         /* DIR without links, as the next descriptor */

/* Of a directory that stands for a missing one: the sticky bit tells it from everybody else's. */
#define CONFINE_MADE_MODE 01755
#define CONFINE_FILTER_FD 9           /* what bubblewrap is told to read the filter from */
#define CONFINE_OPEN_FD 10            /* the first one of CONFINE_OPEN */
#define CONFINE_OPEN_MAX 64
#define CONFINE_MADE_MAX 64
#define CONFINE_WRITE_MAX (CONFINE_OPEN_MAX + 2)
#define CONFINE_FILTER_MAX 16384      /* bytes */
#endif
