/* utf8: bytes to text. Replacement follows the Unicode recommendation that Rust's lossy decoding
 * uses too: each maximal ill-formed subpart becomes one U+FFFD (Unicode 15, section 3.9, table
 * 3-8). */
#ifndef MUXD_BASE_UTF8_H
#define MUXD_BASE_UTF8_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character at data (size > 0). Returns the bytes it takes; *rune is the code point, or
 * -1 when they are an ill-formed subpart (the returned length is the subpart's). An incomplete but
 * so far valid sequence at the end: 0. */
size_t utf8_decode(const char *data, size_t size, int32_t *rune);
bool utf8_valid(const char *data, size_t size);
size_t utf8_ascii_run(const char *data, size_t size); /* bytes below 80 at the front */
/* Bytes at the end of data that begin a character which more bytes could complete: 0 to 3. */
size_t utf8_incomplete_tail(const char *data, size_t size);
/* Appends data with every ill-formed subpart replaced; false when out goes over its max. */
bool utf8_append_lossy(struct buf *out, const char *data, size_t size);
/* bytes written; 0 for a surrogate or beyond U+10FFFF */
size_t utf8_encode(int32_t rune, char out[4]);
/* false, and nothing appended: no character, or out would go over its max */
bool utf8_append_rune(struct buf *out, int32_t rune);
/* at == 0, at >= size or no continuation byte there */
bool utf8_is_boundary(const char *data, size_t size, size_t at);
size_t utf8_count(const char *data, size_t size);                  /* characters that begin there */
/* the length of the longest part of data that fits into max bytes and ends at a boundary */
size_t utf8_cut(const char *data, size_t size, size_t max);
/* Appends data for a person's terminal or a log: C0, DEL, C1, ill-formed bytes and the characters
 * that reorder or break a line (U+202A to 202E, U+2066 to 2069, U+2028, U+2029) as \xNN for each
 * byte. Newline and tab stay as they are when keep_newlines, else they are escaped too (one line,
 * one column). Ends early, at a whole character, when out is at its max. */
void utf8_append_escaped(struct buf *out, const char *data, size_t size, bool keep_newlines);
/* True for what a terminal obeys, or lets reorder or break a line: C0, DEL, C1, U+202A to 202E,
 * U+2066 to 2069, U+2028, U+2029. */
bool utf8_is_obeyed(int32_t rune);
int utf8_width(int32_t rune); /* terminal columns: 0, 1 or 2; independent of the locale */
#endif
