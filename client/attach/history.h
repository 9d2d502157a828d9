/* history: a screen with what has scrolled off above it, as the daemon draws it: text and colours,
 * one line after the other. */
#ifndef MUXD_CLIENT_HISTORY_H
#define MUXD_CLIENT_HISTORY_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

struct history {
    char *text;     /* owned */
    size_t size, count;
    size_t *starts; /* owned; of each line, and one more: the end */
};

/* Copies the drawing (read_screen, format ansi). There is always at least one line. */
void history_init(struct history *history, const char *drawing, size_t size);
void history_fini(struct history *history);
/* Appends a line's characters without colours. */
void history_plain(const struct history *history, size_t line, struct buf *out);
/* Where the words stand in plain text, from `from` on; -1: nowhere. Words without a capital letter
 * match any case (of ASCII). */
long history_match(const char *plain, size_t size, const char *words, size_t from);
/* The nearest line with the words, up or down and round the ends, `from` itself at last; -1:
 * none. */
long history_find(const struct history *history, size_t from, const char *words, bool up);
/* Appends the part of a line that cols columns from column `left` on show; words (NULL: none) and a
 * chosen line in reverse. */
void history_draw(const struct history *history, size_t line, int left, int cols, const char *words,
                  bool chosen, struct buf *out);
#endif
