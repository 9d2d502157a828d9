/* cast: owns the form of a recording's lines. */
#include "wire/cast.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SIZE_MAX_READ 10000 /* rows and columns of a recording that is read */
#define TIME_MAX_S 1e9      /* 31 years */

void cast_append_head(struct buf *out, const struct cast_head *head)
{
    BUG_UNLESS(head->version == 2 || head->version == 3);
    struct json *line = json_object_new(), *size = line;
    json_add_int(line, "version", head->version);
    if (head->version == 3)
        size = json_add_object(line, "term");
    json_add_int(size, head->version == 3 ? "cols" : "width", head->cols);
    json_add_int(size, head->version == 3 ? "rows" : "height", head->rows);
    if (head->version == 3 && head->term)
        json_add_text(size, "type", head->term);
    json_add_int(line, "timestamp", head->began_real_ms / 1000);
    if (head->command)
        json_add_text(line, "command", head->command);
    if (head->title)
        json_add_text(line, "title", head->title);
    if (head->version == 2 && head->term)
        json_add_text(json_add_object(line, "env"), "TERM", head->term);
    json_print(out, line);
    buf_append_byte(out, '\n');
    json_free(line);
}

void cast_append_event(struct buf *out, int version, int64_t *last_ms, int64_t at_ms,
                       enum cast_code code, const char *data, size_t size)
{
    struct buf text = BUF_INIT;
    BUG_UNLESS((version == 2 || version == 3) && *last_ms >= 0);
    if (version == 2 && code == CAST_EXIT)
        return;
    if (at_ms < *last_ms)
        at_ms = *last_ms;
    int64_t shown = version == 3 ? at_ms - *last_ms : at_ms;
    *last_ms = at_ms;
    utf8_append_lossy(&text, data, size);
    buf_printf(out, "[%" PRId64 ".%03d, \"%c\", ", shown / 1000, (int)(shown % 1000), (char)code);
    json_print_str(out, text.data ? text.data : "", text.len);
    buf_append_text(out, "]\n");
    buf_fini(&text);
}

/* Reading. */

static int wrong(const struct cast_reader *reader, const char *what, struct err *err)
{
    return err_set(err, ERR_PARSE, "line %" PRIu64 ": %s", reader->line, what);
}

static bool cast_take_size(const struct json *object, const char *cols_key, const char *rows_key,
                           struct cast_reader *reader)
{
    int64_t cols = 0, rows = 0;
    json_get_int(object, cols_key, &cols);
    json_get_int(object, rows_key, &rows);
    if (cols < 1 || cols > SIZE_MAX_READ || rows < 1 || rows > SIZE_MAX_READ)
        return false;
    reader->cols = (int)cols;
    reader->rows = (int)rows;
    return true;
}

static int cast_read_head(struct cast_reader *reader, const struct json *root, struct err *err)
{
    int64_t version = 0;
    double idle = 0;
    const struct json *limit = json_get(root, "idle_time_limit");
    if (json_type(root) != JSON_OBJECT || !json_get_int(root, "version", &version))
        return wrong(
            reader,
            "no header of a recording; an asciicast begins with an object that has a version", err);
    if (version != 2 && version != 3)
        return err_set(err, ERR_PARSE,
                       "line %" PRIu64 ": asciicast version %" PRId64 " is not known; 2 and 3 are",
                       reader->line, version);
    const struct json *term = version == 3 ? json_get(root, "term") : root;
    if (!cast_take_size(term, version == 3 ? "cols" : "width", version == 3 ? "rows" : "height",
                        reader))
        return wrong(reader,
                     version == 3 ? "'term' of the header needs cols and rows from 1 to 10000"
                                  : "the header needs width and height from 1 to 10000",
                     err);
    if (limit && json_type(limit) != JSON_NULL &&
        (!json_double(limit, &idle) || idle < 0 || idle > TIME_MAX_S))
        return wrong(reader, "'idle_time_limit' is no number of seconds", err);
    reader->idle_us = (int64_t)(idle * 1e6);
    reader->version = (int)version;
    return 0;
}

/* "COLSxROWS" */
static bool read_size(struct cast_event *event)
{
    int end = 0;
    return event->size > 0 && event->size < 16 &&
           strspn(event->data, "0123456789x") == event->size &&
           sscanf(event->data, "%5dx%5d%n", &event->cols, &event->rows, &end) == 2 &&
           (size_t)end == event->size && event->cols >= 1 && event->cols <= SIZE_MAX_READ &&
           event->rows >= 1 && event->rows <= SIZE_MAX_READ;
}

static int read_event(struct cast_reader *reader, const struct json *root, struct cast_event *event,
                      struct err *err)
{
    const struct json *time = json_first(root), *code = time ? json_next(time) : NULL,
                      *data = code ? json_next(code) : NULL;
    double seconds;
    const char *word = json_str(code, NULL);
    event->data = json_str(data, &event->size);
    if (json_type(root) != JSON_ARRAY || !event->data || json_next(data) || !word)
        return wrong(reader, "no event; one is [time, \"code\", \"data\"]", err);
    if (!json_double(time, &seconds) || seconds < 0 || seconds > TIME_MAX_S)
        return wrong(reader, "the time of the event is no number of seconds", err);
    int64_t at_us = (int64_t)(seconds * 1e6 + 0.5) + (reader->version == 3 ? reader->at_us : 0);
    if (at_us > (int64_t)(TIME_MAX_S * 1e6))
        return wrong(reader, "the recording is longer than 31 years", err);
    if (at_us > reader->at_us)
        reader->at_us = at_us;
    event->at_us = reader->at_us;
    event->code = word[0];
    if (strlen(word) != 1 || !strchr("oimrx", word[0]))
        return 0;
    if (event->code == CAST_RESIZE && !read_size(event))
        return wrong(reader, "the size of the terminal is not COLSxROWS", err);
    return 1;
}

int cast_read(struct cast_reader *reader, const char *line, size_t len, struct cast_event *event,
              struct err *err)
{
    struct err why;
    BUG_UNLESS(reader->version == 0 || reader->version == 2 || reader->version == 3);
    *event = (struct cast_event){0};
    reader->line++;
    if (len > 0 && line[len - 1] == '\r')
        len--;
    if (reader->version && (len == 0 || (reader->version == 3 && line[0] == '#')))
        return 0;
    struct json *root = json_parse_with(line, len, JSON_ALLOW_NUL, &why);
    if (!root)
        return err_set(err, ERR_PARSE, "line %" PRIu64 ": %s", reader->line,
                       reader->version ? why.text
                                       : "no header of a recording; an "
                                         "asciicast begins with an object that has a version");
    event->root = root;
    int result = reader->version ? read_event(reader, root, event, err)
                                 : cast_read_head(reader, root, err);
    if (result != 1)
        cast_event_fini(event);
    return result;
}

void cast_event_fini(struct cast_event *event)
{
    json_free(event->root);
    *event = (struct cast_event){0};
}
