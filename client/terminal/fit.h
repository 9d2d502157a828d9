/* fit: what has room in a row of a narrow terminal. Pure. */
#ifndef MUXD_CLIENT_FIT_H
#define MUXD_CLIENT_FIT_H
#include <stddef.h>

/* Bytes of the text's first line that have room in so many columns: at least one character, unless
 * the line is empty. */
size_t fit_line(const char *text, size_t size, int cols);
/* As fit_line, but whole words, with the blanks behind them, where at least one has room. */
size_t fit_words(const char *text, size_t size, int cols);
/* The first text that has room, else the last one; NULL ends the list. */
const char *fit_one(const char *const texts[], int cols);

#endif
