/* ini_lines: stands between a file and inih. inih gets lines in which nothing has a meaning for it except the first '=':
 * blanks and comment characters of a value travel as control bytes (which the file itself may not contain), long values as
 * continuation lines of at most what inih takes at once, section names as short aliases. What inih can't carry is refused
 * here, with the line's number, so that no setting of the library's build changes what a file means. */
#include "config/ini_lines.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
    const char *name;
    const char *at, *end; /* what is not read yet */
    int line;
    int section;           /* ordinal of the current [section]; 0: none yet */
    const struct ini_lines_events *events;
    struct err *err;
    int result;
    /* The key = value on its way through inih. */
    bool open;
    char key[INI_LINES_MAX_KEY + 1];
    struct buf value;      /* protected */
    size_t handed;         /* bytes of value that inih has got */
    struct buf back;       /* bytes that came back, no longer protected */
};

static const char guarded[] = {' ', '\t', ';', '#'};

static char guard(char byte)
{
    const char *at = memchr(guarded, byte, sizeof(guarded));
    return at ? (char)(at - guarded + 1) : byte;
}

static char unguard(char byte)
{
    return byte >= 1 && byte <= (char)sizeof(guarded) ? guarded[byte - 1] : byte;
}

static bool fail(struct source *src, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct source *src, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    src->result = err_vset(src->err, ERR_CONFIG, format, args);
    va_end(args);
    err_prefix(src->err, "%s:%d", src->name, src->line);
    return false;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static void trim(const char **start, const char **end)
{
    while (*start < *end && is_blank(**start))
        ++*start;
    while (*start < *end && is_blank((*end)[-1]))
        --*end;
}

/* What a person is shown of a line that is wrong. */
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
            return fail(src, "control byte 0x%02x in column %zu; remove it", byte, (size_t)(at - start) + 1);
    }
    if (!utf8_valid(start, (size_t)(end - start)))
        return fail(src, "the line is no valid UTF-8; save the file as UTF-8");
    return true;
}

/* The end of the file and the next heading are when a value is known to be whole. */
static bool close_value(struct source *src)
{
    if (!src->open)
        return true;
    src->open = false;
    if (src->back.len != src->value.len)
        return fail(src, "inih handed back %zu of %zu bytes of '%s'; use another version of the library", src->back.len,
                    src->value.len, src->key);
    if (src->events->value(src->events->ctx, src->key, src->back.data ? src->back.data : "", src->line))
        return true;
    src->result = src->err && src->err->code ? src->err->code : ERR_CONFIG;
    return false;
}

static bool take_heading(struct source *src, const char *start, const char *end)
{
    const char *close = memchr(start, ']', (size_t)(end - start));
    if (!close)
        return fail(src, "a section's ']' is missing; write [name] on a line of its own");
    const char *rest = close + 1, *rest_end = end, *name = start + 1;
    trim(&rest, &rest_end);
    if (rest < rest_end && *rest != ';' && *rest != '#')
        return fail(src, "text behind a section's ']'; put it on a line of its own");
    trim(&name, &close);
    if (name == close)
        return fail(src, "a section without a name; write [name]");
    if (close - name > INI_LINES_MAX_NAME)
        return fail(src, "the section's name has %zu bytes; at most %d are allowed", (size_t)(close - name), INI_LINES_MAX_NAME);
    src->section++;
    char *text = xstrndup(name, (size_t)(close - name));
    bool ok = src->events->section(src->events->ctx, text, src->line);
    free(text);
    if (!ok)
        src->result = src->err && src->err->code ? src->err->code : ERR_CONFIG;
    return ok;
}

static bool is_key_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' ||
           byte == '-' || byte == '.';
}

static bool check_key(struct source *src, const char *key, const char *end)
{
    size_t len = (size_t)(end - key);
    if (len == 0)
        return fail(src, "nothing in front of '='; write key = value");
    if (len > INI_LINES_MAX_KEY)
        return fail(src, "the key has %zu bytes; at most %d are allowed", len, INI_LINES_MAX_KEY);
    for (const char *at = key; at < end; at++)
        if (!is_key_byte(*at)) {
            char *shown = excerpt(key, end);
            fail(src, "'%s' is no key; a key has letters, digits, '_', '-' and '.' only, and a value ends with its line", shown);
            free(shown);
            return false;
        }
    return true;
}

