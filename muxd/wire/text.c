/* text.c: owns every line of the model text around a program's output, and which part of the output
 * stays. */
#include "wire/text.h"
#include "base/bug.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <string.h>

enum { TOKEN_BYTES = 4 };

#define ELLIPSIS "\xE2\x80\xA6"

uint64_t text_tokens(uint64_t bytes)
{
    return bytes / TOKEN_BYTES + (bytes % TOKEN_BYTES != 0);
}

size_t text_token_budget(uint64_t tokens)
{
    return tokens > SIZE_MAX / TOKEN_BYTES ? SIZE_MAX : (size_t)tokens * TOKEN_BYTES;
}

size_t text_lines(const char *text, size_t len)
{
    size_t lines = 0;
    for (size_t at = 0; at < len; lines++) {
        const char *newline = memchr(text + at, '\n', len - at);
        at = newline ? (size_t)(newline - text) + 1 : len;
    }
    return lines;
}

/* Doesn't count removed_chars, which takes a millisecond for a megabyte. */
static struct text_split find_split(const char *text, size_t len, size_t begin_bytes,
                                    size_t end_bytes)
{
    size_t head = utf8_cut(text, len, begin_bytes);
    size_t tail = end_bytes < len ? len - end_bytes : 0;
    if (tail < head)
        tail = head;
    while (!utf8_is_boundary(text, len, tail))
        tail++;
    BUG_UNLESS(head <= tail && tail <= len);
    return (struct text_split){.head_len = head, .tail_at = tail};
}

struct text_split text_split(const char *text, size_t len, size_t begin_bytes, size_t end_bytes)
{
    struct text_split split = find_split(text, len, begin_bytes, end_bytes);
    split.removed_chars = utf8_count(text + split.head_len, split.tail_at - split.head_len);
    return split;
}

/* All or nothing: cuts out to its old length when the parts appended since didn't fit. */
static bool text_settle(struct buf *out, size_t before, bool fits)
{
    if (!fits)
        buf_truncate(out, before);
    return fits;
}

static bool append_marker(struct buf *out, uint64_t removed, bool tokens)
{
    return buf_printf(out, ELLIPSIS "%" PRIu64 " %s truncated" ELLIPSIS, removed,
                      tokens ? "tokens" : "chars");
}

/* text is longer than budget_bytes. */
static bool append_cut(struct buf *out, const char *text, size_t len, size_t budget_bytes,
                       bool tokens)
{
    BUG_UNLESS(len > budget_bytes);
    size_t left = budget_bytes / 2;
    struct text_split split = find_split(text, len, left, budget_bytes - left);
    uint64_t removed = tokens ? text_tokens(len - budget_bytes)
                              : utf8_count(text + split.head_len, split.tail_at - split.head_len);
    return buf_append(out, text, split.head_len) && append_marker(out, removed, tokens) &&
           buf_append(out, text + split.tail_at, len - split.tail_at);
}

bool text_truncate_middle(struct buf *out, const char *text, size_t len, size_t budget_bytes,
                          bool tokens)
{
    size_t before = out->len;
    bool fits = len <= budget_bytes ? buf_append(out, text, len)
                                    : append_cut(out, text, len, budget_bytes, tokens);
    return text_settle(out, before, fits);
}

static bool append_warning(struct buf *out, uint64_t original_bytes)
{
    return buf_printf(out, "Warning: truncated output (original token count: %" PRIu64 ")\n",
                      text_tokens(original_bytes));
}

bool text_formatted(struct buf *out, const char *text, size_t len, size_t budget_bytes, bool tokens)
{
    if (len <= budget_bytes)
        return buf_append(out, text, len);
    size_t before = out->len;
    bool fits = append_warning(out, len) &&
                buf_printf(out, "Total output lines: %zu\n\n", text_lines(text, len)) &&
                append_cut(out, text, len, budget_bytes, tokens);
    return text_settle(out, before, fits);
}

static bool append_omitted(struct buf *out, uint64_t omitted_bytes)
{
    return buf_printf(out, "... %" PRIu64 " bytes omitted ...", omitted_bytes);
}

bool text_join(struct buf *out, const char *head, size_t head_len, const char *tail,
               size_t tail_len, uint64_t omitted_bytes)
{
    size_t before = out->len;
    bool fits = buf_append(out, head, head_len);
    if (omitted_bytes > 0)
        fits = fits && buf_append_byte(out, '\n') && append_omitted(out, omitted_bytes) &&
               buf_append_byte(out, '\n');
    return text_settle(out, before, fits && buf_append(out, tail, tail_len));
}

static bool text_has(const char *text, size_t len, const struct buf *line)
{
    return len > 0 && memmem(text, len, line->data, line->len) != NULL;
}

static bool append_line(struct buf *out, const struct buf *line)
{
    return buf_append(out, line->data, line->len) && buf_append_byte(out, '\n');
}

