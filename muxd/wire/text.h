/* text: the words a model reads: answers of the shell tools and what remains of output that is over
 * its budget. Line order, header texts and markers are what models trained on the Codex shell tools
 * expect (CODEX.md, sections 5, 6 and 13).
 *
 * All text that comes in is well-formed UTF-8 (utf8_append_lossy made it so). Budgets and lengths
 * are bytes. Every function that appends returns false, and leaves out as it was, when out would go
 * over its max. */
#ifndef MUXD_WIRE_TEXT_H
#define MUXD_WIRE_TEXT_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A token is estimated as four bytes. */
uint64_t text_tokens(uint64_t bytes);      /* rounded up */
size_t text_token_budget(uint64_t tokens); /* bytes; SIZE_MAX when there are more than fit */
/* Lines as a line iterator counts them: ended by '\n'; a newline at the very end doesn't begin
 * another line. */
size_t text_lines(const char *text, size_t len);

/* What middle truncation keeps: the leading characters that end within begin_bytes, and those that
 * begin within the last end_bytes and are not in the head already. */
struct text_split {
    size_t head_len;      /* text[0, head_len) stays */
    size_t tail_at;       /* text[tail_at, len) stays */
    size_t removed_chars; /* characters between the two */
};
struct text_split text_split(const char *text, size_t len, size_t begin_bytes, size_t end_bytes);

/* Appends text, cut in the middle when it is longer than budget_bytes. The marker
 * ("…N tokens truncated…", "…N chars truncated…"), which counts tokens (rounded up, of the
 * bytes over budget) or characters, comes on top of the budget. A budget of 0 leaves the marker
 * only. */
bool text_truncate_middle(struct buf *out, const char *text, size_t len, size_t budget_bytes,
                          bool tokens);
/* The same, and when something is cut the two header lines and an empty line before it (6.1). */
bool text_formatted(struct buf *out, const char *text, size_t len, size_t budget_bytes,
                    bool tokens);

/* Appends text with each line of more than max_line bytes cut behind its first max_line, with a
 * marker that counts the characters left out. Returns how many lines were cut. */
size_t text_clamp_lines(struct buf *out, const char *text, size_t len, size_t max_line);

/* head and tail as raw bytes, and when omitted_bytes isn't 0 a line between them that stands for
 * what collection didn't keep: "... N bytes omitted ..." (section 7). The result is decoded
 * afterwards. */
bool text_join(struct buf *out, const char *head, size_t head_len, const char *tail,
               size_t tail_len, uint64_t omitted_bytes);
/* text_formatted for text with such a gap (5.2): the line of omitted bytes is told even when it was
 * cut out or never was there, and original_bytes, those lost in collection counted too, is what the
 * warning names. */
bool text_formatted_omitted(struct buf *out, const char *text, size_t len, uint64_t omitted_bytes,
                            uint64_t original_bytes, size_t budget_bytes, bool tokens);

/* One answer of exec_command, write_stdin and their like. All pointers are borrowed for the
 * call. */
struct text_answer {
    const char *chunk_id;      /* six hex digits; NULL: no such line (an intercepted patch) */
    int64_t wall_ns;           /* printed in seconds with four decimals */
    bool has_exit_code;        /* the command has ended and its status is known */
    int exit_code;
    bool has_session;          /* it still runs */
    int64_t session_id;
    bool has_original;         /* false: no token count line (an intercepted patch) */
    uint64_t original_bytes;   /* observed during the call, those lost in collection counted too */
    /* lost in collection; output should then have the line of text_join */
    uint64_t omitted_bytes;
    const char *output;        /* may be NULL when output_len is 0 */
    size_t output_len;
    uint64_t max_tokens;       /* budget of output; the lines above it don't count */
};
/* The lines of 5.1 in order, "Output:" and its newline always, and the output within its budget. */
bool text_answer(struct buf *out, const struct text_answer *answer);

/* One answer of shell_command (section 13). */
struct text_oneshot {
    int exit_code;
    /* printed in seconds, rounded to one decimal, "0" and "2" without it */
    int64_t wall_ns;
    const char *output;
    size_t output_len;
    size_t budget_bytes;
    bool tokens;
};
bool text_oneshot(struct buf *out, const struct text_oneshot *answer);
#endif
