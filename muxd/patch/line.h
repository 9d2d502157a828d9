/* line: one line of a patch or of a file, borrowed from the text around it, and what counts as a
 * blank. */
#ifndef MUXD_PATCH_LINE_H
#define MUXD_PATCH_LINE_H
#include <stdbool.h>
#include <stddef.h>

struct patch_line {
    const char *text; /* any bytes, borrowed, not NUL-terminated, without the line ending */
    size_t len;
};

/* The line without the blanks (Unicode property White_Space, UTF-8) at its end, or at both ends.
 * Ill-formed bytes are not blanks. */
struct patch_line patch_line_trim_end(struct patch_line line);
struct patch_line patch_line_trim(struct patch_line line);
bool patch_line_is(struct patch_line line, const char *text);
/* Whether line begins with prefix; *rest (may be NULL) is what follows it. */
bool patch_line_starts(struct patch_line line, const char *prefix, struct patch_line *rest);
/* Takes the next line off *text, without its newline and without one carriage return before that;
 * false at the end. */
bool patch_line_next(struct patch_line *text, struct patch_line *line);
/* The line cut to at most max bytes at a character's boundary, for messages that quote it. */
struct patch_line patch_line_cut(struct patch_line line, size_t max);
#endif
