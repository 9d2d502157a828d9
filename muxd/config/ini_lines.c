/* ini_lines: stands between a file and inih, which parses it. inih tells no line numbers, cuts a
 * value at " ;" and a line at its own limit, and takes an indented line for more of the value
 * above. So each line is numbered and checked here and passed on without its indentation, with
 * its value in quotes and in pieces; the second and later pieces are continuation lines, which
 * inih folds. A piece ends where inih's line is full, and in front of each ';' or '#' behind a
 * blank: behind the quote that opens the next piece it begins no comment. */
#include "config/ini_lines.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
    const char *name;
    const char *at, *end;          /* the unread part of the file */
    const char *value, *value_end; /* the part of the line's value that inih has not got yet */
    int line;
    bool given; /* inih has got a key, and has not passed on its whole value yet */
    char key[INI_LINES_MAX_KEY + 1];
    struct buf text; /* the part of the value that inih has passed on */
    const struct ini_lines_events *events;
    struct err *err;
    int result;
};

static bool ini_lines_fail(struct source *src, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool ini_lines_fail(struct source *src, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    src->result = err_vset(src->err, ERR_CONFIG, format, args);
    va_end(args);
    err_prefix(src->err, "%s:%d", src->name, src->line);
    return false;
}

static bool ini_lines_is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static void trim(const char **start, const char **end)
{
    while (*start < *end && ini_lines_is_blank(**start))
        ++*start;
    while (*start < *end && ini_lines_is_blank((*end)[-1]))
        --*end;
}

/* A wrong line, or the beginning of it, for a message. */
static char *excerpt(const char *start, const char *end)
{
    struct buf out = BUF_INIT;
    size_t size = (size_t)(end - start), shown = utf8_cut(start, size, 40);
    utf8_append_escaped(&out, start, shown, false);
    if (shown < size)
        buf_append_text(&out, "...");
    return buf_take(&out);
}

static bool check_bytes(struct source *src, const char *start, const char *end)
{
    for (const char *at = start; at < end; at++) {
        unsigned char byte = (unsigned char)*at;
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            return ini_lines_fail(src, "control byte 0x%02x in column %zu; remove it", byte,
                                  (size_t)(at - start) + 1);
    }
    if (!utf8_valid(start, (size_t)(end - start)))
        return ini_lines_fail(src, "the line is no valid UTF-8; save the file as UTF-8");
    return true;
}

/* A callback has refused. */
static bool ini_lines_stop(struct source *src)
{
    src->result = src->err && src->err->code ? src->err->code : ERR_CONFIG;
    return false;
}

static bool begins_comment(const char *at)
{
    return *at == ';' || *at == '#';
}

/* Tells the section itself, because inih doesn't announce one and cuts its name. inih gets the
 * line, too, and shows by it only whether a key stands in a section. */
static bool take_heading(struct source *src, const char *start, const char *end, char *out,
                         int room)
{
    const char *close = memchr(start, ']', (size_t)(end - start)), *name = start + 1;
    if (!close)
        return ini_lines_fail(src, "a section's ']' is missing; write [name] on a line of its own");
    const char *rest = close + 1;
    trim(&rest, &end);
    if (rest < end && !begins_comment(rest))
        return ini_lines_fail(src, "text behind a section's ']'; put it on a line of its own");
    trim(&name, &close);
    if (name == close)
        return ini_lines_fail(src, "a section without a name; write [name]");
    if (close - name > INI_LINES_MAX_NAME)
        return ini_lines_fail(src, "the section's name has %zu bytes; at most %d are allowed",
                              (size_t)(close - name), INI_LINES_MAX_NAME);
    for (const char *at = name + 1; at < close; at++)
        if (*at == ';' && ini_lines_is_blank(at[-1]))
            return ini_lines_fail(src, "a comment in a section's name; put it behind the ']'");
    char text[INI_LINES_MAX_NAME + 1];
    snprintf(text, sizeof(text), "%.*s", (int)(close - name), name);
    snprintf(out, (size_t)room, "[%s]\n", text);
    return src->events->section(src->events->ctx, text, src->line) || ini_lines_stop(src);
}

static bool is_key_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '-' || byte == '.';
}

static bool check_key(struct source *src, const char *key, const char *end)
{
    size_t len = (size_t)(end - key);
    if (len == 0)
        return ini_lines_fail(src, "nothing in front of '='; write key = value");
    if (len > INI_LINES_MAX_KEY)
        return ini_lines_fail(src, "the key has %zu bytes; at most %d are allowed", len,
                              INI_LINES_MAX_KEY);
    for (const char *at = key; at < end; at++)
        if (!is_key_byte(*at)) {
            char *shown = excerpt(key, end);
            ini_lines_fail(src,
                           "'%s' is no key; a key has letters, digits, '_', '-' and '.' only, and "
                           "a value ends with its line",
                           shown);
            free(shown);
            return false;
        }
    return true;
}

