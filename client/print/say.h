/* say: bytes for people and pipes: standard output exact, standard error escaped. */
#ifndef MUXD_CLIENT_SAY_H
#define MUXD_CLIENT_SAY_H
#include "base/buf.h"
#include "base/err.h"
#include "wire/json.h"
#include <stdbool.h>

/* Writes all of it to standard output. When the reader has gone, ue exits silently (141); after any
 * other failure it says why and exits (125). */
void say_out(const void *data, size_t size);
/* Exits like say_out, for a caller whose own write has failed: errno says why. */
void say_lost(void) __attribute__((__noreturn__));
/* The same to standard error, for the bytes that a program wrote there (--raw). */
void say_stderr_bytes(const void *data, size_t size);
void say_buf(struct buf *buf); /* to standard output; finishes buf */
/* In one line; on a terminal nothing in it is obeyed by the terminal (utf8_is_obeyed). */
void say_json(const struct json *value);
void say_append_json(struct buf *out, const struct json *value); /* the same into out */
/* Text that a program may have written: exact in a pipe; on a terminal escaped, "\r\n" as "\n", and
 * a newline at its end. */
void say_text(const char *text, size_t len);
/* "ue: TEXT" on standard error, escaped. */
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "TEXT" on standard error, escaped, in one line. */
void say_aside(const char *text, size_t len);
/* "ue: SUBJECT: …": the quoted subject that the text begins with, else the verb (may be NULL). */
void say_err(const char *verb, const struct err *err);
bool say_is_tty(int fd);
/* Appends what say_text writes on a terminal. */
void say_for_terminal(struct buf *out, const char *text, size_t len);
#endif
