/* ini_lines: the lines of an INI file, whole and numbered. Owns everything that inih would do to
 * them behind our back; the only includer of ini.h. Knows nothing of what sections and keys
 * mean. */
#ifndef MUXD_CONFIG_INI_LINES_H
#define MUXD_CONFIG_INI_LINES_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

#define INI_LINES_MAX_KEY 128    /* bytes */
#define INI_LINES_MAX_NAME 128   /* bytes between [ and ] */
#define INI_LINES_MAX_VALUE 4096 /* bytes, blanks at both ends not counted */

/* Strings are borrowed for the time of the call. Returning false stops; the callee has then set the
 * err. */
struct ini_lines_events {
    /* what stands between [ and ], trimmed */
    bool (*section)(void *ctx, const char *name, int line);
    bool (*value)(void *ctx, const char *key, const char *value, int line);
    void *ctx;
};

/* Reads size bytes of data as the file called name. A line is blank, a comment (first character ;
 * or #), a [section] or key = value; a value keeps every byte between its first and last that is no
 * blank. 0, or a negative code with err: "NAME:LINE: …". UTF-8 only, with or without a byte order
 * mark, lines ending in LF or CRLF. */
int ini_lines_read(const char *name, const char *data, size_t size,
                   const struct ini_lines_events *events, struct err *err);
#endif
