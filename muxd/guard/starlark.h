/* starlark: as much of the grammar of Starlark as tells where a statement ends. Pure. */
#ifndef MUXD_GUARD_STARLARK_H
#define MUXD_GUARD_STARLARK_H
#include <stdbool.h>

/* The end of the last line of the statement that begins here, borrowed from at. whole: false where
 * a bracket of it is never closed, and the text ends first. */
const char *starlark_end(const char *at, bool *whole);
/* Nothing but a comment stands in the rest of the line: what follows a call there may make it
 * depend on something. */
bool starlark_line_ends(const char *at);
#endif
