/* line: owns what a blank is and where lines end. */
#include "patch/line.h"
#include "base/utf8.h"
#include <string.h>

static bool line_is_blank(int32_t rune)
{
    return (rune >= 0x09 && rune <= 0x0D) || rune == ' ' || rune == 0x85 || rune == 0xA0 ||
           rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200A) || rune == 0x2028 ||
           rune == 0x2029 || rune == 0x202F || rune == 0x205F || rune == 0x3000;
}

/* Bytes of the blank at the end of line; 0: it ends with another character. */
static size_t blank_at_end(struct patch_line line)
{
    for (size_t size = 1; size <= 3 && size <= line.len; size++) {
        int32_t rune = -1;
        if (utf8_decode(line.text + line.len - size, size, &rune) == size && rune >= 0)
            return line_is_blank(rune) ? size : 0;
    }
    return 0;
}

struct patch_line patch_line_trim_end(struct patch_line line)
{
    for (size_t size; line.len > 0 && (size = blank_at_end(line)) > 0;)
        line.len -= size;
    return line;
}

struct patch_line patch_line_trim(struct patch_line line)
{
    line = patch_line_trim_end(line);
    while (line.len > 0) {
        int32_t rune = -1;
        size_t size = utf8_decode(line.text, line.len, &rune);
        if (size == 0 || rune < 0 || !line_is_blank(rune))
            break;
        line.text += size;
        line.len -= size;
    }
    return line;
}

bool patch_line_is(struct patch_line line, const char *text)
{
    return line.len == strlen(text) && memcmp(line.text, text, line.len) == 0;
}

bool patch_line_starts(struct patch_line line, const char *prefix, struct patch_line *rest)
{
    size_t size = strlen(prefix);
    if (line.len < size || memcmp(line.text, prefix, size) != 0)
        return false;
    if (rest != NULL)
        *rest = (struct patch_line){line.text + size, line.len - size};
    return true;
}

bool patch_line_next(struct patch_line *text, struct patch_line *line)
{
    if (text->len == 0)
        return false;
    const char *newline = memchr(text->text, '\n', text->len);
    size_t size = newline != NULL ? (size_t)(newline - text->text) : text->len,
           step = newline != NULL ? size + 1 : size;
    *line = (struct patch_line){text->text, size};
    if (newline != NULL && size > 0 && newline[-1] == '\r')
        line->len--;
    text->text += step;
    text->len -= step;
    return true;
}

struct patch_line patch_line_cut(struct patch_line line, size_t max)
{
    line.len = utf8_cut(line.text, line.len, max);
    return line;
}
