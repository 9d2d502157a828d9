/* ini_lines: the lines of an INI file, whole and numbered. Guards them against what inih would
 * do to them; the only includer of ini.h. Knows nothing of what sections and keys mean. */
#ifndef MUXD_CONFIG_INI_LINES_H
#define MUXD_CONFIG_INI_LINES_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

#define INI_LINES_MAX_KEY 128    /* bytes */
#define INI_LINES_MAX_NAME 128   /* bytes between [ and ] */
#define INI_LINES_MAX_VALUE 4096 /* bytes, blanks at both ends not counted */

/* Strings are borrowed for the length of the call. A callback that returns false has set err and
 * stops the reading. */
struct ini_lines_events {
    /* name: the text between [ and ], trimmed */
    bool (*section)(void *ctx, const char *name, int line);
    bool (*value)(void *ctx, const char *key, const char *value, int line);
    void *ctx;
};

/* Reads size bytes of data as the file called name. A line is blank, a comment (first character
 * ; or #), a [section] or key = value; a value keeps every byte from its first to its last that
 * is no blank. 0, or a negative code and err: "NAME:LINE: …". UTF-8 only, with or without a byte
 * order mark; lines end in LF or CRLF. */
int ini_lines_read(const char *name, const char *data, size_t size,
                   const struct ini_lines_events *events, struct err *err);
#endif
