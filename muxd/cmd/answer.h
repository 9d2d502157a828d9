/* answer: the answers of calls that return output. */
#ifndef MUXD_CMD_ANSWER_H
#define MUXD_CMD_ANSWER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWER_COLLECTED_MAX (1u << 20) /* bytes of output in one answer (CODEX.md 3) */

struct buf;
struct json;
struct op;
struct session;
struct wait_result;
/* The JSON object of an answer (contract, section 5). *to: where its output ends, and the
 * reader's place once it is delivered. */
struct json *answer_build(struct op *op, struct session *session, const struct wait_result *result,
                          uint64_t *to);
struct answer_bytes;
/* answer_plain.c: the bytes as a person would read them, without the echo of what was typed, as far
 * as the input log knows it, or the op itself. */
void answer_plain(const struct op *op, struct session *session, const struct answer_bytes *bytes,
                  struct buf *out);
/* How far an answer can go: while more output may come, an incomplete character at its end is
 * left to the next answer. */
uint64_t answer_end(struct session *session, uint64_t from);

struct answer_bytes { /* the raw bytes that a text was made of (utf8_append_lossy, text_join) */
    const char *raw;
    size_t size;
    uint64_t from;          /* absolute offset of the first */
    uint64_t omitted;       /* bytes missing at gap_at */
    size_t gap_at;          /* SIZE_MAX: there is no gap */
};
/* The absolute offsets of what a text of that size loses to the budget, including the gap.
 * False: it loses nothing. */
bool answer_cut(const struct answer_bytes *bytes, size_t text_size, size_t budget, uint64_t *from,
                uint64_t *to);
#endif
