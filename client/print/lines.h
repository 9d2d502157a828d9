/* lines: what a program wrote as lines of text: carriage returns, backspaces and the sequences of
 * line editors have their effect within the line, colours are kept on request, everything else is
 * left out. */
#ifndef MUXD_CLIENT_LINES_H
#define MUXD_CLIENT_LINES_H
#include "base/buf.h"
#include "wire/pen.h"
#include "wire/tokens.h"

#define LINES_CELLS_MAX 4096 /* a longer line comes in pieces */

struct lines_cell {
    int32_t rune, mark; /* mark: a combining character, 0: none */
    struct pen pen;
};
/* text without its newline; borrowed. Colours are reset at its end. */
typedef void lines_fn(void *arg, const char *text, size_t size);

struct lines { /* zero it, set fn, arg and colors */
    lines_fn *fn;
    void *arg;
    bool colors;
    struct tokens tokens;
    struct lines_cell *cells; /* owned */
    size_t count, room, at;
    struct pen pen;
    bool fresh; /* the line has something that was not told yet */
};

void lines_feed(struct lines *lines, const char *data, size_t size);
/* a line that has no end yet, and was not told as it is */
bool lines_has_rest(const struct lines *lines);
/* tells it; it is told again, whole, when it has changed by its end */
void lines_tell_rest(struct lines *lines);
/* no more comes: the rest is told, all is forgotten */
void lines_end(struct lines *lines);
void lines_fini(struct lines *lines);
#endif
