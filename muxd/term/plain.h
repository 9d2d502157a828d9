/* plain: output as a person would read it: a program's bytes in, text out. The text holds no
 * control sequence; carriage returns, backspaces and the movements of line editors have taken
 * effect; lines that a terminal has wrapped are whole again. What was typed is left out where it
 * was echoed. A cleared screen begins below what stood there, so that nothing is lost; the
 * alternate screen shows only while a program is in it. No fd, no clock; output of any kind costs
 * bounded time and memory. */
#ifndef MUXD_TERM_PLAIN_H
#define MUXD_TERM_PLAIN_H
#include "base/buf.h"
#include <stdint.h>

struct plain;

/* rows and cols of the terminal; cols 0: pipes, whose lines have no end and whose line feeds begin
 * at the left. */
struct plain *plain_new(int rows, int cols);
void plain_free(struct plain *plain); /* NULL is fine */
/* Bytes of output. Returns how many of them count: the rest is over the bounds and is left out. */
size_t plain_feed(struct plain *plain, const char *data, size_t size);
/* What was fed so far was read before: the text begins here, or with the whole line when that is
 * written anew. To be called once, before other text. */
void plain_begin(struct plain *plain);
/* This was typed now. Its echo is left out: the lines as they were typed, at the place where the
 * cursor is, further ones directly behind it or behind the same prompt. */
void plain_typed(struct plain *plain, const char *text, size_t size);
/* So many bytes are missing here; a line says so. */
void plain_omitted(struct plain *plain, uint64_t bytes);
/* The text of all that was fed. Nothing can be fed afterwards. */
void plain_take(struct plain *plain, struct buf *out);

/* plain_echo.c: leaves out of text[from, …) what was typed at the places (ascending offsets) and
 * was echoed as it was typed. */
struct plain_echo {
    size_t at;         /* where the cursor was */
    const char *typed; /* borrowed */
    size_t size;
};
void plain_drop_echoes(struct buf *text, size_t from, const struct plain_echo *echoes,
                       size_t count);
#endif
