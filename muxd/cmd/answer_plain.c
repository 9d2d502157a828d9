/* answer_plain: an answer's output as a person would read it: gives term/plain what stood before
 * the output in its line, and tells it what was typed at which offset. */
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cmd/answer.h"
#include "cmd/op.h"
#include "journal/inputlog.h"
#include "term/plain.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 4096 /* looked back for the beginning of the line that the output goes on with */
#define PIPE_ROWS 24
#define EVENTS_MAX 1024

struct reading {
    const struct op *op;
    const struct answer_bytes *bytes;
    struct plain *plain;
    size_t at; /* bytes that were fed */
    bool full;
};

/* The bytes before the output, back to the beginning of its line. */
static void feed_line_before(struct reading *reading, struct journal *journal)
{
    uint64_t from = reading->bytes->from, at = from > LINE_BYTES ? from - LINE_BYTES : 0;
    size_t size;
    const char *view = journal_view(journal, &at, &size);
    if (!view || at >= from || size < from - at)
        return;
    size = (size_t)(from - at);
    const char *end = memrchr(view, '\n', size);
    if (!end && at > 0) /* its beginning is too far back, or not kept */
        return;
    size_t skip = end ? (size_t)(end + 1 - view) : 0;
    plain_feed(reading->plain, view + skip, size - skip);
}

static void feed_to(struct reading *reading, size_t to)
{
    const struct answer_bytes *bytes = reading->bytes;
    to = to < bytes->size ? to : bytes->size;
    while (!reading->full && reading->at < to) {
        bool gap = bytes->omitted > 0 && reading->at < bytes->gap_at;
        size_t end = gap && bytes->gap_at < to ? bytes->gap_at : to;
        size_t fed = plain_feed(reading->plain, bytes->raw + reading->at, end - reading->at);
        reading->full = fed < end - reading->at;
        reading->at += fed;
        if (gap && !reading->full && reading->at == bytes->gap_at)
            plain_omitted(reading->plain, bytes->omitted);
    }
}

/* Where in the bytes an offset of the output lies. */
static bool index_of(const struct answer_bytes *bytes, uint64_t offset, size_t *at)
{
    if (offset < bytes->from)
        return false;
    uint64_t index = offset - bytes->from;
    if (bytes->omitted > 0 && index >= bytes->gap_at) {
        if (index < bytes->gap_at + bytes->omitted)
            return false;
        index -= bytes->omitted;
    }
    *at = (size_t)index;
    return index <= bytes->size;
}

/* The log keeps the beginning of a text; the op that typed it has all of it. */
static void tell_long(struct reading *reading, const struct input_event *event)
{
    size_t size = 0;
    const struct op *op = reading->op;
    const char *chars = op->base.tool == &tools[TOOL_WRITE_STDIN]
                            ? schema_str(op->base.tool, request_params(op->base.request), "chars",
                                         &size)
                            : NULL;
    if (chars && size >= event->text_size && size <= event->bytes &&
        memcmp(chars, event->text, event->text_size) == 0) {
        char *typed = xasprintf("%s%s", chars, size < event->bytes ? "\r" : "");
        plain_typed(reading->plain, typed, strlen(typed));
        free(typed);
        return;
    }
    const char *end = memrchr(event->text, '\n', event->text_size);
    if (end) /* whole lines */
        plain_typed(reading->plain, event->text, (size_t)(end + 1 - event->text));
}

static void on_event(void *arg, const struct input_event *event)
{
    struct reading *reading = arg;
    size_t at;
    bool typed = event->kind == INPUT_TEXT || event->kind == INPUT_KEYS ||
                 event->kind == INPUT_PASTE;
    if (!typed || event->who == INPUT_BY_PERSON || event->text_size == 0 ||
        !index_of(reading->bytes, event->output_at, &at) || at < reading->at)
        return;
    feed_to(reading, at);
    if (event->text_size < event->bytes)
        tell_long(reading, event);
    else
        plain_typed(reading->plain, event->text, event->text_size);
}

void answer_plain(const struct op *op, struct session *session, const struct answer_bytes *bytes,
                  struct buf *out)
{
    int rows, cols;
    struct journal *journal = session_journal(session);
    bool tty = session_get_size(session, &rows, &cols) == 0;
    struct reading reading = {.op = op, .bytes = bytes};
    reading.plain = plain_new(tty ? rows : PIPE_ROWS, tty ? cols : 0);
    feed_line_before(&reading, journal);
    plain_begin(reading.plain);
    uint64_t last = inputlog_last(journal);
    if (tty)
        inputlog_read(journal, last > EVENTS_MAX ? last - EVENTS_MAX : 0, EVENTS_MAX, on_event,
                      &reading);
    feed_to(&reading, bytes->size);
    plain_take(reading.plain, out);
    if (reading.at < bytes->size)
        buf_printf(out, "\n... %zu bytes omitted ...\n", bytes->size - reading.at);
    plain_free(reading.plain);
}
