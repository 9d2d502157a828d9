/* lines: turns a program's output into lines of text. Carriage returns, backspaces and the
 * sequences of line editors take effect within the line, colours are kept on request, other
 * sequences are left out. */
#ifndef MUXD_CLIENT_LINES_H
#define MUXD_CLIENT_LINES_H
#include "base/buf.h"
#include "wire/pen.h"
#include "wire/tokens.h"

#define LINES_CELLS_MAX 4096 /* a longer line is emitted in pieces */

struct lines_cell {
    int32_t rune, mark; /* mark: a combining character, 0: none */
    struct pen pen;
};
/* text without its newline; borrowed. Colours are reset at its end. */
typedef void lines_fn(void *arg, const char *text, size_t size);

struct lines { /* zero it, then set fn, arg and colors */
    lines_fn *fn;
    void *arg;
    bool colors;
    struct tokens tokens;
    struct lines_cell *cells; /* owned */
    size_t count, room, at;
    struct pen pen;
    bool fresh; /* the line has changed since it was emitted */
};

void lines_feed(struct lines *lines, const char *data, size_t size);
/* There is a line without an end that was not emitted in its present form. */
bool lines_has_rest(const struct lines *lines);
/* Emits that line. If it changes later, it is emitted again as a whole at its end. */
void lines_emit_rest(struct lines *lines);
/* The output has ended: emits the rest and resets all. */
void lines_end(struct lines *lines);
void lines_fini(struct lines *lines);
#endif