/* text is longer than budget_bytes. Truncation may cut the line of omitted bytes in two, so the
 * line is looked for in the cut text. */
static bool append_omitted_cut(struct buf *out, const char *text, size_t len,
                               uint64_t original_bytes, size_t budget_bytes, bool tokens,
                               const struct buf *line)
{
    struct buf cut = BUF_INIT;
    append_cut(&cut, text, len, budget_bytes, tokens);
    bool fits = append_warning(out, original_bytes) &&
                (text_has(cut.data, cut.len, line) || append_line(out, line)) &&
                buf_append_byte(out, '\n') && buf_append(out, cut.data, cut.len);
    buf_fini(&cut);
    return fits;
}

bool text_formatted_omitted(struct buf *out, const char *text, size_t len, uint64_t omitted_bytes,
                            uint64_t original_bytes, size_t budget_bytes, bool tokens)
{
    if (omitted_bytes == 0)
        return text_formatted(out, text, len, budget_bytes, tokens);
    size_t before = out->len;
    struct buf line = BUF_INIT;
    append_omitted(&line, omitted_bytes);
    bool fits;
    if (len > budget_bytes)
        fits = append_omitted_cut(out, text, len, original_bytes, budget_bytes, tokens, &line);
    else
        fits = (text_has(text, len, &line) || append_line(out, &line)) &&
               buf_append(out, text, len);
    buf_fini(&line);
    return text_settle(out, before, fits);
}

static uint64_t wall_tenths_ms(int64_t wall_ns)
{
    return ((uint64_t)wall_ns + 50000) / 100000;
}

double text_wall_seconds(int64_t wall_ns)
{
    return (double)wall_tenths_ms(wall_ns) / 10000;
}

static bool append_facts(struct buf *out, const struct text_answer *answer)
{
    BUG_UNLESS(answer->wall_ns >= 0 && (answer->output || answer->output_len == 0));
    uint64_t tenths_ms = wall_tenths_ms(answer->wall_ns);
    return (!answer->chunk_id || buf_printf(out, "Chunk ID: %s\n", answer->chunk_id)) &&
           buf_printf(out, "Wall time: %" PRIu64 ".%04" PRIu64 " seconds\n", tenths_ms / 10000,
                      tenths_ms % 10000) &&
           (!answer->has_exit_code ||
            buf_printf(out, "Process exited with code %d\n", answer->exit_code)) &&
           (!answer->has_session ||
            buf_printf(out, "Process running with session ID %" PRId64 "\n", answer->session_id)) &&
           (!answer->has_original || buf_printf(out, "Original token count: %" PRIu64 "\n",
                                                text_tokens(answer->original_bytes)));
}

bool text_answer(struct buf *out, const struct text_answer *answer)
{
    size_t before = out->len;
    bool fits = append_facts(out, answer) && buf_append_text(out, "Output:\n") &&
                text_formatted_omitted(out, answer->output, answer->output_len,
                                       answer->omitted_bytes, answer->original_bytes,
                                       text_token_budget(answer->max_tokens), true);
    return text_settle(out, before, fits);
}

static bool append_short_seconds(struct buf *out, int64_t wall_ns)
{
    BUG_UNLESS(wall_ns >= 0);
    uint64_t tenths = ((uint64_t)wall_ns + 50000000) / 100000000;
    if (tenths % 10 == 0)
        return buf_printf(out, "Wall time: %" PRIu64 " seconds\n", tenths / 10);
    return buf_printf(out, "Wall time: %" PRIu64 ".%" PRIu64 " seconds\n", tenths / 10,
                      tenths % 10);
}

bool text_oneshot(struct buf *out, const struct text_oneshot *answer)
{
    size_t before = out->len;
    struct buf body = BUF_INIT;
    text_truncate_middle(&body, answer->output, answer->output_len, answer->budget_bytes,
                         answer->tokens);
    size_t lines = text_lines(answer->output, answer->output_len);
    bool fits = buf_printf(out, "Exit code: %d\n", answer->exit_code) &&
                append_short_seconds(out, answer->wall_ns);
    if (lines != text_lines(body.data, body.len))
        fits = fits && buf_printf(out, "Total output lines: %zu\n", lines);
    fits = fits && buf_append_text(out, "Output:\n") && buf_append(out, body.data, body.len);
    buf_fini(&body);
    return text_settle(out, before, fits);
}

size_t text_clamp_lines(struct buf *out, const char *text, size_t len, size_t max_line)
{
    size_t cut = 0;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t line = end ? (size_t)(end - text) - at : len - at;
        struct text_split split = text_split(text + at, line, max_line, 0);
        if (line <= max_line) {
            buf_append(out, text + at, line);
        } else {
            buf_append(out, text + at, split.head_len);
            append_marker(out, split.removed_chars, false);
            cut++;
        }
        at += line;
        if (end) {
            buf_append_byte(out, '\n');
            at++;
        }
    }
    return cut;
}
