/* colors: how many colours the person's terminal shows. */
#ifndef MUXD_CLIENT_COLORS_H
#define MUXD_CLIENT_COLORS_H
#include <stdbool.h>
#include <stddef.h>

#define COLORS_ALL (1 << 24)

/* By TERM, its description in the terminfo database, and COLORTERM. 0: none. */
int colors_of_terminal(void);
bool colors_are_known(void); /* the database describes TERM */
/* max_colors of a compiled terminfo description; -1: data is none. */
int colors_in_terminfo(const unsigned char *data, size_t size);
#endif
