/* history: a copy of a session's screen and of the lines that have scrolled off it, with
 * colours. */
#ifndef MUXD_CLIENT_HISTORY_H
#define MUXD_CLIENT_HISTORY_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

struct history {
    char *text;     /* owned */
    size_t size, count; /* bytes; lines, at least one */
    size_t *starts;     /* owned; of each line, and behind the last one */
};

/* Copies the drawing (read_screen, format ansi). */
void history_init(struct history *history, const char *drawing, size_t size);
void history_fini(struct history *history);
/* Appends a line's characters without colours. */
void history_plain(const struct history *history, size_t line, struct buf *out);
/* The first place at or behind `from` where plain has the words; -1: none. Words without a capital
 * letter match any case (of ASCII). */
long history_match(const char *plain, size_t size, const char *words, size_t from);
/* The nearest line with the words above or below `from`; goes on from the other end, and looks at
 * `from` itself last. -1: none. */
long history_find(const struct history *history, size_t from, const char *words, bool up);
/* Appends cols columns of a line from column `left` on. words (NULL: none) and a chosen line are
 * drawn in reverse. */
void history_draw(const struct history *history, size_t line, int left, int cols, const char *words,
                  bool chosen, struct buf *out);
#endif