/* How many bytes of the value go into a line that has room for so many. */
static size_t piece_size(const struct source *src, size_t room)
{
    BUG_UNLESS(room > 0 && src->value <= src->value_end);
    size_t left = (size_t)(src->value_end - src->value), size = left < room ? left : room;
    for (size_t i = 1; i < size; i++)
        if (begins_comment(src->value + i) && ini_lines_is_blank(src->value[i - 1]))
            return i;
    return size;
}

/* The next line for inih: the key and the first piece of its value, or a blank and another one. */
static bool give_piece(struct source *src, char *out, int room)
{
    const char *key = src->given ? "" : src->key, *mark = src->given ? " " : "=";
    int used = snprintf(out, (size_t)room, "%s%s", key, mark);
    int spare = room - used - (int)sizeof("\"\"\n");
    if (spare < 1)
        return ini_lines_fail(src, "'%s' is too long for this build of inih; use a shorter key",
                              src->key);
    size_t size = piece_size(src, (size_t)spare);
    snprintf(out + used, (size_t)(room - used), "\"%.*s\"\n", (int)size, src->value);
    src->value += size;
    src->given = true;
    return true;
}

static bool take_pair(struct source *src, const char *start, const char *end, char *out, int room)
{
    const char *equals = memchr(start, '=', (size_t)(end - start));
    if (!equals) {
        char *shown = excerpt(start, end);
        ini_lines_fail(
            src, "'%s' is neither a [section] nor key = value; a value ends with its line", shown);
        free(shown);
        return false;
    }
    const char *key = start, *key_end = equals, *value = equals + 1;
    trim(&key, &key_end);
    trim(&value, &end);
    if (!check_key(src, key, key_end))
        return false;
    snprintf(src->key, sizeof(src->key), "%.*s", (int)(key_end - key), key);
    if (end - value > INI_LINES_MAX_VALUE)
        return ini_lines_fail(src, "the value of '%s' has %zu bytes; at most %d are allowed",
                              src->key, (size_t)(end - value), INI_LINES_MAX_VALUE);
    buf_clear(&src->text);
    src->value = value;
    src->value_end = end;
    return give_piece(src, out, room);
}

/* The next line that is neither blank nor a comment; false at the end of the file and on errors. */
static bool next_line(struct source *src, char *out, int room)
{
    while (src->at < src->end) {
        const char *start = src->at;
        const char *newline = memchr(start, '\n', (size_t)(src->end - start));
        const char *end = newline ? newline : src->end;
        src->at = newline ? newline + 1 : src->end;
        src->line++;
        if (end > start && end[-1] == '\r')
            end--;
        if (!check_bytes(src, start, end))
            return false;
        trim(&start, &end);
        if (start == end || begins_comment(start))
            continue;
        return *start == '[' ? take_heading(src, start, end, out, room)
                             : take_pair(src, start, end, out, room);
    }
    return false;
}

static char *on_read(char *out, int room, void *stream)
{
    struct source *src = stream;
    if (src->result)
        return NULL;
    if (src->value < src->value_end)
        return give_piece(src, out, room) ? out : NULL;
    if (src->given) {
        ini_lines_fail(src, "inih has not passed on all of '%s'; use another build of the library",
                       src->key);
        return NULL;
    }
    return next_line(src, out, room) ? out : NULL;
}

/* name: the key, of which inih repeats only the beginning with a continuation line. */
static int on_pair(void *user, const char *section, const char *name, const char *value)
{
    struct source *src = user;
    size_t size = strlen(value);
    if (src->result || size < 2 || strncmp(src->key, name, strlen(name)) != 0)
        return 0;
    if (!*section)
        return ini_lines_fail(src, "'%s' stands before the first [section]; put it into one",
                              src->key);
    buf_append(&src->text, value + 1, size - 2);
    if (src->value < src->value_end)
        return 1;
    src->given = false;
    return src->events->value(src->events->ctx, src->key, src->text.data, src->line) ||
           ini_lines_stop(src);
}

int ini_lines_read(const char *name, const char *data, size_t size,
                   const struct ini_lines_events *events, struct err *err)
{
    struct source src = {.name = name, .at = data, .end = data + size, .text = BUF_INIT};
    BUG_UNLESS(events->section && events->value);
    src.events = events;
    src.err = err;
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        src.at += 3;
    int wrong = ini_parse_stream(on_read, &src, on_pair, &src);
    if (wrong && !src.result)
        ini_lines_fail(&src, "inih does not take its line %d; use another build of the library",
                       wrong);
    buf_fini(&src.text);
    return src.result;
}
