/* denial_line.c: owns the reading of messages as programs write them. */
#include "confine/denial_line.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES 1024

bool denial_line_before(struct denial_line *line, const char *output, size_t size)
{
    size_t end = line->text ? (size_t)(line->text - output) : size;
    if (line->text && end == 0)
        return false;
    end -= end > 0 && output[end - 1] == '\n';
    size_t at = end;
    while (at > 0 && output[at - 1] != '\n')
        at--;
    *line = (struct denial_line){output + at, end - at};
    return size > 0;
}

static bool find_from(const struct denial_line *line, const char *word, size_t from, size_t *at)
{
    size_t length = strlen(word);
    for (size_t i = from; i + length <= line->size; i++)
        if (strncasecmp(line->text + i, word, length) == 0) {
            *at = i;
            return true;
        }
    return false;
}

const char *denial_line_has(const struct denial_line *line, const char *const *words, size_t *at)
{
    size_t found;
    for (; *words; words++)
        if (find_from(line, *words, 0, at ? at : &found))
            return *words;
    return NULL;
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("/._-~", c)) || (c & 0x80);
}

const char *denial_line_has_word(const struct denial_line *line, const char *const *words)
{
    for (; *words; words++) {
        size_t at = 0, length = strlen(*words);
        for (size_t from = 0; find_from(line, *words, from, &at); from = at + 1)
            if (!(at > 0 && is_of_name(line->text[at - 1])) &&
                !(at + length < line->size && is_of_name(line->text[at + length])))
                return *words;
    }
    return NULL;
}

static void denial_line_add(struct strv *names, const char *text, size_t size)
{
    char name[NAME_MAX_BYTES];
    while (size > 0 && strchr(" \t\r([<=", *text))
        text++, size--;
    while (size > 0 && strchr(" \t\r:,;)]>", text[size - 1]))
        size--;
    if (size == 0 || size >= sizeof name || memchr(text, '\0', size) || memchr(text, '\x1b', size))
        return;
    memcpy(name, text, size);
    name[size] = '\0';
    strv_add(names, name);
}

/* Size of the mark at text when it opens a quotation, and what closes it. */
static size_t opens(const char *text, size_t left, const char **closing)
{
    static const struct { const char *open, *close; } marks[] = {
        {"'", "'"}, {"\"", "\""}, {"`", "'"}, {"\xe2\x80\x98", "\xe2\x80\x99"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t length = strlen(marks[i].open);
        *closing = marks[i].close;
        if (length <= left && memcmp(text, marks[i].open, length) == 0)
            return length;
    }
    return 0;
}

static void add_quoted(const struct denial_line *line, struct strv *names)
{
    const char *closing, *end;
    for (size_t at = 0; at < line->size; at++) {
        size_t length = opens(line->text + at, line->size - at, &closing);
        if (length == 0 || (at > 0 && isalnum((unsigned char)line->text[at - 1])))
            continue; /* an apostrophe in a word */
        const char *from = line->text + at + length;
        size_t left = line->size - at - length;
        if (!(end = memmem(from, left, closing, strlen(closing))))
            continue;
        denial_line_add(names, from, (size_t)(end - from));
        at = (size_t)(end - line->text) + strlen(closing) - 1;
    }
}

/* "sh: line 1: NAME: Permission denied", "sh: 1: cannot create NAME: Permission denied"; what
 * stands at the beginning is the name of the program that speaks. 0: nothing of that kind. */
static size_t part_before(const struct denial_line *line, size_t error_at, const char **part)
{
    size_t end = error_at, from;
    while (end > 0 && strchr(" :", line->text[end - 1]))
        end--;
    for (from = end; from > 1 && memcmp(line->text + from - 2, ": ", 2) != 0;)
        from--;
    if (end == error_at || from < 2)
        return 0;
    if (strncasecmp(line->text + from, "cannot ", 7) == 0) {
        const char *blank = memrchr(line->text + from, ' ', end - from);
        from = (size_t)(blank + 1 - line->text);
    }
    *part = line->text + from;
    return end - from;
}

static void add_slashed(const struct denial_line *line, struct strv *names)
{
    for (size_t at = 0, end; at < line->size; at = end + 1) {
        for (end = at; end < line->size && !isspace((unsigned char)line->text[end]) &&
                       !iscntrl((unsigned char)line->text[end]);)
            end++;
        bool speaker = at == 0 && end > 0 && line->text[end - 1] == ':';
        if (!speaker && memchr(line->text + at, '/', end - at))
            denial_line_add(names, line->text + at, end - at);
    }
}

void denial_line_names(const struct denial_line *line, size_t error_at, struct strv *names)
{
    const char *part;
    size_t size = part_before(line, error_at, &part);
    add_quoted(line, names);
    if (size > 0 && memchr(part, '/', size))
        denial_line_add(names, part, size);
    add_slashed(line, names);
}

/* "line 12: " stands before it, as shells say of what they were to open. */
static bool follows_number(const struct denial_line *line, size_t from)
{
    static const char word[] = "line ";
    size_t at = from >= 2 ? from - 2 : 0, size = sizeof word - 1;
    while (at > 0 && isdigit((unsigned char)line->text[at - 1]))
        at--;
    return at >= size && at + 2 < from && memcmp(line->text + at - size, word, size) == 0;
}

void denial_line_bare_name(const struct denial_line *line, size_t error_at, struct strv *names)
{
    const char *part;
    size_t size = part_before(line, error_at, &part);
    bool is_errno = size > 1 && part[0] == 'E' && isupper((unsigned char)part[1]);
    /* of several words it is a sentence, but where a shell names a file: "kill: (12) - Operation
     * not permitted" */
    bool is_name = size > 0 && (!memchr(part, ' ', size) ||
                                follows_number(line, (size_t)(part - line->text)));
    if (is_name && !is_errno && !strchr("['\"", *part) && !memchr(part, '/', size))
        denial_line_add(names, part, size);
}
