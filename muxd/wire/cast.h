/* cast: recordings of terminals as asciicast (docs.asciinema.org/manual/asciicast/v2 and /v3): the
 * writing of lines for the recorder, and the strict reading of them for `ue replay`. Time is in
 * milliseconds when written, so that intervals add up exactly, and in microseconds when read. */
#ifndef MUXD_WIRE_CAST_H
#define MUXD_WIRE_CAST_H
#include "base/buf.h"
#include "base/err.h"
#include "wire/json.h"
#include <stddef.h>
#include <stdint.h>

#define CAST_LINE_MAX (8u << 20) /* bytes of one line that is read */

enum cast_code {
    CAST_OUTPUT = 'o',
    CAST_INPUT = 'i',
    CAST_MARKER = 'm',
    CAST_RESIZE = 'r',
    CAST_EXIT = 'x' /* version 3 only */
};

/* Writing. Text may be any bytes: ill-formed UTF-8 is replaced. The caller keeps a character
 * that is not complete yet for the next event. */
struct cast_head {
    int version; /* 2 or 3 */
    int rows, cols;
    int64_t began_real_ms;
    const char *command, *title, *term; /* NULL: left out */
};
void cast_append_head(struct buf *out, const struct cast_head *head);
/* *last_ms: the time of the event before, 0 at the beginning; set to that of this event. at_ms
 * counts from the beginning. Version 2 has no exit event: it is left out. */
void cast_append_event(struct buf *out, int version, int64_t *last_ms, int64_t at_ms,
                       enum cast_code code, const char *data, size_t size);

/* Reading, line by line. */
struct cast_reader { /* zeroed: before the header */
    int version;     /* 0: the header was not read yet */
    int rows, cols;
    int64_t idle_us; /* idle_time_limit of the header; 0: none */
    int64_t at_us;   /* time of the last event */
    uint64_t line;   /* number of the last line, from 1 */
};
struct cast_event {
    int64_t at_us;     /* since the beginning; never smaller than that of the event before */
    int code;          /* enum cast_code */
    const char *data;  /* borrowed from root */
    size_t size;
    int rows, cols;    /* CAST_RESIZE */
    struct json *root; /* owned */
};
/* Reads one line without its newline. 1: *event is set, and cast_event_fini frees it; 0: nothing to
 * play (header, comment, unknown code); ERR_PARSE: the text begins with "line N: ". */
int cast_read(struct cast_reader *reader, const char *line, size_t len, struct cast_event *event,
              struct err *err);
void cast_event_fini(struct cast_event *event); /* safe on a zeroed one */
#endif
