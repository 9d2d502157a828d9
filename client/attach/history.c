/* history: owns the copy of a session's lines, and the search in it. */
#include "client/attach/history.h"
#include "base/bug.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

void history_init(struct history *history, const char *drawing, size_t size)
{
    *history = (struct history){.text = xmalloc(size + 1), .size = size};
    memcpy(history->text, drawing, size);
    history->text[size] = '\0';
    for (const char *at = history->text;
         (at = memchr(at, '\n', size - (size_t)(at - history->text))); at++)
        history->count++;
    history->count += size == 0 || drawing[size - 1] != '\n';
    history->starts = xreallocarray(NULL, history->count + 1, sizeof *history->starts);
    size_t at = 0;
    for (size_t i = 0; i < history->count; i++) {
        const char *end = memchr(history->text + at, '\n', size - at);
        history->starts[i] = at;
        at = end ? (size_t)(end - history->text) + 1 : size + 1;
    }
    BUG_UNLESS(at == size + (size == 0 || drawing[size - 1] != '\n'));
    history->starts[history->count] = at;
}

void history_fini(struct history *history)
{
    free(history->text);
    free(history->starts);
    *history = (struct history){0};
}

static const char *history_line_of(const struct history *history, size_t line, size_t *size)
{
    BUG_UNLESS(line < history->count);
    *size = history->starts[line + 1] - history->starts[line] - 1; /* without its newline */
    return history->text + history->starts[line];
}

/* The size of the colour sequence at `at`; 0: there is a character. The daemon writes no sequences
 * but CSI … m. */
static size_t colours_at(const char *data, size_t size, size_t at)
{
    if (data[at] != 033)
        return 0;
    const char *end = memchr(data + at, 'm', size - at);
    return end ? (size_t)(end - data) + 1 - at : size - at;
}

void history_plain(const struct history *history, size_t line, struct buf *out)
{
    size_t size, skip;
    const char *data = history_line_of(history, line, &size);
    for (size_t at = 0; at < size; at += skip ? skip : 1)
        if ((skip = colours_at(data, size, at)) == 0)
            buf_append_byte(out, data[at]);
}

static char history_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

long history_match(const char *plain, size_t size, const char *words, size_t from)
{
    size_t length = strlen(words);
    bool exact = false;
    for (const char *at = words; *at; at++)
        exact |= *at >= 'A' && *at <= 'Z';
    for (; length > 0 && from + length <= size; from++) {
        size_t same = 0;
        while (same < length &&
               (exact ? plain[from + same] : history_lower(plain[from + same])) == words[same])
            same++;
        if (same == length)
            return (long)from;
    }
    return -1;
}

long history_find(const struct history *history, size_t from, const char *words, bool up)
{
    struct buf plain = BUF_INIT;
    long found = -1;
    BUG_UNLESS(from < history->count);
    for (size_t i = 1; i <= history->count && found < 0; i++) {
        size_t line = (up ? from + history->count - i : from + i) % history->count;
        buf_clear(&plain);
        history_plain(history, line, &plain);
        if (plain.len > 0 && history_match(plain.data, plain.len, words, 0) >= 0)
            found = (long)line;
    }
    buf_fini(&plain);
    return found;
}

struct cursor { /* in the line that is being drawn */
    struct buf plain;
    size_t at;     /* in plain */
    long from, to; /* the match at or behind `at`; from -1: none */
    const char *words;
    bool chosen, reverse;
};

static void next_match(struct cursor *cursor)
{
    bool wanted = cursor->words && cursor->plain.len > 0;
    cursor->from = wanted ? history_match(cursor->plain.data, cursor->plain.len, cursor->words,
                                          cursor->at)
                          : -1;
    cursor->to = cursor->from < 0 ? -1 : cursor->from + (long)strlen(cursor->words);
}

/* Sets reverse for a match or a chosen line (a match in a chosen line is not reversed), again after
 * each colour sequence. */
static void mark(struct cursor *cursor, bool coloured, struct buf *out)
{
    if (cursor->from >= 0 && (long)cursor->at >= cursor->to)
        next_match(cursor);
    bool matched = cursor->from >= 0 && (long)cursor->at >= cursor->from,
         reverse = matched != cursor->chosen;
    if (reverse != cursor->reverse || (coloured && reverse))
        buf_append_text(out, reverse ? "\033[7m" : "\033[27m");
    cursor->reverse = reverse;
}

/* Draws a character. Returns its size; 0: it goes beyond the last column. */
static size_t draw_rune(const char *data, size_t size, int left, int end, int *col, struct buf *out)
{
    int32_t rune;
    size_t taken = utf8_decode(data, size, &rune);
    bool bad = taken == 0 || rune < ' ' || (rune >= 0x7f && rune < 0xa0);
    int width = bad ? 1 : utf8_width(rune);
    if (*col + width > end)
        return 0;
    if (*col >= left)
        buf_append(out, bad ? " " : data, bad ? 1 : taken);
    *col += width;
    return taken > 0 ? taken : 1;
}

void history_draw(const struct history *history, size_t line, int left, int cols, const char *words,
                  bool chosen, struct buf *out)
{
    size_t size, taken;
    const char *data = history_line_of(history, line, &size);
    struct cursor cursor = {.plain = BUF_INIT, .words = words, .chosen = chosen};
    int col = 0;
    BUG_UNLESS(left >= 0 && cols > 0);
    history_plain(history, line, &cursor.plain);
    next_match(&cursor);
    /* erased first: behind a full line the cursor still stands on its last character */
    buf_append_text(out, chosen ? "\033[0;7m\033[K\033[m" : "\033[m\033[K");
    for (size_t at = 0; at < size; at += taken) {
        if ((taken = colours_at(data, size, at)) > 0) {
            buf_append(out, data + at, taken);
            mark(&cursor, true, out);
            continue;
        }
        mark(&cursor, false, out);
        if ((taken = draw_rune(data + at, size - at, left, left + cols, &col, out)) == 0)
            break;
        cursor.at += taken;
    }
    buf_fini(&cursor.plain);
    buf_append_text(out, "\033[m");
}
