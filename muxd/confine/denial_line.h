/* denial_line: lines of a command's output, from the last one back, the words in them, and what in
 * them may be the name of a file. */
#ifndef MUXD_CONFINE_DENIAL_LINE_H
#define MUXD_CONFINE_DENIAL_LINE_H
#include "base/strv.h"
#include <stdbool.h>
#include <stddef.h>

struct denial_line { /* borrows from the output */
    const char *text; /* NULL: before the first call of denial_line_before */
    size_t size;
};
/* The line before this one. False: there is none. */
bool denial_line_before(struct denial_line *line, const char *output, size_t size);
/* The first of the words (lower case, ending with NULL) that stands in it, in any case of letters;
 * *at (may be NULL): where. NULL: none does. */
const char *denial_line_has(const struct denial_line *line, const char *const *words, size_t *at);
/* The same, where it is no part of a name or path. */
const char *denial_line_has_word(const struct denial_line *line, const char *const *words);
/* What may be a file's name, the likeliest first: what is quoted, and what has a slash; of that
 * what stands before the error's text, which begins at error_at, goes first. */
void denial_line_names(const struct denial_line *line, size_t error_at, struct strv *names);
/* What stands there without quotes and slashes: it may as well name a call. */
void denial_line_bare_name(const struct denial_line *line, size_t error_at, struct strv *names);
#endif