static bool take_pair(struct source *src, const char *start, const char *end)
{
    const char *equals = memchr(start, '=', (size_t)(end - start));
    if (!equals) {
        char *shown = excerpt(start, end);
        fail(src, "'%s' is neither a [section] nor key = value; a value ends with its line", shown);
        free(shown);
        return false;
    }
    const char *key = start, *key_end = equals, *value = equals + 1;
    trim(&key, &key_end);
    trim(&value, &end);
    if (!check_key(src, key, key_end))
        return false;
    if (src->section == 0)
        return fail(src, "'%.*s' stands before the first [section]; put it into one", (int)(key_end - key), key);
    if (end - value > INI_LINES_MAX_VALUE)
        return fail(src, "the value of '%.*s' has %zu bytes; at most %d are allowed", (int)(key_end - key), key,
                    (size_t)(end - value), INI_LINES_MAX_VALUE);
    memcpy(src->key, key, (size_t)(key_end - key));
    src->key[key_end - key] = '\0';
    buf_clear(&src->value);
    buf_clear(&src->back);
    for (; value < end; value++)
        buf_append_byte(&src->value, guard(*value));
    src->handed = 0;
    src->open = true;
    return true;
}

/* Finds the next line that inih must see; false at the end and on errors. */
static bool next_line(struct source *src, bool *heading)
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
        if (start == end || *start == ';' || *start == '#')
            continue;
        *heading = *start == '[';
        return *heading ? take_heading(src, start, end) : take_pair(src, start, end);
    }
    return false;
}

/* Writes the next part of the open value: its first with the key, the others behind a blank, which inih folds. */
static char *hand_part(struct source *src, char *out, int room)
{
    int used = src->handed == 0 ? snprintf(out, (size_t)room, "%s=", src->key) : snprintf(out, (size_t)room, " ");
    int space = room - used - 2; /* newline and NUL */
    if (space < 1) {
        fail(src, "'%s' is too long for this build of inih; use a shorter key", src->key);
        return NULL;
    }
    size_t part = src->value.len - src->handed;
    if (part > (size_t)space)
        part = (size_t)space;
    if (part > 0)
        memcpy(out + used, src->value.data + src->handed, part);
    memcpy(out + used + (int)part, "\n", 2);
    src->handed += part;
    return out;
}

static char *on_read(char *out, int room, void *stream)
{
    struct source *src = stream;
    bool heading = false;
    if (src->result)
        return NULL;
    if (src->open && src->handed < src->value.len)
        return hand_part(src, out, room);
    if (!close_value(src) || !next_line(src, &heading))
        return NULL;
    if (!heading)
        return hand_part(src, out, room);
    snprintf(out, (size_t)room, "[s%d]\n", src->section);
    return out;
}

static int on_pair(void *user, const char *section, const char *name, const char *value)
{
    struct source *src = user;
    char alias[16];
    snprintf(alias, sizeof(alias), "s%d", src->section);
    /* Of a continuation inih repeats only the beginning of the name. */
    if (!src->open || strcmp(section, alias) != 0 || !value || !*name || strncmp(src->key, name, strlen(name)) != 0)
        return 0;
    for (; *value; value++)
        buf_append_byte(&src->back, unguard(*value));
    return 1;
}

int ini_lines_read(const char *name, const char *data, size_t size, const struct ini_lines_events *events, struct err *err)
{
    struct source src = {.name = name, .at = data, .end = data + size, .events = events, .err = err, .value = BUF_INIT, .back = BUF_INIT};
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        src.at += 3;
    int wrong = ini_parse_stream(on_read, &src, on_pair, &src);
    if (!src.result && close_value(&src) && wrong)
        fail(&src, "inih does not understand its %d. line; use another version of the library", wrong);
    buf_fini(&src.value);
    buf_fini(&src.back);
    return src.result;
}
