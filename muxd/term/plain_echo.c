/* plain_echo: finds in a text the lines that were typed, where a terminal or a line editor has
 * repeated them. */
#include "base/bug.h"
#include "term/plain.h"
#include <string.h>

#define PASTE_BEGIN "\033[200~"
#define PASTE_END "\033[201~"
#define PROMPT_MAX 16 /* bytes of a prompt that goes on with what was begun, as python's "... " */

struct span {
    const char *data;
    size_t size;
};

static bool span_begins(struct span text, size_t at, struct span with)
{
    return at <= text.size && text.size - at >= with.size &&
           (with.size == 0 || memcmp(text.data + at, with.data, with.size) == 0);
}

static bool span_equal(struct span a, struct span b)
{
    return a.size == b.size && span_begins(a, 0, b);
}

/* What a terminal shows of typed bytes: control characters as ^C, a line end for Enter. False: a
 * key is among them that only its program can show. */
static bool shown_of(const char *typed, size_t size, struct buf *out)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)typed[i];
        if (size - i >= strlen(PASTE_BEGIN) &&
            (memcmp(typed + i, PASTE_BEGIN, strlen(PASTE_BEGIN)) == 0 ||
             memcmp(typed + i, PASTE_END, strlen(PASTE_END)) == 0)) {
            i += strlen(PASTE_BEGIN) - 1;
        } else if (byte == '\r' || byte == '\n') {
            buf_append_byte(out, '\n');
        } else if (byte == 0177 || byte == '\b') { /* takes one character back */
            while (out->len > 0 && ((unsigned char)out->data[out->len - 1] & 0xc0) == 0x80)
                buf_truncate(out, out->len - 1);
            if (out->len > 0 && out->data[out->len - 1] != '\n')
                buf_truncate(out, out->len - 1);
        } else if (byte == 033) {
            return false;
        } else if (byte < ' ' && byte != '\t') {
            buf_append_byte(out, '^');
            buf_append_byte(out, (char)(byte ^ 0100));
        } else {
            buf_append_byte(out, (char)byte);
        }
    }
    return true;
}

/* Up to the line end at or behind `at`. */
static size_t line_end(struct span text, size_t at)
{
    const char *end = at < text.size ? memchr(text.data + at, '\n', text.size - at) : NULL;
    return end ? (size_t)(end - text.data) : text.size;
}

struct dropping {
    struct span text;
    size_t from, at;      /* at: what comes before is done */
    size_t next;          /* where the line behind the last typed one begins */
    struct buf out;
    struct span prompt;   /* what stands before the first typed line */
    struct span goes_on;  /* what stands before further ones */
};

static void drop_copy(struct dropping *d, size_t to)
{
    BUG_UNLESS(to >= d->at && to <= d->text.size);
    if (to > d->at)
        buf_append(&d->out, d->text.data + d->at, to - d->at);
    d->at = to;
}

/* The first typed line stands where the cursor was. A prompt before it stays with its line end. */
static bool drop_first(struct dropping *d, size_t at, struct span typed, bool ended)
{
    size_t end = at + typed.size, start = at;
    if (!span_begins(d->text, at, typed))
        return false;
    if (ended && end < d->text.size && d->text.data[end] != '\n')
        return false;
    while (start > 0 && d->text.data[start - 1] != '\n')
        start--;
    d->prompt = (struct span){d->text.data + start, at - start};
    bool whole = start == at || at == d->from; /* nothing of the line is shown before it */
    drop_copy(d, at);
    d->at = end;
    bool control = !ended && typed.size > 1 && typed.data[0] == '^';
    d->next = end < d->text.size && d->text.data[end] == '\n' ? end + 1 : end;
    if (whole && (ended || control))
        d->at = d->next;
    return true;
}

/* A line that is a typed one: alone, behind the same prompt, or, directly behind the last one,
 * behind a short prompt that says that the input goes on. */
static bool is_typed_line(struct dropping *d, struct span line, struct span typed, bool directly)
{
    if (line.size < typed.size)
        return false;
    struct span before = {line.data, line.size - typed.size};
    if (!span_equal((struct span){line.data + before.size, typed.size}, typed))
        return false;
    if (before.size == 0)
        return directly && typed.size > 0;
    if (span_equal(before, d->prompt) || (d->goes_on.size && span_equal(before, d->goes_on)))
        return true;
    if (!directly || typed.size == 0 || before.size > PROMPT_MAX || d->prompt.size == 0)
        return false;
    d->goes_on = before;
    return true;
}

static bool drop_further(struct dropping *d, size_t limit, struct span typed)
{
    size_t begin = d->next;
    while (begin < limit) {
        size_t end = line_end(d->text, begin);
        struct span line = {d->text.data + begin, end - begin};
        if (is_typed_line(d, line, typed, begin == d->next)) {
            drop_copy(d, begin);
            d->at = d->next = end < d->text.size ? end + 1 : end;
            return true;
        }
        begin = end + 1;
    }
    return false;
}

/* limit: where the next echo may begin. */
static void drop_echo(struct dropping *d, const struct plain_echo *echo, size_t limit)
{
    struct buf shown = BUF_INIT;
    bool first = true, found = echo->at >= d->at;
    d->goes_on = (struct span){NULL, 0};
    if (!shown_of(echo->typed, echo->size, &shown))
        found = false;
    const struct span typed = {shown.data ? shown.data : "", shown.len};
    for (size_t at = 0; found && at < typed.size; first = false) {
        size_t end = line_end(typed, at);
        bool ended = end < typed.size;
        struct span line = {typed.data + at, end - at};
        found = first ? drop_first(d, echo->at, line, ended)
                      : ended && drop_further(d, limit, line);
        at = end + 1;
    }
    buf_fini(&shown);
}

void plain_drop_echoes(struct buf *text, size_t from, const struct plain_echo *echoes,
                       size_t count)
{
    struct dropping d = {.text = {text->data ? text->data : "", text->len},
                         .from = from,
                         .at = from,
                         .out = BUF_INIT};
    BUG_UNLESS(from <= text->len);
    for (size_t i = 0; i < count; i++) {
        BUG_UNLESS(echoes[i].at <= text->len);
        drop_echo(&d, &echoes[i], i + 1 < count ? echoes[i + 1].at : text->len);
    }
    drop_copy(&d, text->len);
    buf_fini(text);
    *text = d.out;
}
