/* text: the text that a model reads: answers of the shell tools, and output cut to its budget. Line
 * order, header texts and markers are what models trained on the Codex shell tools expect
 * (CODEX.md, sections 5, 6 and 13).
 *
 * All input is well-formed UTF-8 (utf8_append_lossy made it so). Budgets and lengths are bytes.
 * Every function that appends returns false, and leaves out as it was, when out would go over
 * its max. */
#ifndef MUXD_WIRE_TEXT_H
#define MUXD_WIRE_TEXT_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A token is estimated as four bytes. */
uint64_t text_tokens(uint64_t bytes);      /* rounded up */
size_t text_token_budget(uint64_t tokens); /* bytes, at most SIZE_MAX */
/* Lines end with '\n'; a newline at the very end doesn't begin another line. */
size_t text_lines(const char *text, size_t len);

/* What truncation in the middle keeps: the characters that end within the first begin_bytes, and
 * those that begin within the last end_bytes and are not in the head already. */
struct text_split {
    size_t head_len;      /* text[0, head_len) stays */
    size_t tail_at;       /* text[tail_at, len) stays */
    size_t removed_chars; /* characters between the two */
};
struct text_split text_split(const char *text, size_t len, size_t begin_bytes, size_t end_bytes);

/* Appends text, cut in the middle when it is longer than budget_bytes. The marker
 * ("…N tokens truncated…", "…N chars truncated…") comes on top of the budget; it counts
 * tokens (rounded up, of the bytes over budget) or characters. With a budget of 0 there is only the
 * marker. */
bool text_truncate_middle(struct buf *out, const char *text, size_t len, size_t budget_bytes,
                          bool tokens);
/* The same; when text is cut, two header lines and an empty line stand before it (6.1). */
bool text_formatted(struct buf *out, const char *text, size_t len, size_t budget_bytes,
                    bool tokens);

/* Appends text. A line of more than max_line bytes is cut behind these, and a marker counts the
 * characters left out. Returns how many lines were cut. */
size_t text_clamp_lines(struct buf *out, const char *text, size_t len, size_t max_line);

/* Appends head and tail, which are raw bytes; the caller decodes the result afterwards. When
 * omitted_bytes isn't 0, a line between them stands for the bytes that were not kept:
 * "... N bytes omitted ..." (section 7). */
bool text_join(struct buf *out, const char *head, size_t head_len, const char *tail,
               size_t tail_len, uint64_t omitted_bytes);
/* text_formatted for text with such a gap (5.2). The line of omitted bytes is added where it was
 * cut out or missing, and the warning counts original_bytes, which include the omitted ones. */
bool text_formatted_omitted(struct buf *out, const char *text, size_t len, uint64_t omitted_bytes,
                            uint64_t original_bytes, size_t budget_bytes, bool tokens);

/* One answer of exec_command, write_stdin and the like. All pointers are borrowed for the call. */
struct text_answer {
    const char *chunk_id; /* six hex digits; NULL: no such line (an intercepted patch) */
    int64_t wall_ns;      /* printed in seconds with four decimals */
    bool has_exit_code;   /* the command has ended and its status is known */
    int exit_code;
    bool has_session; /* it still runs */
    int64_t session_id;
    bool has_original;       /* false: no line with the token count (an intercepted patch) */
    uint64_t original_bytes; /* printed during the call, including the omitted ones */
    uint64_t omitted_bytes;  /* not kept; output should have the line of text_join */
    const char *output;      /* may be NULL when output_len is 0 */
    size_t output_len;
    uint64_t max_tokens; /* budget of output; the lines above it don't count */
};
/* The lines of 5.1 in order, always "Output:" and its newline, and the output within its budget. */
bool text_answer(struct buf *out, const struct text_answer *answer);
double text_wall_seconds(int64_t wall_ns); /* for wall_time_seconds: the number of that text */

/* One answer of shell_command (section 13). */
struct text_oneshot {
    int exit_code;
    /* printed in seconds, rounded to one decimal; whole seconds without it */
    int64_t wall_ns;
    const char *output;
    size_t output_len;
    size_t budget_bytes;
    bool tokens;
};
bool text_oneshot(struct buf *out, const struct text_oneshot *answer);
#endif
